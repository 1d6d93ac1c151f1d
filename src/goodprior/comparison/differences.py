"""Whether one model predicts better than another: paired differences over folds."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

LEVEL = 0.95


class Difference(NamedTuple):
    """A score of the second model minus that of the first, over the folds that both have.

    Parameters
    ----------
    first, second
        Names of the models.
    mean, low, high
        Mean over folds and Student's interval (NaN for fewer than two folds).
    folds
        How many folds both have.

    Examples
    --------
    >>> difference = Difference("gpi-g", "fg", 0.2, 0.1, 0.3, 5)
    >>> print(difference, difference.decided)
    0.2 higher (95 % interval 0.1 to 0.3) True
    """

    first: str
    second: str
    mean: float
    low: float
    high: float
    folds: int

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out zero."""
        return bool(self.low > 0 or self.high < 0)

    def __str__(self) -> str:
        size = f"{abs(self.mean):.3g} {'higher' if self.mean >= 0 else 'lower'}"
        if self.folds < 2:
            return f"{size} (one fold says nothing of chance)"
        low, high = (self.low, self.high) if self.mean >= 0 else (-self.high, -self.low)
        return f"{size} (95 % interval {low:.3g} to {high:.3g})"


def paired_difference(
    scores: pd.DataFrame, score: str, first: str, second: str, planned: int
) -> Difference:
    """The difference of two models' scores over the folds that both have.

    Parameters
    ----------
    scores
        A row for each `model` and `fold`.
    score
        The column.
    first, second
        Names of the models.
    planned
        Into how many folds the rows were divided.

    Notes
    -----
    Folds share most of their training rows, so that their scores are not independent and the usual
    interval is too narrow. Its variance is enlarged by the ratio of test to training rows, as
    Nadeau and Bengio (Machine Learning 52, 2003) propose.

    Examples
    --------
    >>> scores = pd.DataFrame({"model": ["a", "a", "b", "b"], "fold": [1, 2, 1, 2],
    ...                        "nll": [1.0, 2.0, 1.5, 2.7]})
    >>> round(paired_difference(scores, "nll", "a", "b", 2).mean, 2)
    0.6
    """
    wide = scores.pivot_table(index="fold", columns="model", values=score)
    if first not in wide or second not in wide:
        return Difference(first, second, np.nan, np.nan, np.nan, 0)
    each = (wide[second] - wide[first]).dropna().to_numpy(float)
    mean = float(each.mean()) if len(each) else np.nan
    half = _half_width(each, planned)
    return Difference(first, second, mean, mean - half, mean + half, len(each))


def _half_width(each: np.ndarray, planned: int) -> float:
    count = len(each)
    if count < 2:
        return np.nan
    error = float(each.std(ddof=1)) * (1 / count + 1 / (planned - 1)) ** 0.5
    return float(stats.t.ppf(0.5 + LEVEL / 2, count - 1)) * error
