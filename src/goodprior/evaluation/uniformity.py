"""Whether ranks are uniform: exact simultaneous bands and p-values of their distribution function.

Ranks are discrete and so are the counts of those below a number, so that neither needs simulations
(Säilynoja, Bürkner and Vehtari 2022, Graphical test for discrete uniformity).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import bdtr, bdtrc, gammaln

from goodprior import checks

MOST_POINTS = 60  # at which an empirical distribution function is compared


class Band(NamedTuple):
    """What an empirical distribution function of ranks does, all at once, so often.

    Attributes
    ----------
    points
        Where it is compared: probabilities between 0 and 1.
    low, high
        The least and greatest share of ranks there.
    """

    points: Float[np.ndarray, " points"]
    low: Float[np.ndarray, " points"]
    high: Float[np.ndarray, " points"]


@dataclass(frozen=True)
class Ranks:
    """Ranks of a test quantity, one for each simulated data set.

    Parameters
    ----------
    name
        Of the quantity.
    ranks
        How many of the draws were below the truth.
    draws
        How many there were: ranks go from 0 to `draws`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> right = Ranks("uniform", rng.integers(0, 20, 200), 19)
    >>> narrow = Ranks("too narrow", np.clip(rng.integers(-4, 24, 200), 0, 19), 19)
    >>> right.p_value > 0.05, narrow.p_value < 1e-6
    (True, True)
    """

    name: str
    ranks: Int[np.ndarray, " simulations"]
    draws: int

    @property
    def points(self) -> Int[np.ndarray, " points"]:
        """The ranks below which the ranks are counted, at most so many, evenly spread."""
        count = min(self.draws, MOST_POINTS)
        return np.unique(np.linspace(1, self.draws, count).round().astype(int))

    @property
    def shares(self) -> Float[np.ndarray, " points"]:
        """The empirical distribution function there: the share of ranks below each of them."""
        return self._counts / len(self.ranks)

    @property
    def _counts(self) -> Int[np.ndarray, " points"]:
        return np.searchsorted(np.sort(self.ranks), self.points, side="left")

    @cached_property
    def p_value(self) -> float:
        """How often uniform ranks stray as far somewhere: exact, over all points at once."""
        probabilities = self.points / (self.draws + 1)
        counts, n = self._counts, len(self.ranks)
        least = float(np.min(_tails(counts, n, probabilities)))
        return float(np.clip(1 - _coverage(least * (1 + 1e-9), n, probabilities), 0.0, 1.0))

    def band(self, level: float = 0.95) -> Band:
        """What the distribution function of so many uniform ranks does, with this probability."""
        points = self.points / (self.draws + 1)
        low, high = _limits(len(self.ranks), tuple(points), checks.fraction("level", level))
        return Band(points, low, high)

    def histogram(self, bins: int = 10) -> Int[np.ndarray, " bins"]:
        """How many ranks there are in each of some bins of about equal width."""
        edges = np.linspace(0, self.draws + 1, min(bins, self.draws + 1) + 1).round()
        return np.histogram(self.ranks, edges)[0]

    @property
    def leaning(self) -> str:
        """What the ranks say of the posterior, in words: which way its draws are wrong."""
        place = (self.ranks + 0.5) / (self.draws + 1) - 0.5
        error = len(place) ** -0.5
        expected = (1 - (self.draws + 1.0) ** -2) / 12
        shift = place.mean() / (error * 12**-0.5)
        spread = ((place**2).mean() - expected) / (error * 180**-0.5)
        if max(abs(shift), abs(spread)) < 2:
            return "as they should be"
        if abs(shift) > abs(spread):
            return "draws are too small" if shift > 0 else "draws are too large"
        return "draws are too narrow" if spread > 0 else "draws are too wide"


@lru_cache(maxsize=64)
def _limits(
    n: int, probabilities: tuple[float, ...], level: float
) -> tuple[np.ndarray, np.ndarray]:
    """The widest pointwise limits that hold all counts at once so often, as shares."""
    at = np.array(probabilities)
    low, high = 0.0, (1 - level) / 2 * 1.0001
    for _ in range(20):  # the pointwise tail probability, by bisection
        middle = (low + high) / 2
        low, high = (middle, high) if _coverage(middle, n, at) >= level else (low, middle)
    least, greatest = _inside(low, n, at)
    return least / n, greatest / n


def _inside(tail: float, n: int, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and greatest counts whose tails, both ways, are more probable than `tail`."""
    inside = np.all(_tails(np.arange(n + 1)[:, None], n, probabilities) > tail, axis=0)
    return inside.argmax(axis=0), n - inside[::-1].argmax(axis=0)


def _tails(counts: np.ndarray, n: int, probabilities: np.ndarray) -> np.ndarray:
    """The probabilities of at most and of at least so many among n."""
    above = np.where(counts > 0, bdtrc(np.maximum(counts - 1, 0), n, probabilities), 1.0)
    return np.stack(np.broadcast_arrays(bdtr(counts, n, probabilities), above))


def _coverage(tail: float, n: int, probabilities: np.ndarray) -> float:
    """How often the counts of n uniform numbers below all points have tails above `tail`.

    A count given the one before is binomial: probabilities of all counts that are inside so far
    are carried from point to point (Säilynoja et al. 2022, algorithm 2).
    """
    least, greatest = _inside(tail, n, probabilities)
    counts, mass, before = np.zeros(1, int), np.ones(1), 0.0
    for probability, low, high in zip(probabilities, least, greatest, strict=True):
        reached = np.arange(low, high + 1)
        step = (probability - before) / (1 - before)
        mass = mass @ _binomial(reached - counts[:, None], n - counts[:, None], step)
        counts, before = reached, probability
    return float(mass.sum())


def _binomial(k: np.ndarray, n: np.ndarray, p: float) -> np.ndarray:
    """The probabilities of k among n, zero where that is impossible."""
    possible = (k >= 0) & (k <= n)
    k = np.where(possible, k, 0)
    log = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + k * np.log(p)
    return np.where(possible, np.exp(log + (n - k) * np.log1p(-p)), 0.0)
