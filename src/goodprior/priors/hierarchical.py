"""Gaussian weights with uncertain scales: FH when fixed, GPi-H when matched."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.networks import Architecture
from goodprior.priors.base import Latent, Prior
from goodprior.priors.gaussian import softplus_inverse


class WeightsAndVariances(NamedTuple):
    """Weights, and the variance of each of the network's parameters."""

    weights: PyTree
    variances: Float[Array, " parameters"]


class HierarchicalPrior(Prior):
    """Each parameter's weights are N(0, variance), the variance InverseGamma(shape, rate).

    Two forms of the same prior. With `marginal=False` (the paper's, appendix A.5) the latent is
    weights and variances: samplers move the weights, and every `refresh_every` steps `refresh`
    draws the variances exactly given the weights (a Gibbs step). With `marginal=True` the
    variances are integrated out: the latent is the weights alone, a multivariate Student-t with 2
    `shape` degrees of freedom per parameter.

    >>> import jax
    >>> from goodprior.networks import MLP
    >>> prior = HierarchicalPrior(MLP(1, (50,), 1, key=jax.random.key(0)))
    >>> latent = prior.sample(jax.random.key(1))
    >>> latent.variances.shape, prior.refresh(jax.random.key(2), latent).variances.shape
    ((4,), (4,))
    """

    raw_shapes: Float[Array, " parameters"]
    raw_rates: Float[Array, " parameters"]
    architecture: Architecture
    marginal: bool = eqx.field(static=True)
    refresh_every: int = eqx.field(static=True)

    def __init__(
        self,
        network: PyTree,
        shape: float = 1.0,
        rate: float = 1.0,
        *,
        marginal: bool = False,
        refresh_every: int = 100,
    ):
        self.architecture = Architecture(network)
        count = len(self.architecture.parameters)
        self.raw_shapes = softplus_inverse(jnp.full(count, checks.positive("shape", shape)))
        self.raw_rates = softplus_inverse(jnp.full(count, checks.positive("rate", rate)))
        self.marginal = marginal
        self.refresh_every = 0 if marginal else checks.whole("refresh_every", refresh_every)

    def in_form(self, *, marginal: bool, refresh_every: int = 100) -> "HierarchicalPrior":
        """The same distribution of weights in the other form; a matched prior can change, too."""
        other = HierarchicalPrior(self.architecture, marginal=marginal, refresh_every=refresh_every)
        return eqx.tree_at(
            lambda p: (p.raw_shapes, p.raw_rates), other, (self.raw_shapes, self.raw_rates)
        )

    @property
    def shapes(self) -> Float[Array, " parameters"]:
        """The inverse-gamma shape of each parameter's variance."""
        return jax.nn.softplus(self.raw_shapes)

    @property
    def rates(self) -> Float[Array, " parameters"]:
        """The inverse-gamma rate of each parameter's variance."""
        return jax.nn.softplus(self.raw_rates)

    @property
    def moving(self) -> PyTree[bool]:
        return True if self.marginal else WeightsAndVariances(True, False)  # type: ignore[arg-type]

    def sample(self, key: PRNGKeyArray) -> Latent:
        key_variance, key_weights = jax.random.split(key)
        variances = _inverse_gamma(key_variance, self.shapes, self.rates)
        weights = self.architecture.scaled_normal(key_weights, jnp.sqrt(variances))
        return weights if self.marginal else WeightsAndVariances(weights, variances)

    def weights(self, latent: Latent) -> PyTree:
        return self.architecture.network(latent if self.marginal else latent.weights)

    def log_prob(self, latent: Latent) -> Float[Array, ""]:
        shapes, rates = self.shapes, self.rates
        half_sizes = jnp.array(self.architecture.sizes) / 2
        normalisation = shapes * jnp.log(rates) - gammaln(shapes) - half_sizes * jnp.log(2 * jnp.pi)
        half_squares = self._half_squares(latent)
        if self.marginal:
            total = shapes + half_sizes
            each = gammaln(total) - total * jnp.log(rates + half_squares)
        else:
            variances = latent.variances
            each = -(shapes + half_sizes + 1) * jnp.log(variances)
            each -= (rates + half_squares) / variances
        return jnp.sum(normalisation + each)

    def refresh(self, key: PRNGKeyArray, latent: Latent) -> Latent:
        """Draw the variances given the weights: InverseGamma(shape + n / 2, rate + sum w^2 / 2)."""
        if self.marginal:
            return latent
        half_sizes = jnp.array(self.architecture.sizes) / 2
        variances = _inverse_gamma(
            key, self.shapes + half_sizes, self.rates + self._half_squares(latent)
        )
        return WeightsAndVariances(latent.weights, variances)

    def start(self, key: PRNGKeyArray) -> Latent:
        """Weights N(0, 1) and variances that fit them.

        Draws of a heavy-tailed variance can be so large that a chain does not find back.
        """
        key_weights, key_variances = jax.random.split(key)
        ones = jnp.ones(len(self.architecture.parameters))
        weights = self.architecture.scaled_normal(key_weights, ones)
        if self.marginal:
            return weights
        return self.refresh(key_variances, WeightsAndVariances(weights, ones))

    def strain(self) -> Float[Array, ""]:
        """Shapes count ten times, and far more below one half, where weights have no mean.

        A network that is to be rough gains from ever heavier tails in its hidden layers; with
        shapes of a tenth, one draw in a hundred overflows.
        """
        below = jnp.maximum(jnp.log(0.5 / self.shapes), 0.0)
        return jnp.sum(
            10 * jnp.log(self.shapes) ** 2 + jnp.log(self.rates) ** 2 + 10_000 * below**2
        )

    def _half_squares(self, latent: Latent) -> Float[Array, " parameters"]:
        arrays = latent if self.marginal else latent.weights
        return jnp.stack([0.5 * jnp.sum(a**2) for a in self.architecture.leaves(arrays)])


def _inverse_gamma(
    key: PRNGKeyArray, shapes: Float[Array, " parameters"], rates: Float[Array, " parameters"]
) -> Float[Array, " parameters"]:
    """Draws that are differentiable in both parameters (JAX's gamma has implicit gradients)."""
    return jnp.exp(jnp.log(rates) - jax.random.loggamma(key, shapes))
