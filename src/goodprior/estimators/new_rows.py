"""Rows to predict for: whether training said anything about them."""

import warnings
from typing import Any

import numpy as np
from jaxtyping import Float

FAR = 1.0  # a row this many ranges outside a column of the training data is far away


def column_name(model: Any, column: int) -> str:
    """The name that the column had in training, or its number."""
    names = getattr(model, "feature_names_in_", None)
    return f"column {column}" if names is None else str(names[column])


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
