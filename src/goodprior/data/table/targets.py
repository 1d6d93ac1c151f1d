"""The targets of a table: numbers or labels."""

import numpy as np
import pandas as pd
from pandas.api import types

from goodprior.data.table import parse
from goodprior.data.table.errors import (
    Series,
    TableError,
    refuse_absent,
    refuse_infinite,
    refuse_missing,
)


def target_values(frame: pd.DataFrame, target: str | list[str]) -> np.ndarray:
    """Return the targets: numbers, true or false, or text for classes; a matrix for several names.

    >>> target_values(pd.DataFrame({"y": ["a", "b"], "x": [1, 2]}), "y").tolist()
    ['a', 'b']
    """
    frame = frame.rename(columns=str)
    names = [target] if isinstance(target, str) else list(target)
    refuse_absent(names, frame, arguments=("target",))
    refuse_missing(frame[names], impute=False)
    if isinstance(target, str):
        return _target(frame[target])
    values = [_target(frame[name]) for name in names]
    if not values or any(v.dtype.kind not in "fiu" for v in values):
        raise TableError(f"several targets must all be numbers: {', '.join(names)}")
    return np.stack(values, axis=1).astype(np.float64)


def looks_like_classes(y: np.ndarray) -> bool:
    """Return whether targets are labels.

    These are text, true or false, two whole numbers, and 0 (or 1), 2, 3, … up to 10 of them.

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
        refuse_infinite(name, values, found)
        return found
    text = parse.as_text(values)
    parse.refuse_numbers_as_text(name, text)
    return text.to_numpy(str)
