"""What is wrong with a table, and where: errors that name columns and lines."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

import numpy as np
import pandas as pd

Series = Any  # a pd.Series: its methods are annotated too loosely for a type checker
SHOWN = 5  # lines or values named in a message
ARGUMENTS = {"target": "target", "drop": "drop", "impute": "impute=True"}


class TableError(ValueError):
    """A table, or what was asked of it, that cannot be used.

    Parameters
    ----------
    problem
        What is wrong and where.
    arguments
        The arguments in which the mistake is, if it is not in the table.
    remedy
        Appended to the problem; `{drop}` and `{impute}` stand for the arguments that would help.

    Examples
    --------
    >>> error = TableError("column 'a' is empty", remedy=": leave it out with {drop}")
    >>> print(error)
    column 'a' is empty: leave it out with drop
    >>> print(error.describe({"drop": "--drop"}))
    column 'a' is empty: leave it out with --drop
    """

    def __init__(self, problem: str, *, arguments: Sequence[str] = (), remedy: str = ""):
        self.problem, self.arguments, self.remedy = problem, tuple(arguments), remedy
        super().__init__(self.describe(ARGUMENTS))

    def with_names(self, names: Mapping[str, str]) -> "TableError":
        """Return the same error, with arguments called by these names in its text."""
        error = TableError(self.problem, arguments=self.arguments, remedy=self.remedy)
        error.args = (error.describe(ARGUMENTS | {**names}),)
        return error

    def describe(self, names: Mapping[str, str]) -> str:
        """Return the message with arguments called by these names."""
        where = " and ".join(names[argument] for argument in self.arguments)
        return (f"{where}: " if where else "") + self.problem + self.remedy.format(**names)


def places(values: Series, wanted: np.ndarray) -> str:
    """Where these cells are, as the user counts: lines of the file if they are known."""
    index = values.index[np.flatnonzero(wanted)]
    word = "line" if values.index.name == "line" else "row"
    shown = ", ".join(str(place) for place in index[:SHOWN])
    return f"{word}{'s' * (len(index) > 1)} {shown}{', …' * (len(index) > SHOWN)}"


def some(words: Iterable[str], most: int = 12) -> str:
    """A list in words, which ends with how many more there are.

    >>> some(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    found = [*words]
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def refuse_cells(name: str, values: Series, bad: np.ndarray, wanted: str) -> NoReturn:
    """Raise a `TableError` that names the cells which are not what the column holds."""
    example = values[bad].iloc[0]
    found = repr(example) if isinstance(example, str) else str(example)
    raise TableError(f"column {name!r} must hold {wanted}, found {found} ({places(values, bad)})")


def refuse_absent(
    names: Iterable[str], frame: pd.DataFrame, *, arguments: Sequence[str] = ()
) -> None:
    """Raise a `TableError` if columns are absent, or there twice."""
    absent = [name for name in names if name not in frame.columns]
    if absent:
        whose = "" if arguments else "the table: "
        known = [str(name) for name in frame.columns]
        lower = {name.lower(): name for name in known}
        near = get_close_matches(str(absent[0]).lower(), lower, 1)
        hint = f" (did you mean {lower[near[0]]!r}?)" if near else ""
        raise TableError(
            f"{whose}there is no column {some(map(repr, absent))}{hint}; the table has "
            f"{some(known)}",
            arguments=arguments,
        )
    twice = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if twice:
        raise TableError(f"several columns have the same name: {some(twice)}")


def refuse_missing(frame: Any, *, impute: bool = True) -> None:
    """Raise a `TableError` if values are missing; `impute`: whether filling them in is offered."""
    found = [
        f"{name!r} {count} ({places(frame[name], frame[name].isna().to_numpy())})"
        for name, count in frame.isna().sum().items()
        if count
    ]
    if found:
        remedy = "; fill them in, or fit with {impute} for medians and most frequent values"
        problem = f"values are missing: {some(found)}"
        raise TableError(problem, remedy=remedy if impute else "")


def refuse_infinite(name: str, values: Series, found: np.ndarray) -> None:
    """Raise a `TableError` if numbers are infinite."""
    bad = np.isinf(found)
    if bad.any():
        refuse_cells(name, values, bad, "finite numbers")
