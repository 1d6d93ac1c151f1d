"""How much functions vary with a column, and over which length."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

GLANCED = 100  # rows by which groups are chosen, where only some are asked for
EXCHANGES = 4  # permutations of the rows over which a share is averaged
STEP = 0.01  # of the central differences, in standard deviations of the column
SMALLEST = float(np.finfo(np.float32).tiny)  # stands for a variance of zero
NEGLIGIBLE = 0.01  # a share of the variance below which a column is said to hardly matter

Rows = Float[np.ndarray, "rows columns"]
Functions = Float[np.ndarray, "draws rows outputs"]


class Relevance(NamedTuple):
    """How much functions vary with a column, and over which length.

    Parameters
    ----------
    column
        Its name, or the group's.
    share, share_lower, share_upper
        Half the mean squared change when the column's values are exchanged among the rows, as a
        share of the function's variance over them (the total-effect Sobol index): median and
        central interval over draws. Shares add up to more than 1 where columns interact.
    lengthscale, lower, upper
        The function's standard deviation over the rows divided by its root-mean-square slope along
        the column, in the column's units: the lengthscale of a Gaussian process with an RBF kernel
        and such functions. A straight line has the standard deviation of the column. NaN for groups
        and for columns with fewer than three different values, along which there is no slope.
    noun
        What varies: `functions`, or a classifier's `logits`.

    Examples
    --------
    >>> print(Relevance("dose", 0.9, 0.85, 0.95, 2.1, 1.8, 2.4))
    functions vary over about 2.1 (1.8 to 2.4) in dose: 90 % of their variance
    >>> print(Relevance("site", 0.002, 0.0, 0.01, 55.0, 40.0, 90.0))
    functions hardly vary with site: 0.2 % of their variance
    """

    column: str
    share: float
    share_lower: float
    share_upper: float
    lengthscale: float
    lower: float
    upper: float
    noun: str = "functions"

    def __str__(self) -> str:
        percent = min(100 * self.share, 100.0)  # the estimate of nearly all may be above
        share = f"{percent:.{0 if percent >= 1 else 1}f} % of their variance"
        if self.share < NEGLIGIBLE:
            return f"{self.noun} hardly vary with {self.column}: {share}"
        if np.isnan(self.lengthscale):
            return f"{self.noun} vary with {self.column}: {share}"
        length = f"{self.lengthscale:.2g} ({self.lower:.2g} to {self.upper:.2g})"
        return f"{self.noun} vary over about {length} in {self.column}: {share}"


def relevance_of(
    functions: Callable[[Rows], Functions],
    rows: Rows,
    groups: Mapping[str, list[int]],
    level: float = 0.95,
    noun: str = "functions",
    most: int | None = None,
) -> list[Relevance]:
    """The relevance of each group of columns, most relevant first.

    Parameters
    ----------
    functions
        Draws of the function at given rows.
    rows
        Over which functions vary.
    groups
        Numbers of the columns by name; those of a group are exchanged together.
    level
        Of the intervals over draws.
    noun
        What the draws are called.
    most
        How many groups, where there are more: those with which functions vary most at a glance.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(300, 2))
    >>> steep_in_first = lambda rows: (3 * rows[:, :1] + rows[:, 1:])[None]
    >>> for each in relevance_of(steep_in_first, rows, {"a": [0], "b": [1]}):
    ...     print(each)
    functions vary over about 1.1 (1.1 to 1.1) in a: 93 % of their variance
    functions vary over about 3.2 (3.2 to 3.2) in b: 10 % of their variance
    """
    if most is not None and len(groups) > most:
        groups = _with_most_change(functions, rows, groups, most)
    values = functions(rows)
    levels = [0.5, (1 - level) / 2, (1 + level) / 2]
    found = []
    for name, columns in groups.items():
        middle, low, high = np.quantile(_share(functions, rows, values, columns), levels).tolist()
        lengths = np.quantile(_lengthscale(functions, rows, values, columns), levels).tolist()
        found.append(Relevance(name, middle, low, high, *lengths, noun=noun))
    return sorted(found, key=lambda each: -each.share)


def _with_most_change(
    functions: Callable[[Rows], Functions], rows: Rows, groups: Mapping[str, list[int]], most: int
) -> dict[str, list[int]]:
    rows = rows[np.linspace(0, len(rows) - 1, min(GLANCED, len(rows))).round().astype(int)]
    values = functions(rows)
    changes = {n: mean_square_change(functions, rows, values, c) for n, c in groups.items()}
    return {name: groups[name] for name in sorted(changes, key=lambda n: -changes[n])[:most]}


def mean_square_change(
    functions: Callable[[Rows], Functions], rows: Rows, values: Functions, columns: list[int]
) -> float:
    """How much functions change when the columns' values are exchanged among the rows, quickly."""
    others = np.random.default_rng(0).permutation(rows[:, columns])
    changed = functions(with_values(rows, columns, others))
    return float(_mean_square(changed - values).mean())


def with_values(rows: Rows, columns: list[int], values: object) -> Rows:
    """The rows with these values in some columns."""
    changed = rows.copy()
    changed[:, columns] = values
    return changed


def _share(
    functions: Callable[[Rows], Functions], rows: Rows, values: Functions, columns: list[int]
) -> Float[np.ndarray, " draws"]:
    """Each draw's total-effect Sobol index of the columns, by exchanging their values."""
    rng = np.random.default_rng(0)
    others = (rng.permutation(rows[:, columns]) for _ in range(EXCHANGES))
    changes = [_mean_square(functions(with_values(rows, columns, o)) - values) for o in others]
    return np.mean(changes, axis=0) / (2 * _variance(values))


def _lengthscale(
    functions: Callable[[Rows], Functions], rows: Rows, values: Functions, columns: list[int]
) -> Float[np.ndarray, " draws"]:
    """Each draw's standard deviation over its root-mean-square slope along one column."""
    at = rows[:, columns]
    if len(columns) > 1 or len(np.unique(at)) < 3:
        return np.full(len(values), np.nan)
    step = STEP * float(at.std())
    ahead, behind = (functions(with_values(rows, columns, at + by)) for by in (step, -step))
    gradient = _mean_square((ahead - behind) / (2 * step))
    return np.sqrt(_variance(values) / np.maximum(gradient, SMALLEST))


def _mean_square(values: Functions) -> Float[np.ndarray, " draws"]:
    return (values**2).mean(axis=1).sum(axis=-1)


def _variance(values: Functions) -> Float[np.ndarray, " draws"]:
    return np.maximum(values.var(axis=1).sum(axis=-1), SMALLEST)
