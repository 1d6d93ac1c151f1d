"""The cells of a column as numbers, by what the column was in training."""

import warnings

import numpy as np
import pandas as pd
from jaxtyping import Float
from pandas.api import types

from goodprior.data.table import parse
from goodprior.data.table.column import KIND_NAMES, Column
from goodprior.data.table.errors import SHOWN, Series, places, refuse_cells, refuse_infinite

UNITS = {
    "days": pd.Timedelta(days=1),
    "hours": pd.Timedelta(hours=1),
    "seconds": pd.Timedelta(seconds=1),
}
_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


def encode_column(column: Column, values: Series) -> Float[np.ndarray, "rows inputs"]:
    """The column of any table as numbers, missing ones filled in if it was so in training.

    Parameters
    ----------
    column
        What the column was in training.
    values
        The column of this table.

    Raises
    ------
    TableError
        If the table holds something else.

    Examples
    --------
    >>> encode_column(Column("c", "category", ("u", "v")), pd.Series(["v"], name="c")).tolist()
    [[0.0, 1.0]]
    """
    if column.kind == "category":
        return _one_hot(column, parse.as_text(values))
    found = numbers_in(column, values)
    if column.fill is not None:
        found = np.where(values.isna(), float(column.fill), found)
    refuse_infinite(column.name, values, found)
    return found[:, None]


def numbers_in(column: Column, values: Series) -> Float[np.ndarray, " rows"]:
    """One number per cell of a column that is no category, NaN where the cell is empty."""
    wanted = KIND_NAMES[column.kind]
    if column.kind == "date":
        found, wanted = _days(column, values), "dates as in training"
    elif column.kind == "duration":
        found = parse.durations(values) / UNITS[column.unit]
        wanted = "durations such as 1 days 02:30:00"
    elif column.kind == "boolean":
        text = parse.as_text(values).fillna("")
        found = text.map(lambda t: _TRUTH.get(t.lower(), np.nan)).astype(float)
    else:
        found = parse.as_numbers(values)
        if not types.is_numeric_dtype(values):
            parse.refuse_numbers_as_text(column.name, parse.as_text(values))
    bad = (found.isna() & values.notna()).to_numpy(bool)
    if bad.any():
        refuse_cells(column.name, values, bad, wanted)
    return found.to_numpy(np.float64, na_value=np.nan)


def utc(values: Series) -> Series:
    """Dates with the times of Greenwich; a period begins where it begins."""
    if isinstance(values.dtype, pd.PeriodDtype):
        values = values.dt.to_timestamp()
    return pd.to_datetime(values, utc=True)


def _days(column: Column, values: Series) -> Series:
    is_date = types.is_datetime64_any_dtype(values) or isinstance(values.dtype, pd.PeriodDtype)
    if is_date:
        found = utc(values)
    else:
        found = parse.dates(parse.as_text(values), column.format or "ISO8601")
    return (found - pd.Timestamp(column.origin)) / pd.Timedelta(days=1)


def _one_hot(column: Column, text: Series) -> Float[np.ndarray, "rows levels"]:
    if column.fill is not None:
        text = text.fillna(str(column.fill))
    known = text.isin(column.categories).to_numpy(bool)
    levels = np.array(column.categories, object)
    found = (text.to_numpy(object)[:, None] == levels).astype(float)
    if column.grouped:
        return np.column_stack([found, ~known])
    if not known.all():
        unseen = ", ".join(repr(value) for value in text[~known].unique()[:SHOWN])
        warnings.warn(
            f"column {column.name!r} has values that were not seen in training, {unseen} "
            f"({places(text, ~known)}): they count as none of {', '.join(column.categories)}",
            stacklevel=5,
        )
    return found
