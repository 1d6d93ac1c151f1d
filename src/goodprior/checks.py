"""Validation of arguments: errors name the argument, the rule and what was found."""

from collections.abc import Collection
from difflib import get_close_matches

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int


def matrix(name: str, value: object) -> Array:
    """`value` as a finite float32 matrix (rows, columns) with at least one row and column.

    Parameters
    ----------
    name : str
        Of the argument, for the message.
    value : array_like
        What was given.

    Raises
    ------
    ValueError
        If it is no such matrix. All functions here have these parameters and this error.

    Examples
    --------
    >>> matrix("X", [[1, 2], [3, 4]]).shape
    (2, 2)
    """
    array = _numbers(name, value)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} must be a table with rows and columns, at least one of each; "
            f"its shape is {array.shape}"
        )
    return array


def rows(name: str, value: object) -> Array:
    """Like `matrix`, but each row may also be an image (height, width, channels)."""
    array = _numbers(name, value)
    if array.ndim != 4:
        return matrix(name, array)
    if 0 in array.shape:
        raise ValueError(
            f"{name} must hold images with at least one pixel each; its shape is {array.shape}"
        )
    return array


def table(name: str, value: object) -> Array:
    """Like `matrix`, but a vector is taken as one column."""
    array = _numbers(name, value)
    return matrix(name, array[:, None] if array.ndim == 1 else array)


def labels(name: str, value: object, classes: int) -> Int[Array, " rows"]:
    """`value` as a vector of whole numbers from 0 to `classes` - 1; one column is taken as well."""
    array = np.asarray(value)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"{name} must be a vector of labels, one per row; its shape is {array.shape}"
        )
    rule = f"{name} must hold whole numbers from 0 to {classes - 1}"
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{rule}: {error}") from None
    if (
        not np.array_equal(numbers, np.round(numbers))
        or not 0 <= numbers.min() <= numbers.max() < classes
    ):
        raise ValueError(f"{rule}; found values from {numbers.min():g} to {numbers.max():g}")
    return jnp.asarray(numbers, jnp.int32)


def _numbers(name: str, value: object) -> Array:
    if isinstance(value, jax.core.Tracer):
        return value  # type: ignore[return-value]  # being traced: only its shape is known
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers only: {error}") from None
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise ValueError(
            f"{name} must be finite; it has {len(bad)} NaN or infinite values, "
            f"the first at index {tuple(int(i) for i in bad[0])}"
        )
    with np.errstate(over="ignore"):
        narrow = array.astype(np.float32)
    if not np.isfinite(narrow).all():
        raise ValueError(f"{name} has values beyond 3e38, too large for single precision; rescale")
    return jnp.asarray(narrow)


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    if not (isinstance(value, int | float | np.number) and np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number above zero, got {value!r}")
    return float(value)


def above_one(name: str, value: object) -> float:
    """A finite number above one."""
    if not (isinstance(value, int | float | np.number) and np.isfinite(value) and value > 1):
        raise ValueError(f"{name} must be a finite number above one, got {value!r}")
    return float(value)


def fraction(name: str, value: float) -> float:
    """A number above 0 and below 1."""
    if not (isinstance(value, int | float | np.number) and 0 < value < 1):
        raise ValueError(f"{name} must lie between 0 and 1, got {value!r}")
    return float(value)


def whole(name: str, value: int, *, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def one_of(name: str, value: str, options: Collection[str]) -> str:
    """One of the given words."""
    if value not in options:
        near = get_close_matches(str(value), options, 1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        known = ", ".join(sorted(options))
        raise ValueError(f"{name} must be one of {known}; got {value!r}{meant}")
    return value
