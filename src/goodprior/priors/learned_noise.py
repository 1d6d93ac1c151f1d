"""Noise that is learned together with the weights: a level, or one that depends on the inputs."""

from math import log
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.beliefs import About, Factor, SumOfTerms, Term
from goodprior.distributions import LogNormal
from goodprior.priors.base import Latent, Prior

NOISE_VARIANCE = LogNormal(log(0.1), 4.0)  # what estimators believe, of standardised targets
NOISE_VARIATION = 1.0  # standard deviation of what the inputs add to its logarithm
LEAST_NOISE_VARIANCE = 1e-4  # a noise that is learned stays above 1 %


def log_noise_belief(inputs: int, outputs: int) -> SumOfTerms:
    """A belief about noise that depends on the inputs, for `Heteroscedastic` likelihoods.

    It is about the log variance relative to a typical one: a level, of which little is known, and
    what is added to it by the inputs, over the same lengths as in `HierarchicalGP.default`.

    Parameters
    ----------
    inputs : int
        Columns of the standardised inputs.
    outputs : int
        Targets, with a noise of their own each.

    Returns
    -------
    SumOfTerms
        To be stacked on the belief about the functions.

    Examples
    --------
    >>> log_noise_belief(3, outputs=2).outputs
    2
    """
    length = About((2 * inputs) ** 0.5)
    level = Term(About(NOISE_VARIANCE.variance**0.5))
    varying = Term(About(NOISE_VARIATION), tuple(Factor(i, length) for i in range(inputs)))
    return SumOfTerms((level, varying), (1.0,) * outputs)


class WithNoise(NamedTuple):
    """The latent of a prior, and the log noise variance of each target."""

    inner: Latent
    log_variance: Float[Array, " targets"]


class NoisyNetwork(eqx.Module):
    """A network whose outputs are followed by the log noise variances."""

    network: PyTree
    log_variance: Float[Array, " targets"]

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, " out"]:
        return jnp.concatenate([self.network(x), self.log_variance])


class LearnedNoise(Prior):
    """Any prior, with a log-normal noise variance beside it for a `Heteroscedastic` likelihood.

    The variance is the same for all inputs.

    Parameters
    ----------
    inner : Prior
        The prior over the network's weights.
    noise_variance : LogNormal
        Of the noise variance. On standardised targets the default says: most likely around 0.1,
        between 0.002 and 5 with 95 % probability.
    targets : int
        How many noise variances there are.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> prior = LearnedNoise(GaussianPrior(MLP(1, (5,), 1, key=jax.random.key(0))))
    >>> prior.functions(jax.random.key(1), jax.numpy.zeros((4, 1)), 3).shape
    (3, 4, 2)
    """

    inner: Prior
    noise_variance: LogNormal
    targets: int = eqx.field(static=True)

    def __init__(
        self,
        inner: Prior,
        noise_variance: LogNormal = LogNormal(-2.3, 4.0),  # noqa: B008
        targets: int = 1,
    ):
        self.inner = inner
        self.noise_variance = noise_variance
        self.targets = checks.whole("targets", targets)

    @property
    def refresh_every(self) -> int:  # type: ignore[override]
        return self.inner.refresh_every

    @property
    def moving(self) -> PyTree[bool]:
        return WithNoise(self.inner.moving, True)  # type: ignore[arg-type]

    def sample(self, key: PRNGKeyArray) -> Latent:
        key_inner, key_noise = jax.random.split(key)
        log_variance = jnp.log(self.noise_variance.sample(key_noise, (self.targets,)))
        return WithNoise(self.inner.sample(key_inner), log_variance)

    def start(self, key: PRNGKeyArray) -> Latent:
        log_variance = jnp.full(self.targets, self.noise_variance.location, jnp.float32)
        return WithNoise(self.inner.start(key), log_variance)

    def weights(self, latent: Latent) -> PyTree:
        return NoisyNetwork(self.inner.weights(latent.inner), latent.log_variance)

    def log_prob(self, latent: Latent) -> Float[Array, ""]:
        d = self.noise_variance
        noise = norm.logpdf(latent.log_variance, d.location, d.variance**0.5).sum()
        return self.inner.log_prob(latent.inner) + noise

    def refresh(self, key: PRNGKeyArray, latent: Latent) -> Latent:
        return WithNoise(self.inner.refresh(key, latent.inner), latent.log_variance)

    def deviations(self) -> Latent:
        spread = jnp.full(self.targets, self.noise_variance.variance**0.5, jnp.float32)
        return WithNoise(self.inner.deviations(), spread)

    def gaussian_part(self, latent: Latent) -> PyTree | None:
        return self.inner.gaussian_part(latent.inner)

    def scale_penalty(self) -> Float[Array, ""]:
        return self.inner.scale_penalty()
