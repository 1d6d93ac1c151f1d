"""What commands share: errors as messages and exit codes, warnings as lines, JSON on stdout.

Exit codes: 0 done (also after Ctrl-C, if draws could be kept), 1 the fit failed, 2 wrong usage or
input, 130 stopped by Ctrl-C with nothing kept.
"""

import json
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

FAILED, WRONG_INPUT, STOPPED = 1, 2, 130
OPTIONS = {"target": "--target", "drop": "--drop", "impute": "--impute"}  # of a `TableError`


@contextmanager
def report_errors(when_stopped: str = "stopped; nothing was kept") -> Iterator[None]:
    """Turn errors that users can mend into one line on stderr and an exit code.

    Parameters
    ----------
    when_stopped
        What to print after Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"\n{when_stopped}", err=True)
        raise typer.Exit(STOPPED) from None
    except FloatingPointError as error:
        typer.echo(f"the fit failed: {error}", err=True)
        raise typer.Exit(FAILED) from None
    except (ValueError, OSError) as error:
        typer.echo(f"error: {error_text(error)}", err=True)
        raise typer.Exit(WRONG_INPUT) from None


@contextmanager
def wrong_option(option: str | None = None) -> Iterator[None]:
    """Turn a `ValueError` into an error of usage that names this option, if there is one."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def error_text(error: Exception) -> str:
    """Return the message of an error, with arguments called as the options are.

    >>> from goodprior.data.table.errors import TableError
    >>> error_text(TableError("values are missing", remedy="; use {impute} for medians"))
    'values are missing; use --impute for medians'
    >>> error_text(FileNotFoundError(2, "No such file or directory", "a.csv"))
    'a.csv: No such file or directory'
    """
    from goodprior.data.table.errors import TableError

    if isinstance(error, TableError):
        return error.describe(OPTIONS)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


@contextmanager
def report_warnings(*, alike: bool = False) -> Iterator[list[str]]:
    """Print each warning for users once on stderr, and collect them in the list that is yielded.

    Parameters
    ----------
    alike
        Whether of warnings that differ in numbers alone, from block after block of rows, only the
        first is printed.
    """
    printed: list[str] = []
    seen: set[str] = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        text = str(message)
        kind = re.sub(r"\d[\d.]*(e[+-]?\d+)?", "#", text) if alike else text
        if kind not in seen:
            printed.append(text)
            typer.echo(f"warning: {text}", err=True)
        elif text not in printed and "more: " + kind not in seen:
            seen.add("more: " + kind)
            typer.echo("warning: so it is with rows further down", err=True)
        seen.add(kind)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield printed


def check_output(path: Path, *endings: str) -> None:
    """Raise an error of usage for a file that could not be written later.

    Parameters
    ----------
    path
        Of the file; its folder must exist.
    *endings
        The endings that its name may have; any if none is given.
    """
    check_folder(path.parent, "--out")
    if endings and not path.name.lower().endswith(endings):
        raise typer.BadParameter(
            f"{path.name} must end in {' or '.join(endings)}", param_hint="--out"
        )


def check_folder(folder: Path, option: str) -> None:
    """Raise an error of usage if there is no such folder."""
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no folder {folder}", param_hint=option)


def split_commas(given: list[str] | None) -> tuple[str, ...]:
    """Return the values of an option, which are separated by commas or by repeating it, once."""
    values = (value.strip() for text in given or [] for value in text.split(","))
    return tuple(dict.fromkeys(value for value in values if value))


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object on stdout; numbers that JSON does not have are null."""
    typer.echo(json_text(content))


def json_text(content: dict[str, Any]) -> str:
    """Return one JSON object; numbers that JSON does not have are null.

    >>> json_text({"a": float("nan")})
    '{"a": null}'
    """
    return json.dumps(_plain(content), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def prepare() -> None:
    """Use all cores, and compile each program only once on this machine."""
    from goodprior import devices

    devices.prepare()
