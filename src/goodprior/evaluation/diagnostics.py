"""Whether to trust the draws: R-hat, effective sample size and Monte Carlo error of functions.

Weights of a network have symmetries and need not mix; function values must. So everything is
computed on the probe trace, the functions' values at some training points along the chains.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from arviz_stats.base.array import array_stats
from jaxtyping import Float

from goodprior.inference.posterior import Posterior

HOT = 10.0  # the kinetic temperature, 1 by rights, beyond which draws are not to be trusted


@dataclass(frozen=True)
class Diagnostics:
    """Convergence of function values, and what the sampler reports of itself."""

    rhat: Float[np.ndarray, " values"]
    ess: Float[np.ndarray, " values"]
    mcse: Float[np.ndarray, " values"]  # of the posterior mean, in posterior standard deviations
    sampler: dict[str, Any]

    @property
    def summary(self) -> dict[str, float]:
        """The figures worth printing: worst R-hat and ESS among them."""
        return {
            "rhat_max": float(self.rhat.max()),
            "rhat_median": float(np.median(self.rhat)),
            "ess_min": float(self.ess.min()),
            "ess_median": float(np.median(self.ess)),
            "mcse_max": float(self.mcse.max()),
            **{k: v for k, v in self.sampler.items() if isinstance(v, int | float)},
        }

    @property
    def warnings(self) -> list[str]:
        """What is wrong, in words; empty when nothing is."""
        found = []
        high = float(np.mean(~(self.rhat <= 1.1)))  # NaN, from chains that do not move, is as bad
        if high > 0:
            found.append(
                f"R-hat is above 1.1 (up to {self.rhat.max():.2f}) for {high:.0%} of the probed "
                "function values: the chains disagree, sample longer"
            )
        if (self.ess < 100).any():
            found.append(
                f"the effective sample size falls to {self.ess.min():.0f}: "
                "quantiles are rough, sample longer"
            )
        asked = self.sampler.get("temperature", 1.0)
        middle = self.sampler.get("temperature_50", asked)
        if abs(middle / asked - 1) > 0.1:
            found.append(
                f"the sampled temperature is about {middle:.3g} where {asked:g} was asked: use a "
                'smaller step_size, a larger batch, or friction="per-weight"'
            )
        hottest = self.sampler.get("kinetic_temperature", 1.0)
        if hottest > HOT:
            found.append(
                f"chains were thrown about, with momenta {hottest:.0f} times as hot as they should "
                "be: use a smaller step_size"
            )
        if self.sampler.get("divergences", 0):
            found.append(f"{self.sampler['divergences']} divergent NUTS transitions")
        return found

    def __str__(self) -> str:
        lines = [f"{name:>16}  {value:.4g}" for name, value in self.summary.items()]
        return "\n".join(lines + [f"warning: {text}" for text in self.warnings])


def diagnose(posterior: Posterior) -> Diagnostics:
    """Rank-normalised R-hat, bulk ESS and Monte Carlo standard error of the probed functions."""
    trace = np.asarray(posterior.probe, np.float64)  # chains, times, values
    values = np.moveaxis(trace, -1, 0)
    if values.shape[-1] < 4:
        raise ValueError(
            f"diagnostics need at least 4 entries of the probe trace per chain, there are "
            f"{values.shape[-1]}: sample longer"
        )
    std = values.std(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that do not move
        return Diagnostics(
            rhat=np.asarray(array_stats.rhat(values)),
            ess=np.asarray(array_stats.ess(values)),
            mcse=np.asarray(array_stats.mcse(values)) / np.where(std > 0, std, 1.0),
            sampler=posterior.report,
        )
