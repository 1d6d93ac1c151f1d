"""Tables of rows: whether they are numbers, and whether training said anything about them."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from goodprior.data.table.errors import some
from goodprior.data.table.frames import as_frame

FAR = 1.0  # a row this many ranges outside a column of the training data is far away


def input_names(model: Any) -> list[str]:
    """The names of the numbers that the model works with, such as `size` and `color=red`."""
    if getattr(model, "columns_", None) is not None:
        return model.columns_.names
    return [str(name) for name in getattr(model, "feature_names_in_", ())]


def input_count(model: Any) -> int:
    """How many numbers a row of a table is to the model."""
    encoded = getattr(model, "columns_", None) is not None
    return len(model.columns_.names) if encoded else model.n_features_in_


def column_name(model: Any, column: int) -> str:
    """The name that the column had in training, or its number."""
    names = input_names(model)
    return names[column] if names else f"column {column}"


def column_number(model: Any, column: str | int) -> int:
    """The number of a column that is given by its name or its number."""
    numbers = column_numbers(model, column)
    if len(numbers) > 1:
        names = [column_name(model, number) for number in numbers]
        raise ValueError(f"{column!r} is a category: name one of its levels, {some(names)}")
    return numbers[0]


def column_numbers(model: Any, column: str | int) -> list[int]:
    """The numbers of the inputs that a column became: several if it is a category."""
    names = input_names(model)
    columns = getattr(model, "columns_", None)
    groups = {} if columns is None else columns.groups
    if isinstance(column, str) and column in groups:
        return [names.index(name) for name in groups[column]]
    if isinstance(column, str) and column in names:
        return [names.index(column)]
    if isinstance(column, int | np.integer) and 0 <= column < input_count(model):
        return [int(column)]
    own = names if columns is None else [each.name for each in columns.columns]
    known = f"one of {some(own)}, or " if own else ""
    last = input_count(model) - 1
    raise ValueError(f"a column must be {known}a number from 0 to {last}; got {column!r}")


def refuse_bad_columns(X: Any) -> None:
    """Name the columns of a DataFrame that are not numbers throughout; arrays have no names."""
    frame = as_frame(X)
    if frame is None:
        return
    missing, text = [], []
    for name, column in _columns_of(frame):
        if count := int(column.isna().sum()):
            missing.append(f"{name} ({count} of {len(frame)})")
        elif not _is_numbers(column):
            text.append(f"{name} ({str(column.iloc[0])!r})")
    if missing:
        raise ValueError(
            f"values are NaN in {some(missing)}: fill them in first, or fit with "
            'encode="impute" for medians and most frequent values'
        )
    if text:
        raise ValueError(
            f"no numbers, but text or dates in {some(text)}: make them so, or fit with "
            'encode="auto", which does'
        )


def is_all_numbers(frame: pd.DataFrame) -> bool:
    """Whether all columns are numbers, if some may be missing."""
    return all(_is_numbers(column.dropna()) for _, column in _columns_of(frame))


def _columns_of(frame: pd.DataFrame) -> list[tuple[str, Any]]:
    return [(str(name), frame.iloc[:, i]) for i, name in enumerate(frame.columns)]


def _is_numbers(column: Any) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype | pd.PeriodDtype):
        return False
    try:
        np.asarray(column, np.float64)
    except (ValueError, TypeError):
        return False
    return column.dtype.kind not in "mM"


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
