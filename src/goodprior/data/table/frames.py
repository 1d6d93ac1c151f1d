"""Tables of other packages as those of pandas."""

from typing import Any

import pandas as pd


def as_frame(table: object) -> pd.DataFrame | None:
    """The table as a pandas DataFrame, or None if it is no table with names of columns.

    DataFrames of polars become those of pandas column by column, which needs no other package.

    Examples
    --------
    >>> as_frame([[1.0, 2.0]]) is None
    True
    >>> as_frame(pd.DataFrame({"x": [1.0]})).shape
    (1, 1)
    """
    thing: Any = table
    if not hasattr(thing, "columns") or len(getattr(thing, "shape", ())) != 2:
        return None
    if isinstance(thing, pd.DataFrame):
        return thing
    if hasattr(thing, "get_columns"):  # polars
        return pd.DataFrame({name: _of_polars(thing[name]) for name in thing.columns})
    return thing.to_pandas() if hasattr(thing, "to_pandas") else None


def _of_polars(series: Any) -> pd.Series:
    if str(series.dtype).startswith("Decimal"):
        series = series.cast(float)
    elif str(series.dtype).startswith(("Categorical", "Enum")):
        levels = series.cast(str).to_numpy()
        return pd.Series(pd.Categorical(levels))
    return pd.Series(series.to_numpy())
