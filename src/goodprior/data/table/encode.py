"""How a table becomes a matrix: learned from the training table, applied to any other."""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
import pandas as pd
from jaxtyping import Float
from pandas.api import types

from goodprior.data.table import parse
from goodprior.data.table.errors import (
    SHOWN,
    Series,
    TableError,
    places,
    refuse_absent,
    refuse_cells,
    refuse_infinite,
    refuse_missing,
)

MANY = 50  # distinct texts that may be an identifier, if they are also a large share of all rows
SHARE = 0.2

Kind = Literal["number", "boolean", "category", "date"]
_KIND_NAMES = {
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
        """Learn from a table which columns are inputs and what they hold, as `fit_transform`."""
        return cls.fit_transform(frame, target=target, impute=impute, drop=drop)[0]

    @classmethod
    def fit_transform(
        cls,
        frame: pd.DataFrame,
        *,
        target: str | list[str] | None = None,
        impute: bool = False,
        drop: Sequence[str] = (),
    ) -> "tuple[Columns, Float[np.ndarray, 'rows columns']]":
        """Learn from a table which columns are inputs and what they hold, and encode it.

        Parameters
        ----------
        frame
            The training table.
        target
            The columns to predict, which are no inputs.
        impute
            Whether missing values become the column's median, or its most frequent value.
        drop
            Columns to leave out.

        Returns
        -------
        Columns
            How to encode other tables alike.
        Float[np.ndarray, "rows columns"]
            The training table as numbers.

        Raises
        ------
        TableError
            If columns are absent, or their values missing or not understood.
        """
        frame = frame.rename(columns=str)
        drop = [drop] if isinstance(drop, str) else list(drop)
        targets = [target] if isinstance(target, str) else list(target or [])
        left_out = [*targets, *drop]
        refuse_absent(left_out, frame, arguments=("target", "drop"))
        inputs = [name for name in frame.columns if name not in left_out]
        if not inputs:
            raise TableError("the table has no columns besides the target and those dropped")
        if not impute:
            refuse_missing(frame[inputs])
        columns = cls(tuple(_learn(frame[name], impute) for name in inputs), tuple(left_out))
        return columns, columns.matrix(frame)

    @property
    def names(self) -> list[str]:
        """The names of the matrix's columns: `size`, or `color=red`."""
        return [name for column in self.columns for name in column.names]

    def matrix(self, frame: pd.DataFrame) -> Float[np.ndarray, "rows columns"]:
        """Return the table as numbers. Columns that were not there in training are ignored."""
        frame = frame.rename(columns=str)
        refuse_absent([column.name for column in self.columns], frame)
        if len(frame) == 0:
            raise TableError("the table has no rows")
        strict = [column.name for column in self.columns if column.fill is None]
        refuse_missing(frame[strict])
        return np.concatenate([_numbers(c, frame[c.name]) for c in self.columns], axis=1)

    def describe(self) -> str:
        """Return a few lines on what was understood."""
        count, inputs = len(self.columns), len(self.names)
        lines = [f"{count} column{'s' * (count > 1)} as {inputs} input{'s' * (inputs > 1)}"]
        for kind, name in _KIND_NAMES.items():
            those = [column for column in self.columns if column.kind == kind]
            if those:
                lines.append(f"  {name}: {', '.join(_describe(column) for column in those)}")
        if any(column.fill is not None for column in self.columns):
            lines.append("  missing values become the median or the most frequent value")
        if self.left_out:
            lines.append(f"  not inputs: {', '.join(self.left_out)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as dicts, lists, text and numbers, for JSON."""
        columns = [asdict(c) | {"categories": list(c.categories)} for c in self.columns]
        return {"columns": columns, "left_out": list(self.left_out)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Columns":
        """Return the columns of which `to_dict` gave these values."""
        columns = []
        for column in values["columns"]:
            unknown = set(column) - {field.name for field in fields(Column)}
            if unknown or column.get("kind") not in _KIND_NAMES:
                raise ValueError(f"{column} does not describe a column")
            columns.append(Column(**column | {"categories": tuple(column["categories"])}))
        return cls(tuple(columns), tuple(values["left_out"]))


def _learn(values: Series, impute: bool) -> Column:
    name, fill = str(values.name), None
    present = values.dropna()
    if not len(present):
        raise TableError(
            f"column {name!r} has no values at all", remedy=": leave it out with {drop}"
        )
    if types.is_bool_dtype(values):
        column = Column(name, "boolean")
    elif types.is_numeric_dtype(values) and not types.is_complex_dtype(values):
        column = Column(name, "number")
    elif types.is_datetime64_any_dtype(values):
        column = Column(name, "date", origin=_utc(present).min().isoformat())
    elif types.is_timedelta64_dtype(values) or types.is_complex_dtype(values):
        raise TableError(f"column {name!r} is of type {values.dtype}, which is not understood")
    else:
        column = _learn_text(name, parse.as_text(values))
    if impute:
        if column.kind == "category":
            fill = str(parse.as_text(present).mode().iloc[0])
        else:
            found = _plain_numbers(column, present)
            counted = pd.Series(found)
            fill = float(counted.median() if column.kind != "boolean" else counted.mode().iloc[0])
    return Column(name, column.kind, column.categories, column.format, column.origin, fill)


def _learn_text(name: str, values: Series) -> Column:
    parse.refuse_numbers_as_text(name, values)
    present = values.dropna()
    if present.map(lambda text: text.lower() in ("true", "false")).all():
        return Column(name, "boolean")  # pandas leaves them as text if some are missing
    format = parse.date_format(name, values)
    if format is not None:
        return Column(name, "date", (), format, parse.dates(present, format).min().isoformat())
    found = sorted(present.unique())
    if len(found) > MANY and len(found) > SHARE * len(present):
        raise TableError(
            f"column {name!r} has {len(found)} different texts in {len(present)} rows, such as "
            f"{found[0]!r}: too many for categories",
            remedy=". If it is an identifier or free text, leave it out with {drop}",
        )
    return Column(name, "category", tuple(found))


def _numbers(column: Column, values: Series) -> Float[np.ndarray, "rows columns"]:
    if column.kind == "category":
        return _one_hot(column, parse.as_text(values))
    found = _plain_numbers(column, values)
    if column.fill is not None:
        found = np.where(values.isna(), float(column.fill), found)
    refuse_infinite(column.name, values, found)
    return found[:, None]


def _plain_numbers(column: Column, values: Series) -> Float[np.ndarray, " rows"]:
    """One number per cell, NaN where it is missing."""
    if column.kind == "date":
        return _days(column, values)
    if column.kind == "boolean":
        text = parse.as_text(values)
        found = text.map(lambda t: _TRUTH.get(t.lower(), np.nan), na_action="ignore").astype(float)
    else:
        found = parse.as_numbers(values)
        if not types.is_numeric_dtype(values):
            parse.refuse_numbers_as_text(column.name, parse.as_text(values))
    bad = (found.isna() & values.notna()).to_numpy()
    if bad.any():
        refuse_cells(column.name, values, bad, _KIND_NAMES[column.kind])
    return found.to_numpy(np.float64, na_value=np.nan)


def _days(column: Column, values: Series) -> Float[np.ndarray, " rows"]:
    if types.is_datetime64_any_dtype(values):
        found = _utc(values)
    else:
        text = parse.as_text(values)
        found = parse.dates(text, column.format or "ISO8601")
        bad = (found.isna() & values.notna()).to_numpy()
        if bad.any():
            refuse_cells(column.name, text, bad, "dates as in training")
    days = (found - pd.Timestamp(column.origin)) / pd.Timedelta(days=1)
    return days.to_numpy(np.float64, na_value=np.nan)


def _one_hot(column: Column, text: Series) -> Float[np.ndarray, "rows categories"]:
    if column.fill is not None:
        text = text.fillna(str(column.fill))
    unseen = ~text.isin(column.categories).to_numpy()
    if unseen.any():
        found = ", ".join(repr(value) for value in text[unseen].unique()[:SHOWN])
        warnings.warn(
            f"column {column.name!r} has values that were not seen in training, {found} "
            f"({places(text, unseen)}): they count as none of {', '.join(column.categories)}",
            stacklevel=4,
        )
    return (text.to_numpy(object)[:, None] == np.array(column.categories, object)).astype(float)


def _utc(values: Series) -> Series:
    return pd.to_datetime(values, utc=True)


def _describe(column: Column) -> str:
    if column.kind == "category":
        shown = ", ".join(column.categories[:SHOWN])
        return f"{column.name} ({shown}{', …' * (len(column.categories) > SHOWN)})"
    if column.kind == "date":
        return f"{column.name} (days since {column.origin[:10]})"
    return column.name
