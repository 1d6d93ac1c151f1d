"""Gaussian weights with uncertain scales: FH when fixed, GPi-H when matched."""

from typing import Literal, NamedTuple, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.networks import Architecture
from goodprior.priors.base import Latent, Prior
from goodprior.priors.gaussian import softplus_inverse

Form = Literal["gibbs", "marginal", "noncentred"]


class WeightsAndVariances(NamedTuple):
    """Weights, and the variance of each of the network's parameters."""

    weights: PyTree
    variances: Float[Array, " parameters"]


class UnitsAndLogVariances(NamedTuple):
    """Weights in units of their standard deviations, and the logarithms of the variances."""

    units: PyTree
    log_variances: Float[Array, " parameters"]


class HierarchicalPrior(Prior):
    """Each parameter's weights are N(0, variance), the variance InverseGamma(shape, rate).

    Three forms of the same prior:

    `"gibbs"`, the paper's (appendix A.5): the latent is weights and variances. Samplers move the
    weights, and every `refresh_every` steps `refresh` draws the variances exactly given the
    weights. That changes the variance of n weights by about sqrt(2 / n) of itself at a time, so
    with wide layers chains stay for long where their first steps have led them.
    `"marginal"`: the variances are integrated out. The latent is the weights alone, a multivariate
    Student-t with 2 `shape` degrees of freedom per parameter: for modes.
    `"noncentred"`: the latent is the weights divided by their standard deviations, and the log
    variances. Samplers move both, the whole layer with one number: for sampling.

    >>> import jax
    >>> from goodprior.networks import MLP
    >>> prior = HierarchicalPrior(MLP(1, (50,), 1, key=jax.random.key(0)))
    >>> latent = prior.sample(jax.random.key(1))
    >>> latent.variances.shape, prior.refresh(jax.random.key(2), latent).variances.shape
    ((4,), (4,))
    >>> prior.in_form("noncentred").sample(jax.random.key(1)).log_variances.shape
    (4,)
    """

    raw_shapes: Float[Array, " parameters"]
    raw_rates: Float[Array, " parameters"]
    architecture: Architecture
    form: Form = eqx.field(static=True)
    refresh_every: int = eqx.field(static=True)

    def __init__(
        self,
        network: PyTree,
        shape: float = 1.0,
        rate: float = 1.0,
        *,
        form: Form = "gibbs",
        refresh_every: int = 100,
    ):
        self.architecture = Architecture(network)
        count = len(self.architecture.parameters)
        self.raw_shapes = softplus_inverse(jnp.full(count, checks.positive("shape", shape)))
        self.raw_rates = softplus_inverse(jnp.full(count, checks.positive("rate", rate)))
        self.form = form
        self.refresh_every = checks.whole("refresh_every", refresh_every) if form == "gibbs" else 0

    def __check_init__(self):
        checks.one_of("form", self.form, get_args(Form))

    def in_form(self, form: Form, *, refresh_every: int = 100) -> "HierarchicalPrior":
        """The same distribution of weights in another form; a matched prior can change, too."""
        other = HierarchicalPrior(self.architecture, form=form, refresh_every=refresh_every)
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
        held_back = WeightsAndVariances(True, False)  # type: ignore[arg-type]
        return held_back if self.form == "gibbs" else True

    def sample(self, key: PRNGKeyArray) -> Latent:
        key_variance, key_units = jax.random.split(key)
        variances = _inverse_gamma(key_variance, self.shapes, self.rates)
        return self._latent(self.architecture.normal(key_units), variances)

    def weights(self, latent: Latent) -> PyTree:
        return self.architecture.network(self._arrays(latent))

    def log_prob(self, latent: Latent) -> Float[Array, ""]:
        shapes, rates = self.shapes, self.rates
        half_sizes = jnp.array(self.architecture.sizes) / 2
        normalisation = shapes * jnp.log(rates) - gammaln(shapes) - half_sizes * jnp.log(2 * jnp.pi)
        if self.form == "marginal":
            total = shapes + half_sizes
            each = gammaln(total) - total * jnp.log(rates + self._half_squares(latent))
        elif self.form == "gibbs":
            each = -(shapes + half_sizes + 1) * jnp.log(latent.variances)
            each -= (rates + self._half_squares(latent.weights)) / latent.variances
        else:
            each = -shapes * latent.log_variances - rates * jnp.exp(-latent.log_variances)
            each -= self._half_squares(latent.units)
        return jnp.sum(normalisation + each)

    def refresh(self, key: PRNGKeyArray, latent: Latent) -> Latent:
        """Draw the variances given the weights: InverseGamma(shape + n / 2, rate + sum w^2 / 2)."""
        if self.form != "gibbs":
            return latent
        half_sizes = jnp.array(self.architecture.sizes) / 2
        half_squares = self._half_squares(latent.weights)
        variances = _inverse_gamma(key, self.shapes + half_sizes, self.rates + half_squares)
        return WeightsAndVariances(latent.weights, variances)

    def start(self, key: PRNGKeyArray) -> Latent:
        """Weights N(0, 1) and variances that fit them.

        Draws of a heavy-tailed variance can be so large that a chain does not find back.
        """
        key_units, key_variances = jax.random.split(key)
        ones = jnp.ones(len(self.architecture.parameters))
        return self.refresh(key_variances, self._latent(self.architecture.normal(key_units), ones))

    def scale_penalty(self) -> Float[Array, ""]:
        """Shapes count ten times, and far more below one half, where weights have no mean.

        A network that is to be rough gains from ever heavier tails in its hidden layers; with
        shapes of a tenth, one draw in a hundred overflows.
        """
        below = jnp.maximum(jnp.log(0.5 / self.shapes), 0.0)
        return jnp.sum(
            10 * jnp.log(self.shapes) ** 2 + jnp.log(self.rates) ** 2 + 10_000 * below**2
        )

    def _latent(self, units: PyTree, variances: Float[Array, " parameters"]) -> Latent:
        """The latent of weights with these variances, given as multiples of their deviations."""
        if self.form == "noncentred":
            return UnitsAndLogVariances(units, jnp.log(variances))
        weights = self.architecture.scaled(units, jnp.sqrt(variances))
        return weights if self.form == "marginal" else WeightsAndVariances(weights, variances)

    def _arrays(self, latent: Latent) -> PyTree:
        """The weights that a latent stands for."""
        if self.form == "noncentred":
            return self.architecture.scaled(latent.units, jnp.exp(latent.log_variances / 2))
        return latent if self.form == "marginal" else latent.weights

    def _half_squares(self, arrays: PyTree) -> Float[Array, " parameters"]:
        return jnp.stack([0.5 * jnp.sum(a**2) for a in self.architecture.leaves(arrays)])


def _inverse_gamma(
    key: PRNGKeyArray, shapes: Float[Array, " parameters"], rates: Float[Array, " parameters"]
) -> Float[Array, " parameters"]:
    """Draws that are differentiable in both parameters (JAX's gamma has implicit gradients)."""
    return jnp.exp(jnp.log(rates) - jax.random.loggamma(key, shapes))
