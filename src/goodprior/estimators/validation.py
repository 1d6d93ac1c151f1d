"""Tables of rows: whether they are numbers, and whether training said anything about them."""

import warnings
from typing import Any

import numpy as np
from jaxtyping import Float

FAR = 1.0  # a row this many ranges outside a column of the training data is far away


def column_name(model: Any, column: int) -> str:
    """The name that the column had in training, or its number."""
    names = getattr(model, "feature_names_in_", None)
    return f"column {column}" if names is None else str(names[column])


def column_number(model: Any, column: str | int) -> int:
    """The number of a column that is given by its name or its number."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < model.n_features_in_:
        return int(column)
    known = f"one of {_some(names)}, or " if names else ""
    last = model.n_features_in_ - 1
    raise ValueError(f"a column must be {known}a number from 0 to {last}; got {column!r}")


def refuse_bad_columns(X: Any) -> None:
    """Name the columns of a DataFrame that are not numbers throughout; arrays have no names."""
    missing, text = [], []
    for name, column in _named_columns(X):
        if count := int(column.isna().sum()):
            missing.append(f"{name} ({count} of {len(X)})")
        elif not _is_numbers(column):
            text.append(f"{name} ({column.iloc[0]!r})")
    way_out = "Columns of goodprior.data.table.encode does that, as in `goodprior fit`"
    if missing:
        raise ValueError(f"values are NaN in {_some(missing)}: fill them first; {way_out}")
    if text:
        raise ValueError(f"no numbers, but text or dates in {_some(text)}: make them so; {way_out}")


def _named_columns(X: Any) -> list[tuple[str, Any]]:
    """The columns of a DataFrame as pandas has them; none of what is no DataFrame."""
    if not hasattr(X, "columns") or len(getattr(X, "shape", ())) != 2:
        return []
    if hasattr(X, "iloc"):
        return [(str(name), X.iloc[:, i]) for i, name in enumerate(X.columns)]
    import pandas as pd  # polars, whose columns have names of their own

    return [(name, pd.Series(X[name].to_numpy())) for name in X.columns]


def _is_numbers(column: Any) -> bool:
    try:
        np.asarray(column, np.float64)
    except (ValueError, TypeError):
        return False
    return column.dtype.kind not in "mM"


def _some(names: list[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + f" and {len(names) - most} more" * (len(names) > most)


def warn_if_far(model: Any, X: Float[np.ndarray, "rows ..."]) -> None:
    """Say so where rows lie far outside the box of the training data."""
    low, high = model.box_
    reach = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    beyond = np.maximum(low - X, X - high) / reach
    far = (beyond > FAR).any(axis=tuple(range(1, X.ndim)))
    if far.any():
        column = int(beyond.reshape(-1, X.shape[-1]).max(axis=0).argmax())
        warnings.warn(
            f"{far.sum()} of {len(X)} rows lie far outside the training data (most of all in "
            f"{column_name(model, column)}, where training went from {low[column]:.4g} to "
            f"{high[column]:.4g}): what is predicted there comes from the prior and the network's "
            "shape, not from data",
            UserWarning,
            stacklevel=4,
        )
