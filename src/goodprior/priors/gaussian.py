"""Independent Gaussian weights: FG when fixed at N(0, 1), GPi-G when matched."""

from collections.abc import Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.networks import Architecture
from goodprior.priors.base import Latent, Prior


def softplus_inverse(value: Float[Array, "..."]) -> Float[Array, "..."]:
    """The number whose softplus, `log(1 + exp(x))`, is `value`."""
    return value + jnp.log(-jnp.expm1(-value))


class GaussianPrior(Prior):
    """Zero-mean Gaussian weights with one scale per layer and kind (paper, section 3.2).

    The latent is the weights themselves. Scales are kept as `softplus(raw_scales)`, one for each
    of the network's parameters.

    Parameters
    ----------
    network : PyTree
        The network, or its architecture.
    scale : float or mapping
        One standard deviation for all parameters, or by the parameter's name; 1 for the others.
    fixed : sequence of str
        Parameters whose scales stay as they are when the prior is matched.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> prior = GaussianPrior(MLP(1, (50,), 1, key=jax.random.key(0)), {"layers.1.bias": 0.5})
    >>> {name: round(scale, 3) for name, scale in prior.scales.items()}
    {'layers.0.weight': 1.0, 'layers.0.bias': 1.0, 'layers.1.weight': 1.0, 'layers.1.bias': 0.5}
    >>> prior.functions(jax.random.key(1), jax.numpy.zeros((20, 1)), 3).shape
    (3, 20, 1)
    """

    raw_scales: Float[Array, " parameters"]
    architecture: Architecture
    refresh_every: int = eqx.field(static=True, default=0)
    fixed: tuple[str, ...] = eqx.field(static=True, default=())

    def __init__(
        self,
        network: PyTree,
        scale: float | Mapping[str, float] = 1.0,
        *,
        fixed: Sequence[str] = (),
    ):
        self.architecture = Architecture(network)
        names = [p.name for p in self.architecture.parameters]
        if not isinstance(scale, Mapping):
            scale = dict.fromkeys(names, scale)
        for argument, given in (("scale", set(scale)), ("fixed", set(fixed))):
            if unknown := given - set(names):
                raise ValueError(f"{argument} names {sorted(unknown)}, but the network has {names}")
        values = [checks.positive(f"the scale of {n}", scale.get(n, 1.0)) for n in names]
        self.raw_scales = softplus_inverse(jnp.array(values))
        self.refresh_every = 0
        self.fixed = tuple(fixed)

    @property
    def scales(self) -> dict[str, float]:
        """The standard deviation of each parameter, by name."""
        values = jax.nn.softplus(self.raw_scales).tolist()
        return {p.name: v for p, v in zip(self.architecture.parameters, values, strict=True)}

    def with_scales(self, scales: Float[Array, "..."]) -> "GaussianPrior":
        """The same prior with other standard deviations: one per parameter, or one for all."""
        raw = jnp.broadcast_to(softplus_inverse(scales), self.raw_scales.shape)
        return eqx.tree_at(lambda prior: prior.raw_scales, self, raw)

    @property
    def _scales(self) -> Float[Array, " parameters"]:
        """The scales, with a gradient for those that are not fixed."""
        fixed = jnp.array([p.name in self.fixed for p in self.architecture.parameters])
        raw = jnp.where(fixed, jax.lax.stop_gradient(self.raw_scales), self.raw_scales)
        return jax.nn.softplus(raw)

    def sample(self, key: PRNGKeyArray) -> Latent:
        return self.architecture.scaled(self.architecture.normal(key), self._scales)

    def weights(self, latent: Latent) -> PyTree:
        return self.architecture.network(latent)

    def latent_of(self, arrays: PyTree) -> Latent:
        return arrays

    def log_prob(self, latent: Latent) -> Float[Array, ""]:
        scales = self._scales
        squares = jnp.stack([jnp.sum(leaf**2) for leaf in self.architecture.leaves(latent)])
        sizes = jnp.array(self.architecture.sizes)
        return -0.5 * jnp.sum(squares / scales**2 + sizes * jnp.log(2 * jnp.pi * scales**2))

    def deviations(self) -> Latent:
        ones = self.architecture.arrays(jnp.ones(self.architecture.size))
        return self.architecture.scaled(ones, self._scales)

    def gaussian_part(self, latent: Latent) -> PyTree:
        return latent

    def scale_penalty(self) -> Float[Array, ""]:
        return jnp.sum(jnp.log(self._scales) ** 2)
