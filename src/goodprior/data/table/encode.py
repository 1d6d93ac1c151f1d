"""How a table becomes a matrix: learned from the training table, applied to any other."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
import pandas as pd
from jaxtyping import Float
from pandas.api import types

from goodprior.data.table import parse as cells
from goodprior.data.table.parse import Series

MANY = 50  # distinct texts that may be an identifier, if they are also a large share of all rows
SHARE = 0.2

Kind = Literal["number", "boolean", "category", "date"]
_WORDS = {
    "number": "numbers",
    "boolean": "true or false",
    "category": "categories",
    "date": "dates",
}
_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


@dataclass(frozen=True)
class Column:
    """What one column holds. `fill` stands for missing values; None: they are refused."""

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()
    format: str = ""  # of dates in text
    origin: str = ""  # dates are counted in days since this one
    fill: float | str | None = None

    @property
    def names(self) -> list[str]:
        """The names of the numbers it becomes."""
        if self.kind != "category":
            return [self.name]
        return [f"{self.name}={value}" for value in self.categories]


@dataclass(frozen=True)
class Columns:
    """The columns that are inputs, in order, and those that are left out.

    Numbers stay as they are, true and false become 1 and 0, texts one column per category, dates
    days since the first one. What a table lacks or has in the wrong form is named with its lines.

    >>> train = pd.DataFrame({"size": [1.5, 2.0], "color": ["red", "blue"], "y": [3.0, 4.0]})
    >>> columns = Columns.fit(train, target="y")
    >>> columns.names
    ['size', 'color=blue', 'color=red']
    >>> columns.matrix(pd.DataFrame({"color": ["blue"], "size": [7]})).tolist()
    [[7.0, 1.0, 0.0]]
    """

    columns: tuple[Column, ...]
    left_out: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls,
        frame: pd.DataFrame,
        *,
        target: str | list[str] | None = None,
        impute: bool = False,
        drop: Sequence[str] = (),
    ) -> "Columns":
        """Learn from a table which columns are inputs and what they hold.

        With `impute`, missing values become the column's median, or its most frequent value.
        """
        frame = frame.rename(columns=str)
        drop = [drop] if isinstance(drop, str) else list(drop)
        left_out = [*_listed(target), *drop]
        _refuse_absent("target and drop", left_out, frame)
        inputs = [name for name in frame.columns if name not in left_out]
        if not inputs:
            raise ValueError("the table has no columns besides the target and those dropped")
        if not impute:
            _refuse_missing(frame[inputs])
        columns = cls(tuple(_learn(frame[name], impute) for name in inputs), tuple(left_out))
        columns.matrix(frame)
        return columns

    @property
    def names(self) -> list[str]:
        """The names of the matrix's columns: `size`, or `color=red`."""
        return [name for column in self.columns for name in column.names]

    def matrix(self, frame: pd.DataFrame) -> Float[np.ndarray, "rows columns"]:
        """The table as numbers. Columns that were not there in training are ignored."""
        frame = frame.rename(columns=str)
        _refuse_absent("the table", [column.name for column in self.columns], frame)
        if len(frame) == 0:
            raise ValueError("the table has no rows")
        strict = [column.name for column in self.columns if column.fill is None]
        _refuse_missing(frame[strict])
        return np.concatenate([_numbers(c, frame[c.name]) for c in self.columns], axis=1)

    def describe(self) -> str:
        """What was understood, in a few lines of words."""
        count, inputs = len(self.columns), len(self.names)
        lines = [f"{count} column{'s' * (count > 1)} as {inputs} input{'s' * (inputs > 1)}"]
        for kind, words in _WORDS.items():
            those = [column for column in self.columns if column.kind == kind]
            if those:
                lines.append(f"  {words}: {', '.join(_in_words(column) for column in those)}")
        if any(column.fill is not None for column in self.columns):
            lines.append("  missing values become the median or the most frequent value")
        if self.left_out:
            lines.append(f"  not inputs: {', '.join(self.left_out)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As dicts, lists, text and numbers, for JSON."""
        columns = [asdict(c) | {"categories": list(c.categories)} for c in self.columns]
        return {"columns": columns, "left_out": list(self.left_out)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Columns":
        """The inverse of `to_dict`."""
        columns = []
        for column in values["columns"]:
            unknown = set(column) - {field.name for field in fields(Column)}
            if unknown or column.get("kind") not in _WORDS:
                raise ValueError(f"{column} does not describe a column")
            columns.append(Column(**column | {"categories": tuple(column["categories"])}))
        return cls(tuple(columns), tuple(values["left_out"]))


def target_values(frame: pd.DataFrame, target: str | list[str]) -> np.ndarray:
    """The targets: numbers, true or false, or text for classes; a matrix for a list of names.

    >>> target_values(pd.DataFrame({"y": ["a", "b"], "x": [1, 2]}), "y").tolist()
    ['a', 'b']
    """
    frame = frame.rename(columns=str)
    _refuse_absent("target", _listed(target), frame)
    _refuse_missing(frame[_listed(target)], impute=False)
    if isinstance(target, str):
        return _target(frame[target])
    values = [_target(frame[name]) for name in target]
    if not values or any(v.dtype.kind not in "fiu" for v in values):
        raise ValueError(f"several targets must all be numbers: {', '.join(target)}")
    return np.stack(values, axis=1).astype(np.float64)


def looks_like_classes(y: np.ndarray) -> bool:
    """Whether targets are labels: text, true or false, two whole numbers, or 0 (or 1), 2, 3, … 10.

    >>> looks_like_classes(np.array([0, 2, 1, 1])), looks_like_classes(np.array([3, 5, 8, 4]))
    (True, False)
    """
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind not in "fiu":
        return y.ndim == 1
    found = np.unique(y)
    if not np.array_equal(found, np.round(found)):
        return False
    in_a_row = found[0] in (0, 1) and found[-1] - found[0] == len(found) - 1
    return len(found) == 2 or bool(in_a_row and 2 < len(found) <= 10)


def _target(values: Series) -> np.ndarray:
    name = str(values.name)
    if types.is_bool_dtype(values):
        return values.to_numpy(bool)
    if types.is_numeric_dtype(values):
        found = values.to_numpy(np.int64 if types.is_integer_dtype(values) else np.float64)
        _refuse_infinite(name, values, found)
        return found
    text = cells.as_text(values)
    cells.refuse_numbers_as_text(name, text)
    return text.to_numpy(str)


def _learn(values: Series, impute: bool) -> Column:
    name, fill = str(values.name), None
    present = values.dropna()
    if not len(present):
        raise ValueError(f"column {name!r} has no values at all: leave it out with drop")
    if types.is_bool_dtype(values):
        column = Column(name, "boolean")
    elif types.is_numeric_dtype(values) and not types.is_complex_dtype(values):
        column = Column(name, "number")
    elif types.is_datetime64_any_dtype(values):
        column = Column(name, "date", origin=_utc(present).min().isoformat())
    elif types.is_timedelta64_dtype(values) or types.is_complex_dtype(values):
        raise ValueError(f"column {name!r} is of type {values.dtype}, which is not understood")
    else:
        column = _learn_text(name, cells.as_text(values))
    if impute:
        if column.kind == "category":
            fill = str(cells.as_text(present).mode().iloc[0])
        else:
            found = _plain_numbers(column, present)
            counted = pd.Series(found)
            fill = float(counted.median() if column.kind != "boolean" else counted.mode().iloc[0])
    return Column(name, column.kind, column.categories, column.format, column.origin, fill)


def _learn_text(name: str, values: Series) -> Column:
    cells.refuse_numbers_as_text(name, values)
    present = values.dropna()
    if present.map(lambda text: text.lower() in ("true", "false")).all():
        return Column(name, "boolean")  # pandas leaves them as text if some are missing
    format = cells.date_format(name, values)
    if format is not None:
        return Column(name, "date", (), format, cells.dates(present, format).min().isoformat())
    found = sorted(present.unique())
    if len(found) > MANY and len(found) > SHARE * len(present):
        raise ValueError(
            f"column {name!r} has {len(found)} different texts in {len(present)} rows, such as "
            f"{found[0]!r}: too many for categories. If it is an identifier or free text, leave it "
            f"out with drop"
        )
    return Column(name, "category", tuple(found))


def _numbers(column: Column, values: Series) -> Float[np.ndarray, "rows columns"]:
    if column.kind == "category":
        return _one_hot(column, cells.as_text(values))
    found = _plain_numbers(column, values)
    if column.fill is not None:
        found = np.where(values.isna(), float(column.fill), found)
    _refuse_infinite(column.name, values, found)
    return found[:, None]


def _plain_numbers(column: Column, values: Series) -> Float[np.ndarray, " rows"]:
    """One number per cell, NaN where it is missing."""
    if column.kind == "date":
        return _days(column, values)
    if column.kind == "boolean":
        text = cells.as_text(values)
        found = text.map(lambda t: _TRUTH.get(t.lower(), np.nan), na_action="ignore").astype(float)
    else:
        found = cells.as_numbers(values)
        if not types.is_numeric_dtype(values):
            cells.refuse_numbers_as_text(column.name, cells.as_text(values))
    bad = (found.isna() & values.notna()).to_numpy()
    if bad.any():
        cells.refuse(column.name, values, bad, _WORDS[column.kind])
    return found.to_numpy(np.float64, na_value=np.nan)


def _days(column: Column, values: Series) -> Float[np.ndarray, " rows"]:
    if types.is_datetime64_any_dtype(values):
        found = _utc(values)
    else:
        text = cells.as_text(values)
        found = cells.dates(text, column.format or "ISO8601")
        bad = (found.isna() & values.notna()).to_numpy()
        if bad.any():
            cells.refuse(column.name, text, bad, "dates as in training")
    days = (found - pd.Timestamp(column.origin)) / pd.Timedelta(days=1)
    return days.to_numpy(np.float64, na_value=np.nan)


def _one_hot(column: Column, text: Series) -> Float[np.ndarray, "rows categories"]:
    if column.fill is not None:
        text = text.fillna(str(column.fill))
    unseen = ~text.isin(column.categories).to_numpy()
    if unseen.any():
        found = ", ".join(repr(value) for value in text[unseen].unique()[: cells.SHOWN])
        warnings.warn(
            f"column {column.name!r} has values that were not seen in training, {found} "
            f"({cells.places(text, unseen)}): they count as none of {', '.join(column.categories)}",
            stacklevel=4,
        )
    return (text.to_numpy(object)[:, None] == np.array(column.categories, object)).astype(float)


def _utc(values: Series) -> Series:
    return pd.to_datetime(values, utc=True)


def _listed(target: str | list[str] | None) -> list[str]:
    return [] if target is None else [target] if isinstance(target, str) else list(target)


def _refuse_absent(what: str, names: Iterable[str], frame: pd.DataFrame) -> None:
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(
            f"{what}: there is no column {', '.join(map(repr, absent))}; the table has "
            f"{', '.join(map(str, frame.columns))}"
        )
    twice = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if twice:
        raise ValueError(f"several columns have the same name: {', '.join(twice)}")


def _refuse_missing(frame: Any, *, impute: bool = True) -> None:
    found = [
        f"{name!r} {count} ({cells.places(frame[name], frame[name].isna().to_numpy())})"
        for name, count in frame.isna().sum().items()
        if count
    ]
    if found:
        way_out = "; fill them in, or use impute=True for medians and most frequent values"
        raise ValueError(f"values are missing: {', '.join(found)}{way_out if impute else ''}")


def _refuse_infinite(name: str, values: Series, found: np.ndarray) -> None:
    bad = np.isinf(found)
    if bad.any():
        cells.refuse(name, values, bad, "finite numbers")


def _in_words(column: Column) -> str:
    if column.kind == "category":
        shown = ", ".join(column.categories[: cells.SHOWN])
        return f"{column.name} ({shown}{', …' * (len(column.categories) > cells.SHOWN)})"
    if column.kind == "date":
        return f"{column.name} (days since {column.origin[:10]})"
    return column.name
