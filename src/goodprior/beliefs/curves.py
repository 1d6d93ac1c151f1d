"""What functions are like, learned from a few examples of them."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from goodprior.beliefs.fit import fit_belief

LEAST = 5  # points of a curve


class Learned(NamedTuple):
    """What curves have in common.

    Attributes
    ----------
    column : str
        The name of their points' column.
    curves : int
        How many curves there are.
    kernel : str
        That explains them best.
    lengthscale, amplitude : float
        In the units of the points and of the curves.
    """

    column: str
    curves: int
    kernel: str
    lengthscale: float
    amplitude: float


def learn_curves(curves: Any) -> Learned:
    """The kernel, lengthscale and amplitude with which curves are likeliest.

    Curves are draws of one Gaussian process around their common mean, with a little noise.

    Parameters
    ----------
    curves : table
        Points in the first column, a curve in each other: a DataFrame, an array, or a mapping from
        names to values.

    Examples
    --------
    >>> x = np.linspace(0, 10, 40)
    >>> learned = learn_curves({"age": x, "first": 5 * np.sin(x), "second": 5 * np.cos(x)})
    >>> learned.column, learned.curves, learned.kernel
    ('age', 2, 'rbf')
    """
    try:
        table = pd.DataFrame(curves)
        values = table.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "curves must be a table of numbers: points in the first column, a curve in each other "
            f"({error})"
        ) from None
    rows, columns = values.shape
    if columns < 2 or rows < LEAST:
        raise ValueError(
            f"curves must have a column of points, at least one curve and {LEAST} rows; got "
            f"{columns} columns and {rows} rows"
        )
    if not np.isfinite(values).all():
        names = [
            str(table.columns[i]) for i in range(columns) if not np.isfinite(values[:, i]).all()
        ]
        raise ValueError(f"curves must be finite numbers throughout; these are not: {names}")
    points, functions = values[:, :1], values[:, 1:] - values[:, 1:].mean()
    spread, unit = float(functions.std()), float(points.std())
    if not (spread > 0 and unit > 0):
        raise ValueError("curves must vary, and so must their points")
    fitted = fit_belief((points - points.mean()) / unit, functions / spread, trend=False)
    (term,) = fitted.belief.terms
    return Learned(
        str(table.columns[0]),
        columns - 1,
        fitted.kernel,
        term.factors[0].lengthscale.median * unit,
        term.amplitude.median * spread,
    )
