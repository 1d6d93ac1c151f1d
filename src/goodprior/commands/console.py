"""How commands behave: errors and warnings in words, exit codes, one JSON object on stdout.

Exit codes: 0 done (also after Ctrl-C, if draws could be kept), 1 the fit failed, 2 wrong usage or
input, 130 stopped by Ctrl-C with nothing kept.
"""

import json
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

FAILED, WRONG_INPUT, STOPPED = 1, 2, 130
# What the library's messages call by its Python name, as it is called on the command line
_IN_OPTIONS = {
    "use impute=True": "use --impute",
    "leave it out with drop": "leave it out with --drop",
    "target and drop: there": "--target and --drop: there",
    "target: there": "--target: there",
    "belief={'kernel': 'periodic', 'period': …}": '--belief "kernel=periodic,period=…"',
}


@contextmanager
def for_people(when_stopped: str = "stopped; nothing was kept") -> Iterator[None]:
    """One line on stderr and an exit code, instead of a traceback, for what users can mend."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"\n{when_stopped}", err=True)
        raise typer.Exit(STOPPED) from None
    except FloatingPointError as error:
        typer.echo(f"the fit failed: {error}", err=True)
        raise typer.Exit(FAILED) from None
    except (ValueError, OSError) as error:
        typer.echo(f"error: {in_words(error)}", err=True)
        raise typer.Exit(WRONG_INPUT) from None


def in_words(error: Exception) -> str:
    """The message of an error, with options named as on the command line.

    >>> in_words(ValueError("values are missing; use impute=True for medians"))
    'values are missing; use --impute for medians'
    >>> in_words(FileNotFoundError(2, "No such file or directory", "a.csv"))
    'a.csv: No such file or directory'
    """
    words = str(error)
    if isinstance(error, OSError) and error.strerror:
        words = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    for said, option in _IN_OPTIONS.items():
        words = words.replace(said, option)
    return words


@contextmanager
def warnings_in_words() -> Iterator[list[str]]:
    """Warnings as lines on stderr as they come, and in a list; what is for programmers is left out.

    How well a fit converged is said once, after it, from its diagnostics.
    """
    from sklearn.exceptions import ConvergenceWarning

    said: list[str] = []

    def say(message: Any, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.append(str(message))
            typer.echo(f"warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.showwarning = say
        yield said


def check_out(path: Path, *endings: str) -> None:
    """Refuse a file that could not be written later, before any work is done."""
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {path.parent}", param_hint="--out")
    if not path.name.lower().endswith(endings):
        raise typer.BadParameter(
            f"{path.name} must end in {' or '.join(endings)}", param_hint="--out"
        )


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on stdout; numbers that JSON does not have are null."""
    typer.echo(json.dumps(_plain(content), allow_nan=False))


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
    from goodprior.devices import keep_compiled_programs, use_all_cores

    use_all_cores()
    keep_compiled_programs()
