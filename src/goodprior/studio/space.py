"""What a belief is about: columns with their ranges and units, from a table or typed in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from goodprior.data.scaling import Scaling
from goodprior.data.table.encode import Columns
from goodprior.data.table.errors import TableError
from goodprior.data.table.read import read_table

MOST_COLUMNS = 60  # more cannot be looked at one by one
BINS = 24
TYPED_ROWS = 200  # random points that stand for rows where ranges are typed in


@dataclass(frozen=True)
class Column:
    """A column as the page shows it.

    `inputs` are the names of the numbers that it becomes: one, or one per category.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    low: float = 0.0
    high: float = 1.0
    std: float = 1.0
    histogram: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True, eq=False)
class Space:
    """Inputs and target of a belief.

    Attributes
    ----------
    columns
        As the page shows them.
    names
        Of the inputs, categories one by one.
    X, y
        Rows; y is None where ranges were typed in.
    scaling
        To standard units.
    target
        Name, range and histogram of the target.
    targets
        Columns that could be the target.
    left_out
        Columns that cannot be inputs, and why.
    imputed
        Whether missing values were filled in.
    """

    columns: tuple[Column, ...]
    names: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray | None
    scaling: Scaling
    target: Column
    targets: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    imputed: bool = False

    def column(self, name: object) -> Column:
        """The column of this name."""
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(column.name for column in self.columns)
        raise ValueError(f"there is no column {str(name)[:60]!r}; the columns are {known}")

    def number(self, name: object) -> int:
        """Which input a column of numbers is."""
        column = self.column(name)
        if column.kind == "category":
            raise ValueError(f"{column.name} has categories; choose a column of numbers")
        return self.names.index(column.inputs[0])

    def inputs_of(self, names: Sequence[str]) -> list[str]:
        """The inputs that columns stand for."""
        return [one for name in names for one in self.column(name).inputs]

    def base_row(self, row: int | None) -> np.ndarray:
        """A row of the table, or the medians (None)."""
        if row is None:
            return np.median(self.X, axis=0)
        return self.X[int(row) % len(self.X)]

    def line(self, name: object, row: int | None, points: int) -> tuple[np.ndarray, np.ndarray]:
        """Values along a column, and rows in standard units with the others held at `row`."""
        column = self.number(name)
        known = self.column(name)
        values = np.linspace(known.low, known.high, points)
        rows = np.tile(self.base_row(row), (points, 1))
        rows[:, column] = values
        return values, self.standard(rows)

    def grid(self, first: object, second: object, row: int | None, points: int) -> np.ndarray:
        """Rows in standard units on a grid of two columns; the first varies fastest."""
        a, b = self.number(first), self.number(second)
        if a == b:
            raise ValueError("choose two different columns")
        ends = [self.column(name) for name in (first, second)]
        x, y = (np.linspace(end.low, end.high, points) for end in ends)
        rows = np.tile(self.base_row(row), (points * points, 1))
        rows[:, a], rows[:, b] = np.tile(x, points), np.repeat(y, points)
        return self.standard(rows)

    def standard(self, rows: np.ndarray) -> np.ndarray:
        """Rows in standard units."""
        return (rows - self.scaling.x_mean) / self.scaling.x_std

    def target_units(self, functions: np.ndarray) -> np.ndarray:
        """Standardised values in the target's units."""
        return self.scaling.y_mean[0] + self.scaling.y_std[0] * functions


def read_space(path: Path, target: str | None) -> Space:
    """The columns of a table in a file.

    Parameters
    ----------
    path
        A text file that begins with names of columns.
    target
        The column that functions are about (None: the last that can be).

    Raises
    ------
    ValueError
        If there is nothing to have a belief about; the message is for the page.
    """
    frame = read_table(path).rename(columns=str)
    if len(frame.columns) > MOST_COLUMNS + 1:
        raise ValueError(
            f"{path.name} has {len(frame.columns):,} columns, and the studio shows at most "
            f"{MOST_COLUMNS} inputs: keep those that may matter"
        )
    if len(frame) < 2:
        raise ValueError(f"{path.name} has one row: ranges need at least two that differ")
    targets = tuple(name for name in frame.columns if _can_be_target(frame[name]))
    if not targets:
        raise ValueError(
            f"{path.name} has no column of numbers with more than two values that could be "
            f"predicted; its columns are {', '.join(map(str, frame.columns[:20]))}"
        )
    if target is not None and target not in targets:
        raise ValueError(f"the target must be one of {', '.join(targets)}; got {target[:60]!r}")
    return _space_of(frame, target or targets[-1], targets)


