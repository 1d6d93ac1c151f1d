"""Whether to trust the draws: R-hat, effective sample size and Monte Carlo error of functions.

All of it is computed on the probe trace, function values at some training points along the chains.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from arviz_stats.base.array import array_stats
from jaxtyping import Bool, Float

from goodprior.inference.likelihoods import Heteroscedastic
from goodprior.inference.posterior import Posterior
from goodprior.inference.samplers.base import SamplerReport

MAX_RHAT = 1.1
MIN_ESS = 100.0
NEARLY = 1.1  # an R-hat below this is not that of different modes
STUCK = 0.85  # R-hat - 1 of the whole run, relative to that of its first half, which does not fall
ENERGY_BAND = 4.0  # a larger energy error than so many times the asked one is too large
MAX_KINETIC_TEMPERATURE = 10.0  # relative to the expected one; draws beyond are not to be trusted


@dataclass(frozen=True)
class Diagnostics:
    """Convergence of function values, and the sampler's own report.

    Attributes
    ----------
    rhat
        Rank-normalised R-hat of each probed value; NaN with a single chain.
    ess, ess_tail
        Effective sample size, in the bulk and in the tails.
    mcse
        Monte Carlo standard error of the posterior mean, in posterior standard deviations.
    is_noise
        Which values are log noise variances; the others are function values.
    sampler
        What the sampler reports: temperatures, divergences and so on.
    chains
        How many there are.
    max_rhat, min_ess
        What draws that are to be trusted have.
    rhat_half
        The worst R-hat of the first half of the chains; None where it was not asked for.
    """

    rhat: Float[np.ndarray, " values"]
    ess: Float[np.ndarray, " values"]
    ess_tail: Float[np.ndarray, " values"]
    mcse: Float[np.ndarray, " values"]
    is_noise: Bool[np.ndarray, " values"]
    sampler: SamplerReport
    chains: int
    max_rhat: float = MAX_RHAT
    min_ess: float = MIN_ESS
    rhat_half: float | None = None

    @property
    def is_improving(self) -> bool:
        """Whether longer chains agree better, so that sampling longer helps.

        Where chains mix, R-hat - 1 falls as one over the length: to a half from the first half of
        the run to the whole. In different modes it stays.
        """
        if self.rhat_half is None or not np.isfinite(self.rhat_half):
            return True
        worst = np.nanmax(self.rhat)
        return bool(worst < NEARLY or worst - 1 < STUCK * (self.rhat_half - 1))

    @property
    def summary(self) -> dict[str, int | float]:
        """The worst and median figures, and the sampler's numbers, by name."""
        of_each = {
            "rhat_functions": float(self.rhat[~self.is_noise].max()),
            "rhat_noise": float(self.rhat[self.is_noise].max(initial=0)),
        }
        return {
            "rhat_max": float(self.rhat.max()),
            "rhat_median": float(np.median(self.rhat)),
            **(of_each if self.is_noise.any() else {}),
            "ess_min": float(self.ess.min()),
            "ess_median": float(np.median(self.ess)),
            "ess_tail_min": float(self.ess_tail.min()),
            "mcse_max": float(self.mcse.max()),
            **self.sampler.numbers,
        }

    @property
    def converged(self) -> bool:
        """Whether chains agree, and have moved enough, for the draws to be trusted."""
        return self.chains > 1 and not any(self._convergence())

    @property
    def warnings(self) -> list[str]:
        """What was measured, what is expected and what to do; empty when nothing is wrong."""
        return [*self._convergence(), *self._sampler()]

    def _convergence(self) -> Iterator[str]:
        high = ~(self.rhat <= self.max_rhat)  # NaN, from chains that do not move, is as bad
        if self.chains < 2:
            yield (
                "R-hat needs at least two chains and there is one, so convergence is unknown: "
                "increase chains"
            )
        elif high.any():
            finite = self.rhat[np.isfinite(self.rhat)]
            # rounded up: 1.053 is more than 1.05
            found = f"up to {np.ceil(100 * finite.max()) / 100:.2f}" if len(finite) else "undefined"
            yield (
                f"R-hat is {found} (expected at most {self.max_rhat:g}) and too high for "
                f"{self._share(high)}: chains do not agree yet, so error bars are provisional; "
                f"{self._advice}"
            )
        if (self.ess < self.min_ess).any():
            yield (
                f"the effective sample size is as low as {self.ess.min():.0f} (expected at least "
                f"{self.min_ess:g}), so quantiles are rough: {self._advice}"
            )

    @property
    def _advice(self) -> str:
        """To sample longer, but only where that has helped so far."""
        if self.is_improving:
            return "sample longer"
        return (
            f"R-hat was {self.rhat_half:.2f} after half of the run, so longer chains may not help; "
            "what may, unless it is so already: method mclmc, likelihood gaussian, a stated belief "
            "without hidden"
        )

    def _share(self, bad: np.ndarray) -> str:
        """How many of the values are bad, in words."""
        functions = f"{bad[~self.is_noise].mean():.0%} of the probed function values"
        if not self.is_noise.any():
            return functions
        return f"{functions} and {bad[self.is_noise].mean():.0%} of the noise levels"

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


def diagnose(
    posterior: Posterior, *, max_rhat: float = MAX_RHAT, min_ess: float = MIN_ESS
) -> Diagnostics:
    """R-hat, effective sample size and Monte Carlo error of the probed function values.

    Parameters
    ----------
    posterior
        What a sampler returned; its probe trace is used.
    max_rhat, min_ess
        What draws that are to be trusted have.

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
    std, half = values.std(axis=(1, 2)), values.shape[-1] // 2
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that do not move
        rhat = np.asarray(array_stats.rhat(values))
        early = None
        if half >= 4 and not (rhat <= max_rhat).all():
            early = float(np.max(array_stats.rhat(values[..., :half])))
        return Diagnostics(
            rhat=rhat,
            ess=np.asarray(array_stats.ess(values)),
            ess_tail=np.asarray(array_stats.ess(values, method="tail", prob=(0.05, 0.95))),
            mcse=np.asarray(array_stats.mcse(values)) / np.where(std > 0, std, 1.0),
            is_noise=_is_noise(posterior, len(values)),
            sampler=posterior.report,
            chains=len(trace),
            max_rhat=max_rhat,
            min_ess=min_ess,
            rhat_half=early,
        )


def _is_noise(posterior: Posterior, values: int) -> np.ndarray:
    """Which probed values are log noise variances: the latter half, where the network says them."""
    learned = isinstance(posterior.likelihood, Heteroscedastic)
    return np.arange(values) >= (values // 2 if learned else values)
