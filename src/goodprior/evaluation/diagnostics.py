"""Whether to trust the draws: R-hat, effective sample size and Monte Carlo error of functions.

All of it is computed on the probe trace, function values at some training points along the chains.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from arviz_stats.base.array import array_stats
from jaxtyping import Float

from goodprior.inference.posterior import Posterior
from goodprior.inference.samplers.base import SamplerReport

MAX_RHAT = 1.1
MIN_ESS = 100
ENERGY_BAND = 4.0  # a larger energy error than so many times the asked one is too large
MAX_KINETIC_TEMPERATURE = 10.0  # relative to the expected one; draws beyond are not to be trusted


@dataclass(frozen=True)
class Diagnostics:
    """Convergence of function values, and the sampler's own report.

    Attributes
    ----------
    rhat
        Rank-normalised R-hat of each probed function value; NaN with a single chain.
    ess
        Bulk effective sample size.
    mcse
        Monte Carlo standard error of the posterior mean, in posterior standard deviations.
    sampler
        What the sampler reports: temperatures, divergences and so on.
    chains
        How many there are.
    """

    rhat: Float[np.ndarray, " values"]
    ess: Float[np.ndarray, " values"]
    mcse: Float[np.ndarray, " values"]
    sampler: SamplerReport
    chains: int

    @property
    def summary(self) -> dict[str, int | float]:
        """The worst and median figures, and the sampler's numbers, by name."""
        return {
            "rhat_max": float(self.rhat.max()),
            "rhat_median": float(np.median(self.rhat)),
            "ess_min": float(self.ess.min()),
            "ess_median": float(np.median(self.ess)),
            "mcse_max": float(self.mcse.max()),
            **self.sampler.numbers,
        }

    @property
    def warnings(self) -> list[str]:
        """What was measured, what is expected and what to do; empty when nothing is wrong."""
        return [*self._convergence(), *self._sampler()]

    def _convergence(self) -> Iterator[str]:
        high = ~(self.rhat <= MAX_RHAT)  # NaN, from chains that do not move, is as bad
        if self.chains < 2:
            yield (
                "R-hat needs at least two chains and there is one, so convergence is unknown: "
                "increase chains"
            )
        elif high.any():
            finite = self.rhat[np.isfinite(self.rhat)]
            found = f"up to {finite.max():.2f}" if len(finite) else "undefined"
            yield (
                f"R-hat is {found} (expected at most {MAX_RHAT}) and too high for "
                f"{high.mean():.0%} of the probed function values: increase draws or thinning"
            )
        if (self.ess < MIN_ESS).any():
            yield (
                f"the effective sample size is as low as {self.ess.min():.0f} (expected at least "
                f"{MIN_ESS}), so quantiles are rough: increase draws or thinning"
            )

    def _sampler(self) -> Iterator[str]:
        asked, middle = self.sampler.temperature, self.sampler.temperature_50
        if middle is not None and abs(middle / asked - 1) > 0.1:
            yield (
                f"the median sampled temperature is {middle:.3g} (expected {asked:g}): reduce "
                "step_size or increase batch_size"
            )
        kinetic = self.sampler.kinetic_temperature
        if kinetic is not None and kinetic > MAX_KINETIC_TEMPERATURE:
            yield f"kinetic temperature reached {kinetic:.1f} (expected 1): reduce step_size"
        error, asked = self.sampler.energy_error, self.sampler.energy_error_asked
        if error is not None and asked is not None and error > ENERGY_BAND * asked:
            yield (
                f"the energy error of a step is {error:.2g} per dimension (expected at most "
                f"{ENERGY_BAND * asked:.2g}), so draws are biased: reduce energy_error or increase "
                "burn_in"
            )
        if error is not None and asked is not None and error < asked / ENERGY_BAND**2:
            yield (
                f"the energy error of a step is {error:.2g} per dimension (expected about "
                f"{asked:.2g}), so the step is shorter than it need be: increase burn_in"
            )
        if divergences := self.sampler.divergences:
            yield (
                f"{divergences} NUTS transitions diverged (expected none), so some regions of the "
                "posterior may be missed: increase burn_in"
            )

    def __str__(self) -> str:
        lines = [f"{name:>16}  {value:.4g}" for name, value in self.summary.items()]
        return "\n".join(lines + [f"warning: {text}" for text in self.warnings])


def diagnose(posterior: Posterior) -> Diagnostics:
    """R-hat, effective sample size and Monte Carlo error of the probed function values.

    Parameters
    ----------
    posterior
        What a sampler returned; its probe trace is used.

    Returns
    -------
    Diagnostics
        Rank-normalised R-hat, bulk ESS and the Monte Carlo standard error of the mean.

    Raises
    ------
    ValueError
        If the probe trace has fewer than four entries per chain.

    Notes
    -----
    A network's weights have symmetries, so that chains need not agree on them.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import Dense
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(Dense(1, 1, key=jax.random.key(0)))
    >>> draws = jax.tree.map(lambda leaf: leaf[None, None], prior.sample(jax.random.key(0)))
    >>> report = SamplerReport("nuts", steps=200, temperature=1.0, step_size=0.1)
    >>> probe = np.random.default_rng(0).normal(size=(4, 200, 3)).astype(np.float32)
    >>> diagnose(Posterior(prior, Gaussian(0.1), draws, probe, report)).warnings
    []
    """
    trace = np.asarray(posterior.probe, np.float64)  # chains, times, values
    values = np.moveaxis(trace, -1, 0)
    if values.shape[-1] < 4:
        raise ValueError(
            "diagnostics need at least 4 entries of the probe trace per chain, there are "
            f"{values.shape[-1]}: increase draws or thinning"
        )
    std = values.std(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that do not move
        return Diagnostics(
            rhat=np.asarray(array_stats.rhat(values)),
            ess=np.asarray(array_stats.ess(values)),
            mcse=np.asarray(array_stats.mcse(values)) / np.where(std > 0, std, 1.0),
            sampler=posterior.report,
            chains=len(trace),
        )