def _can_be_target(values: Any) -> bool:
    numbers = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    return bool(numbers and values.nunique() > 2 and np.isfinite(values.dropna()).all())


def _space_of(frame: pd.DataFrame, target: str, targets: tuple[str, ...]) -> Space:
    kept: list[Any] = []
    matrices, left_out, gaps = [], {}, False
    frame = frame[frame[target].notna()]
    for name in frame.columns:
        if name == target:
            continue
        values: Any = frame[name]
        if values.nunique() < 2:
            left_out[name] = "the same value in every row"
            continue
        try:
            found, matrix = Columns.fit_transform(frame[[name]], impute=True)
        except TableError as error:
            left_out[name] = error.problem
            continue
        gaps |= bool(values.isna().any())
        kept.append(_column(name, found, matrix))
        matrices.append(matrix)
    if not kept:
        raise ValueError(f"no column beside {target} can be an input: {_reasons(left_out)}")
    X, y = np.concatenate(matrices, axis=1), frame[target].to_numpy(np.float64)
    names = tuple(name for column in kept for name in column.inputs)
    if len(names) > MOST_COLUMNS:
        raise ValueError(
            f"categories and numbers make {len(names)} inputs, and the studio shows at most "
            f"{MOST_COLUMNS}: keep those that may matter"
        )
    known = _numbers(target, y)
    return Space(tuple(kept), names, X, y, Scaling.fit(X, y), known, targets, left_out, gaps)


def _reasons(left_out: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in [*left_out.items()][:5])


def _column(name: str, found: Columns, matrix: np.ndarray) -> Column:
    (column,) = found.columns
    if column.kind == "category":
        counts = tuple(int(count) for count in matrix.sum(axis=0))
        note = f"one of {', '.join(column.levels[:6])}" + ", …" * (len(column.levels) > 6)
        return Column(name, "category", tuple(column.names), histogram=counts, note=note)
    notes = {"date": f"days since {column.origin[:10]}", "duration": f"in {column.unit}"}
    note = notes.get(column.kind, "")
    return _numbers(name, matrix[:, 0], kind=column.kind, note=note)


def _numbers(name: str, values: np.ndarray, kind: str = "number", note: str = "") -> Column:
    counts, _ = np.histogram(values, BINS)
    low, high = float(values.min()), float(values.max())
    std = float(values.std())
    return Column(name, kind, (name,), low, high, std, tuple(map(int, counts)), note)


def typed_space(columns: Sequence[Any], target: Mapping[str, Any]) -> Space:
    """The columns whose ranges were typed in, with random points in place of rows.

    Parameters
    ----------
    columns
        Tables with `name`, `low` and `high`.
    target
        The same of the target; `low` and `high` are where its values usually lie.

    Examples
    --------
    >>> age = {"name": "age", "low": 20, "high": 80}
    >>> space = typed_space([age], {"name": "pressure", "low": 90, "high": 170})
    >>> space.names, float(space.scaling.y_mean[0])
    (('age',), 130.0)
    """
    if not isinstance(columns, list | tuple) or not 1 <= len(columns) <= MOST_COLUMNS:
        raise ValueError(f"type in from one to {MOST_COLUMNS} columns")
    kept = tuple(_typed(column) for column in columns)
    names = tuple(column.name for column in kept)
    goal = _typed(target)
    if len({*names, goal.name}) < len(names) + 1:
        raise ValueError("columns and target need different names")
    low, high = (np.array([getattr(column, end) for column in kept]) for end in ("low", "high"))
    X = low + (high - low) * np.random.default_rng(0).random((TYPED_ROWS, len(kept)))
    middle, quarter = (goal.low + goal.high) / 2, (goal.high - goal.low) / 4
    stds = np.array([column.std for column in kept])
    scaling = Scaling((low + high) / 2, stds, np.array([middle]), np.array([quarter]))
    return Space(kept, names, X, None, scaling, goal)


def _typed(column: Any) -> Column:
    rule = "a column needs a name, and two numbers of which the second is larger"
    if not isinstance(column, Mapping):
        raise ValueError(rule)
    name, low, high = (column.get(key) for key in ("name", "low", "high"))
    if not isinstance(name, str) or not 0 < len(name.strip()) <= 100:
        raise ValueError(f"{rule}; the name is {str(name)[:60]!r}")
    for value in (low, high):
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
            raise ValueError(f"{rule}; {name} has {low!r} and {high!r}")
    low, high, name = float(low or 0.0), float(high or 0.0), name.strip()
    if not low < high:
        raise ValueError(f"{rule}; {name} goes from {low:g} to {high:g}")
    return Column(name, "number", (name,), low, high, (high - low) / 12**0.5)
