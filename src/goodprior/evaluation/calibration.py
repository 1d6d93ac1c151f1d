"""Simulation-based calibration: are ranks of the truth among posterior draws uniform?

A latent is drawn from the prior, targets are simulated with it, and the posterior given these is
sampled. If the sampler is right, the rank of the latent's function values (or of any other number)
among those of the draws is uniform (Talts et al. 2018). Beside function values, quantities that
depend on the data find more that is wrong, most of all the log likelihood (Modrak et al. 2023).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from arviz_stats.base.array import array_stats
from jaxtyping import Float, Int

from goodprior.evaluation.uniformity import Ranks

LEAST_ESS = 0.1  # so many of the simulations may have fewer effective draws than are ranked
P_VALUE = 0.01  # below which a calibration fails
REASONABLE = 20  # simulations, at least, for a verdict


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
