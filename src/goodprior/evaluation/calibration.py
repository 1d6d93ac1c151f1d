"""Simulation-based calibration: are ranks of the truth among posterior draws uniform?

A latent is drawn from the prior, targets are simulated with it, and the posterior given these is
sampled. If the sampler is right, the rank of the latent's function values (or of any other number)
among those of the draws is uniform (Talts et al. 2018). Beside function values, quantities that
depend on the data find more that is wrong, most of all the log likelihood (Modrak et al. 2023).

Uniformity is judged by the empirical distribution function of the ranks, with bands that hold all
of it at once (Säilynoja, Bürkner and Vehtari 2022). Ranks are discrete and so are the counts of
those below a number, so that both bands and p-values are exact here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from arviz_stats.base.array import array_stats
from jaxtyping import Float, Int
from scipy.special import bdtr, bdtrc, gammaln

from goodprior import checks

MOST_POINTS = 60  # at which an empirical distribution function is compared
LEAST_ESS = 0.1  # so many of the simulations may have fewer effective draws than are ranked
P_VALUE = 0.01  # below which a calibration fails
REASONABLE = 20  # simulations, at least, for a verdict


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


@dataclass(frozen=True)
class Calibration:
    """What simulated data sets say of a prior, a sampler and rows.

    Parameters
    ----------
    quantities
        Ranks of each test quantity.
    asked
        How many simulations were asked for.
    failed
        How many could not be sampled: a chain left the finite numbers.
    about
        What was calibrated, in words.

    Examples
    --------
    >>> import numpy as np
    >>> ranks = np.random.default_rng(0).integers(0, 10, (2, 100))
    >>> found = Calibration((Ranks("function", ranks[0], 9), Ranks("noise", ranks[1], 9)), 100)
    >>> found.passed, found.simulations
    (True, 100)
    """

    quantities: tuple[Ranks, ...]
    asked: int
    failed: int = 0
    about: str = ""

    @property
    def simulations(self) -> int:
        """How many data sets were simulated and fitted."""
        return len(self.quantities[0].ranks)

    @property
    def p_value(self) -> float:
        """That of all quantities together: the least, times their number (Bonferroni)."""
        return min(1.0, len(self.quantities) * min(q.p_value for q in self.quantities))

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the posterior's draws."""
        return self.p_value > P_VALUE and not self.failed

    @property
    def verdict(self) -> str:
        """What was found, in a sentence."""
        if self.failed:
            return f"{self.failed} of {self.failed + self.simulations} simulations failed"
        if not self.passed:
            worst = min(self.quantities, key=lambda q: q.p_value)
            return (
                f"not calibrated: p = {self.p_value:.2g} over all quantities (expected above "
                f"{P_VALUE:g}), most of all {worst.name}, whose {worst.leaning}"
            )
        few = self.simulations < REASONABLE
        return f"nothing speaks against it: p = {self.p_value:.2g} over all quantities" + (
            f", but {self.simulations} simulations say little" if few else ""
        )

    def __str__(self) -> str:
        width = max(len(q.name) for q in self.quantities)
        lines = [
            f"{q.name:>{width}}  p = {q.p_value:.2g}, {q.draws} draws ranked, {q.leaning}"
            for q in self.quantities
        ]
        return "\n".join([*lines, f"{self.simulations} simulations: {self.verdict}"])

    def to_dict(self) -> dict[str, object]:
        """All of it in plain numbers and words, for JSON; `from_dict` reads it."""
        return {
            "about": self.about,
            "simulations": self.simulations,
            "asked": self.asked,
            "failed": self.failed,
            "p_value": self.p_value,
            "passed": self.passed,
            "verdict": self.verdict,
            "quantities": [
                {"name": q.name, "p_value": q.p_value, "draws": q.draws, "ranks": q.ranks.tolist()}
                for q in self.quantities
            ],
        }

    @classmethod
    def from_dict(cls, content: Any) -> "Calibration":
        """What `to_dict` made; anything else is a `ValueError`.

        >>> found = Calibration((Ranks("noise", np.array([3, 1]), 4),), 2)
        >>> Calibration.from_dict(found.to_dict()).quantities[0].ranks.tolist()
        [3, 1]
        """
        try:
            quantities = tuple(
                Ranks(str(q["name"]), np.array(q["ranks"], dtype=int), int(q["draws"]))
                for q in content["quantities"]
            )
            asked, failed = int(content["asked"]), int(content["failed"])
            about = str(content["about"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"these are no results of a calibration: {error!r}") from None
        lengths = {len(q.ranks) for q in quantities}
        right = len(lengths) == 1 and lengths != {0}
        if not right or any(
            q.draws < 1 or q.ranks.min() < 0 or q.ranks.max() > q.draws for q in quantities
        ):
            raise ValueError(
                "these are no results of a calibration: ranks must lie from 0 to draws"
            )
        return cls(quantities, asked, failed, about)


def calibration_of(
    names: Sequence[str],
    truth: Float[np.ndarray, "simulations quantities"],
    draws: Float[np.ndarray, "simulations chains draws quantities"],
    *,
    asked: int | None = None,
    failed: int = 0,
    about: str = "",
) -> Calibration:
    """The calibration that simulations have come to.

    Parameters
    ----------
    names
        Of the test quantities.
    truth, draws
        Their values for what each data set was simulated with, and for the posterior's draws.
    asked, failed, about
        As in `Calibration`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth, draws = rng.normal(size=(50, 1)), rng.normal(size=(50, 4, 25, 1))
    >>> calibration_of(["right"], truth, draws).passed
    True
    >>> calibration_of(["too narrow"], truth, 0.5 * draws).passed
    False
    """
    found = tuple(ranks_of(name, truth[:, i], draws[..., i]) for i, name in enumerate(names))
    return Calibration(found, len(truth) + failed if asked is None else asked, failed, about)


def ranks_of(
    name: str,
    truth: Float[np.ndarray, " simulations"],
    draws: Float[np.ndarray, "simulations chains draws"],
) -> Ranks:
    """Ranks of a quantity's true values among its draws, of which nearly independent ones count.

    Each chain keeps as many draws, evenly spread, as it is worth by the effective sample size,
    which a tenth of the simulations may miss: with draws that follow each other closely ranks would
    be at the ends too often, whatever the sampler does.

    Parameters
    ----------
    name
        Of the quantity.
    truth
        Its value for the latent that the data were simulated with.
    draws
        Its values for the posterior's draws.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = ranks_of("x", rng.normal(size=50), rng.normal(size=(50, 4, 25)))
    >>> found.ranks.shape, found.draws % 4
    ((50,), 0)
    """
    values, truth = np.asarray(draws, np.float64), np.asarray(truth, np.float64)
    _, chains, length = values.shape
    kept = values[:, :, _spread(length, _worth(values) // chains)]
    below = (kept < truth[:, None, None]).sum(axis=(1, 2))
    return Ranks(name, below, kept.shape[1] * kept.shape[2])


def _worth(values: np.ndarray) -> int:
    """The effective sample size that all but a tenth of the simulations have."""
    if values.shape[2] < 4:  # too few to tell
        return values.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that do not move
        ess = np.nan_to_num(np.asarray(array_stats.ess(values)))
    return int(np.quantile(ess, LEAST_ESS))


def _spread(length: int, count: int) -> Int[np.ndarray, " count"]:
    """So many of the numbers below `length`, evenly spread, the last one included."""
    count = int(np.clip(count, 1, length))
    return (length - 1 - np.arange(count) * (length / count)).astype(int)[::-1]


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
    inside = (_tails(np.arange(n + 1)[:, None], n, probabilities) > tail).all(axis=0)
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
