"""Gaussian weights with uncertain scales: FH when fixed, GPi-H when matched."""

from abc import abstractmethod
from typing import NamedTuple, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln, polygamma
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.networks import Architecture
from goodprior.priors.base import Form, Latent, Prior
from goodprior.priors.gaussian import softplus_inverse

REFRESH_EVERY = 100  # steps of a sampler between two draws of the variances


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

    The same distribution of weights in three forms, which differ in their latent:
    `GibbsHierarchicalPrior` (the paper's), `NoncentredHierarchicalPrior` (for sampling) and
    `MarginalHierarchicalPrior` (for modes). `in_form` changes between them.

    Examples
    --------
    >>> from goodprior.networks import MLP
    >>> prior = GibbsHierarchicalPrior(MLP(1, (5,), 1, key=jax.random.key(0)))
    >>> type(prior.in_form("noncentred")).__name__, prior.shapes.shape
    ('NoncentredHierarchicalPrior', (4,))
    """

    raw_shapes: Float[Array, " parameters"]
    raw_rates: Float[Array, " parameters"]
    architecture: Architecture
    refresh_every: int = eqx.field(static=True)

    def __init__(self, network: PyTree, shape: float = 1.0, rate: float = 1.0):
        self.architecture = Architecture(network)
        count = len(self.architecture.parameters)
        self.raw_shapes = softplus_inverse(jnp.full(count, checks.positive("shape", shape)))
        self.raw_rates = softplus_inverse(jnp.full(count, checks.positive("rate", rate)))
        self.refresh_every = 0

    def in_form(self, form: Form, *, refresh_every: int | None = None) -> "HierarchicalPrior":
        """The same distribution of weights in another form; a matched prior can change, too.

        Parameters
        ----------
        form : str
            `gibbs`, `marginal` or `noncentred`.
        refresh_every : int, optional
            Of the Gibbs form; by default that of this prior, or 100 if it has none.
        """
        checks.one_of("form", form, get_args(Form))
        if form == "gibbs":
            every = self.refresh_every or REFRESH_EVERY if refresh_every is None else refresh_every
            other = GibbsHierarchicalPrior(self.architecture, refresh_every=every)
        elif form == "marginal":
            other = MarginalHierarchicalPrior(self.architecture)
        else:
            other = NoncentredHierarchicalPrior(self.architecture)
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

    def sample(self, key: PRNGKeyArray) -> Latent:
        key_variance, key_units = jax.random.split(key)
        variances = _inverse_gamma(key_variance, self.shapes, self.rates)
        return self._latent(self.architecture.normal(key_units), variances)

    def weights(self, latent: Latent) -> PyTree:
        return self.architecture.network(self._arrays(latent))

    def latent_of(self, arrays: PyTree) -> Latent:
        """The weights with variances of 1."""
        return self._latent(arrays, jnp.ones(len(self.architecture.parameters)))

    def log_prob(self, latent: Latent) -> Float[Array, ""]:
        shapes, rates = self.shapes, self.rates
        normalisation = (
            shapes * jnp.log(rates) - gammaln(shapes) - self._half_sizes * jnp.log(2 * jnp.pi)
        )
        return jnp.sum(normalisation + self._unnormalised(latent))

    def start(self, key: PRNGKeyArray) -> Latent:
        """Weights N(0, 1) and variances that fit them.

        Draws of a heavy-tailed variance can be so large that a chain does not find back.
        """
        key_units, key_variances = jax.random.split(key)
        return self.refresh(key_variances, self.latent_of(self.architecture.normal(key_units)))

    def scale_penalty(self) -> Float[Array, ""]:
        """Squared log shapes, ten times, and squared log rates, summed.

        Shapes below one half, where weights have no mean, count far more: a network that is to be
        rough gains from ever heavier tails in its hidden layers, and with shapes of a tenth one
        draw in a hundred overflows.
        """
        below = jnp.maximum(jnp.log(0.5 / self.shapes), 0.0)
        return jnp.sum(
            10 * jnp.log(self.shapes) ** 2 + jnp.log(self.rates) ** 2 + 10_000 * below**2
        )

    @abstractmethod
    def _latent(self, units: PyTree, variances: Float[Array, " parameters"]) -> Latent:
        """The latent of weights with these variances, given as multiples of their deviations."""

    @abstractmethod
    def _arrays(self, latent: Latent) -> PyTree:
        """The weights that a latent stands for."""

    @abstractmethod
    def _unnormalised(self, latent: Latent) -> Float[Array, " parameters"]:
        """Each parameter's log density, up to a constant that all forms share."""

    @property
    def _half_sizes(self) -> Float[Array, " parameters"]:
        return jnp.array(self.architecture.sizes) / 2

    def _half_squares(self, arrays: PyTree) -> Float[Array, " parameters"]:
        return jnp.stack([0.5 * jnp.sum(a**2) for a in self.architecture.leaves(arrays)])


class GibbsHierarchicalPrior(HierarchicalPrior):
    """The hierarchical prior over weights and variances, as in the paper (appendix A.5).

    Samplers move the weights, and every `refresh_every` steps `refresh` draws the variances exactly
    given the weights, once the sampler has adapted and settled. That changes the variance of n
    weights by about sqrt(2 / n) of itself at a time, so with wide layers chains stay for long where
    their first steps have led them.

    Parameters
    ----------
    network : PyTree
        The network, or its architecture.
    shape, rate : float
        Of the inverse gamma distribution of every parameter's variance, before any matching.
    refresh_every : int
        Steps of a sampler between two draws of the variances.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> prior = GibbsHierarchicalPrior(MLP(1, (50,), 1, key=jax.random.key(0)))
    >>> latent = prior.sample(jax.random.key(1))
    >>> latent.variances.shape, prior.refresh(jax.random.key(2), latent).variances.shape
    ((4,), (4,))
    >>> prior.in_form("noncentred").sample(jax.random.key(1)).log_variances.shape
    (4,)
    """

    def __init__(
        self,
        network: PyTree,
        shape: float = 1.0,
        rate: float = 1.0,
        *,
        refresh_every: int = REFRESH_EVERY,
    ):
        super().__init__(network, shape, rate)
        self.refresh_every = checks.whole("refresh_every", refresh_every)

    @property
    def moving(self) -> PyTree[bool]:
        return WeightsAndVariances(True, False)  # type: ignore[arg-type]

    def refresh(self, key: PRNGKeyArray, latent: Latent) -> Latent:
        """Draw the variances given the weights: InverseGamma(shape + n / 2, rate + sum w^2 / 2)."""
        half_squares = self._half_squares(latent.weights)
        variances = _inverse_gamma(key, self.shapes + self._half_sizes, self.rates + half_squares)
        return WeightsAndVariances(latent.weights, variances)

    def _latent(self, units: PyTree, variances: Float[Array, " parameters"]) -> Latent:
        return WeightsAndVariances(self.architecture.scaled(units, jnp.sqrt(variances)), variances)

    def _arrays(self, latent: Latent) -> PyTree:
        return latent.weights

    def _unnormalised(self, latent: Latent) -> Float[Array, " parameters"]:
        each = -(self.shapes + self._half_sizes + 1) * jnp.log(latent.variances)
        return each - (self.rates + self._half_squares(latent.weights)) / latent.variances


class MarginalHierarchicalPrior(HierarchicalPrior):
    """The hierarchical prior over weights alone, with the variances integrated out.

    Each parameter is a multivariate Student-t with 2 `shape` degrees of freedom. For modes.

    Parameters
    ----------
    network : PyTree
        The network, or its architecture.
    shape, rate : float
        Of the inverse gamma distribution of every parameter's variance, before any matching.

    Examples
    --------
    >>> from goodprior.networks import MLP
    >>> prior = MarginalHierarchicalPrior(MLP(1, (5,), 1, key=jax.random.key(0)))
    >>> prior.weights(prior.sample(jax.random.key(1)))(jnp.zeros(1)).shape
    (1,)
    """

    def __init__(self, network: PyTree, shape: float = 1.0, rate: float = 1.0):
        super().__init__(network, shape, rate)  # written out: type checkers know no inherited one

    def _latent(self, units: PyTree, variances: Float[Array, " parameters"]) -> Latent:
        return self.architecture.scaled(units, jnp.sqrt(variances))

    def _arrays(self, latent: Latent) -> PyTree:
        return latent

    def _unnormalised(self, latent: Latent) -> Float[Array, " parameters"]:
        total = self.shapes + self._half_sizes
        return gammaln(total) - total * jnp.log(self.rates + self._half_squares(latent))


class NoncentredHierarchicalPrior(HierarchicalPrior):
    """The hierarchical prior over weights divided by their standard deviations, and log variances.

    Samplers move both, the whole layer with one number. For sampling.

    Parameters
    ----------
    network : PyTree
        The network, or its architecture.
    shape, rate : float
        Of the inverse gamma distribution of every parameter's variance, before any matching.

    Examples
    --------
    >>> from goodprior.networks import MLP
    >>> prior = NoncentredHierarchicalPrior(MLP(1, (5,), 1, key=jax.random.key(0)), shape=2.0)
    >>> prior.sample(jax.random.key(1)).log_variances.shape
    (4,)
    """

    def __init__(self, network: PyTree, shape: float = 1.0, rate: float = 1.0):
        super().__init__(network, shape, rate)  # written out: type checkers know no inherited one

    def deviations(self) -> Latent:
        ones = self.architecture.arrays(jnp.ones(self.architecture.size))
        return UnitsAndLogVariances(ones, jnp.sqrt(polygamma(1, self.shapes)))

    def gaussian_part(self, latent: Latent) -> PyTree:
        return latent.units

    def _latent(self, units: PyTree, variances: Float[Array, " parameters"]) -> Latent:
        return UnitsAndLogVariances(units, jnp.log(variances))

    def _arrays(self, latent: Latent) -> PyTree:
        return self.architecture.scaled(latent.units, jnp.exp(latent.log_variances / 2))

    def _unnormalised(self, latent: Latent) -> Float[Array, " parameters"]:
        each = -self.shapes * latent.log_variances - self.rates * jnp.exp(-latent.log_variances)
        return each - self._half_squares(latent.units)


def _inverse_gamma(
    key: PRNGKeyArray, shapes: Float[Array, " parameters"], rates: Float[Array, " parameters"]
) -> Float[Array, " parameters"]:
    """Draws that are differentiable in both parameters (JAX's gamma has implicit gradients)."""
    return jnp.exp(jnp.log(rates) - jax.random.loggamma(key, shapes))
