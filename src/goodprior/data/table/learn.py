"""What a column of the training table holds."""

from dataclasses import replace
from datetime import time, timedelta
from numbers import Number

import numpy as np
import pandas as pd
from pandas.api import types

from goodprior.data.table import parse
from goodprior.data.table.cells import UNITS, numbers_in, utc
from goodprior.data.table.column import Column
from goodprior.data.table.errors import Series, TableError

MOST_LEVELS = 50  # of a category that have inputs of their own
LEAST_ROWS = 3  # of a level, where not all levels have inputs of their own
LEAST_SHARE = 0.2  # of the rows that those levels must have, else it is an identifier
PERIODS = {"year": 365.25, "week": 7.0, "day": 1.0}  # in days


def learn_column(values: Series, impute: bool) -> Column:
    """What the column holds.

    Parameters
    ----------
    values
        The column of the training table.
    impute
        Whether missing values become the median, or the most frequent value.

    Raises
    ------
    TableError
        If it is not understood.

    Examples
    --------
    >>> learn_column(pd.Series(["u", "v", "u"], name="c"), impute=False).categories
    ('u', 'v')
    """
    name = str(values.name)
    if not len(present := values.dropna()):
        raise TableError(
            f"column {name!r} has no values at all", remedy=": leave it out with {drop}"
        )
    column = _learn(name, values, present)
    return replace(column, fill=_fill(column, present)) if impute else column


def _learn(name: str, values: Series, present: Series) -> Column:
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _category(name, parse.as_text(present))
    if types.is_bool_dtype(values):
        return Column(name, "boolean")
    if types.is_numeric_dtype(values) and not types.is_complex_dtype(values):
        return Column(name, "number")
    if types.is_datetime64_any_dtype(values) or isinstance(values.dtype, pd.PeriodDtype):
        return _date(name, utc(present))
    if types.is_timedelta64_dtype(values):
        return _duration(name, present)
    if types.is_complex_dtype(values):
        raise TableError(f"column {name!r} is of type {values.dtype}, which is not understood")
    return _learn_objects(name, values, present)


def _learn_objects(name: str, values: Series, present: Series) -> Column:
    """Of cells that pandas has no type for, or text."""
    kinds = set(present.map(type))
    if odd := [kind for kind in kinds if issubclass(kind, list | tuple | dict | set | np.ndarray)]:
        raise TableError(
            f"column {name!r} holds a {odd[0].__name__} in each cell, which is not understood: "
            "there must be one number or text",
            remedy=", or leave it out with {drop}",
        )
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return Column(name, "boolean")
    if all(issubclass(kind, Number) and kind is not complex for kind in kinds):
        return Column(name, "number")
    if all(issubclass(kind, timedelta | time) for kind in kinds):
        return _duration(name, present)
    return _learn_text(name, parse.as_text(values))


def _learn_text(name: str, values: Series) -> Column:
    parse.refuse_numbers_as_text(name, values)
    present = values.dropna()
    if present.map(lambda text: text.lower() in ("true", "false")).all():
        return Column(name, "boolean")  # pandas leaves them as text if some are missing
    if parse.as_numbers(present).notna().all():
        return Column(name, "number")
    if parse.durations(present).notna().all():
        return _duration(name, present)
    format = parse.date_format(name, values)
    if format is not None:
        return _date(name, parse.dates(present, format), format)
    return _category(name, present)


def _date(name: str, dates: Series, format: str = "") -> Column:
    days = np.unique((dates - dates.min()) / pd.Timedelta(days=1))
    step = float(np.median(np.diff(days))) if len(days) > 1 else np.inf
    seasons = [
        word for word, period in PERIODS.items() if days[-1] >= 2 * period and step <= period / 4
    ]
    origin = dates.min().isoformat()
    return Column(name, "date", format=format, origin=origin, seasons=tuple(seasons))


def _duration(name: str, present: Series) -> Column:
    """In the largest unit of which the longest has two."""
    longest = parse.durations(present).abs().max()
    unit = next((unit for unit, one in UNITS.items() if longest >= 2 * one), "seconds")
    return Column(name, "duration", unit=unit)


def _category(name: str, present: Series) -> Column:
    counts = present.value_counts()
    found = sorted(counts.index)
    if len(found) <= MOST_LEVELS:
        return Column(name, "category", tuple(found))
    ordered = sorted(found, key=lambda level: (-counts[level], level))
    kept = [level for level in ordered[:MOST_LEVELS] if counts[level] >= LEAST_ROWS]
    if counts[kept].sum() < LEAST_SHARE * len(present):
        raise TableError(
            f"column {name!r} has {len(found)} different texts in {len(present)} rows, such as "
            f"{found[0]!r}, and hardly any of them often: too many for categories",
            remedy=". If it is an identifier or free text, leave it out with {drop}",
        )
    return Column(name, "category", tuple(sorted(kept)), grouped=len(found) - len(kept))


def _fill(column: Column, present: Series) -> float | str:
    if column.kind == "category":
        return str(parse.as_text(present).mode().iloc[0])
    found = pd.Series(numbers_in(column, present))
    return float(found.mode().iloc[0] if column.kind == "boolean" else found.median())
