"""What one leaves the studio with: a sentence, Python, a command, a file."""

from collections.abc import Mapping
from pathlib import Path
from pprint import pformat
from shlex import quote
from typing import Any

from goodprior.beliefs.file import StoredBelief
from goodprior.beliefs.text import belief_from_text
from goodprior.studio.settings import parse
from goodprior.studio.space import Space


def exports(
    space: Space, spec: Any, noise: float | None, name: str, table: Path | None
) -> dict[str, Any]:
    """The belief in all forms in which it can be taken along.

    Parameters
    ----------
    space, spec, noise
        The columns, the belief and the noise in the target's units (None: learned).
    name
        Whose belief it is.
    table
        The file that the columns come from, if they come from one.
    """
    sentence = parse(spec, space).sentence
    if noise is not None:
        sentence += f" Observations scatter around them by about {noise:.3g}."
    ranges = {c.name: (c.low, c.high) for c in space.columns if c.kind != "category"}
    stored = StoredBelief(name, spec, noise, space.target.name, ranges, sentence)
    file = f"{file_stem(name)}.json"
    return {
        "sentence": sentence,
        "python": _python(space, spec, noise, table),
        "command": _command(space, spec, noise, table),
        "file_command": _fit(space, table) + f" --belief-file {quote(file)}",
        "file": file,
        "json": stored.to_json(),
    }


def file_stem(name: str) -> str:
    """A name as that of a file: letters, digits, hyphens.

    >>> file_stem("Ann's belief / 2")
    'Ann-s-belief-2'
    """
    letters = "".join(letter if letter.isalnum() else " " for letter in name[:60])
    return "-".join(letters.split()) or "belief"


def _python(space: Space, spec: Any, noise: float | None, table: Path | None) -> str:
    belief = pformat(spec, width=88, sort_dicts=False)
    target = space.target.name
    module, read = "pandas", "read_csv"
    if table is not None and table.suffix != ".csv":
        module, read = "goodprior.data.table.read", "read_table"
    lines = [f"from {module} import {read}", "from goodprior import BNNRegressor", ""]
    lines.append(f"table = {read}({str(table or 'TABLE.csv')!r})")
    lines.append(f"belief = {belief}".replace("\n", "\n         "))
    more = ""
    if noise is not None:
        lines.append(f"noise_variance = ({noise:g} / table[{target!r}].std(ddof=0)) ** 2")
        more = ", noise_variance=noise_variance"
    if space.imputed:
        more += ', encode="impute"'
    lines.append(f"model = BNNRegressor(belief=belief{more}, random_state=0)")
    inputs = [column.name for column in space.columns]
    lines.append(f"model.fit(table[{inputs!r}], table[{target!r}])")
    return "\n".join(lines)


def _fit(space: Space, table: Path | None) -> str:
    parts = ["goodprior fit", quote(str(table)) if table else "TABLE.csv"]
    parts.append(f"--target {quote(space.target.name)}")
    constant = "the same value in every row"  # which `fit` leaves out by itself
    parts += [f"--drop {quote(n)}" for n, why in space.left_out.items() if why != constant]
    return " ".join(parts + ["--impute"] * space.imputed)


def _command(space: Space, spec: Any, noise: float | None, table: Path | None) -> str | None:
    """The command with `--belief`, or None where only a file can say all of it."""
    text = text_of(spec)
    return None if text is None or noise else f"{_fit(space, table)} --belief {quote(text)}"


def text_of(spec: Any) -> str | None:
    """The belief as `--belief` takes it, or None where it cannot be written so.

    >>> text_of([{"kernel": "rbf", "lengthscale": {"age": "40 x/ 2"}}, {"kernel": "linear"}])
    'kernel=rbf, lengthscale.age=40 x/ 2 + kernel=linear'
    """
    terms = spec if isinstance(spec, list) else [spec]
    if not all(isinstance(term, Mapping) for term in terms):
        return None
    text = " + ".join(", ".join(_parts(term)) for term in terms)
    try:
        return text if belief_from_text(text) == spec else None
    except ValueError:
        return None


def _parts(term: Mapping[str, Any]) -> list[str]:
    found = []
    for name, value in term.items():
        if isinstance(value, Mapping):
            found += [f"{name}.{column}={_value(number)}" for column, number in value.items()]
        elif isinstance(value, list):
            found += [f"{name}={one}" for one in value]
        else:
            found.append(f"{name}={_value(value)}")
    return found


def _value(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"
