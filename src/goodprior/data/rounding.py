"""Targets that are recorded in steps, such as whole numbers, are known to within a step."""

import numpy as np
from jaxtyping import Float

FEW = 10  # values of which nothing is said
TIED = 0.5  # share of the values that another row has too, from which they are taken to be rounded
PARTS = 10  # of the smallest gap: a grid with gaps in it (2, 5, 9) has a step that divides them
TOLERANCE = 0.01  # of a step, by which values may be off the grid


def recorded_step(values: Float[np.ndarray, " rows"]) -> float:
    """The step in which values are recorded: 1 for whole numbers, 0 where there is none.

    Parameters
    ----------
    values
        Numbers that are repeated, if they are recorded in steps that are worth speaking of.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> recorded_step(rng.integers(3, 9, 100).astype(float)), recorded_step(rng.normal(size=100))
    (1.0, 0.0)
    """
    distinct, counts = np.unique(values, return_counts=True)
    tied = counts[counts > 1].sum() / len(values)
    if len(values) < FEW or len(distinct) < 2 or tied < TIED:
        return 0.0
    above = distinct - distinct[0]
    for parts in range(1, PARTS + 1):
        step = np.diff(distinct).min() / parts
        if np.abs(above / step - np.round(above / step)).max() < TOLERANCE:
            return float(step)
    return 0.0


def rounding_variances(y: Float[np.ndarray, "rows targets"]) -> Float[np.ndarray, " targets"]:
    """The variance of what rounding leaves out: a twelfth of the squared step, for each target.

    Parameters
    ----------
    y
        Targets on their original scale.

    Examples
    --------
    >>> rounding_variances(np.repeat([[3.0], [4.0], [5.0]], 10, axis=0)).round(3).tolist()
    [0.083]
    """
    return np.array([recorded_step(column) ** 2 / 12 for column in np.asarray(y).T])
