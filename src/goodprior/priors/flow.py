"""Normalizing-flow priors (GPi-NF): planar flows over the weights of each layer."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.networks import Architecture
from goodprior.priors.base import Latent, Prior
from goodprior.priors.gaussian import GaussianPrior


class PlanarFlow(eqx.Module):
    """`z -> z + u tanh(direction . z + offset)`, invertible because `direction . u > -1`.

    `u` is the free parameter `push` moved along `direction` so that the constraint holds, with a
    margin that single precision needs; a push of zero is the identity.

    Parameters
    ----------
    size : int
        Dimensions of `z`.
    key : PRNGKeyArray
        Of push and direction.
    """

    push: Float[Array, " dim"]
    direction: Float[Array, " dim"]
    offset: Float[Array, ""]

    def __init__(self, size: int, *, key: PRNGKeyArray):
        key_push, key_direction = jax.random.split(key)
        self.push = 0.01 * jax.random.normal(key_push, (size,))
        self.direction = jax.random.normal(key_direction, (size,)) / jnp.sqrt(size)
        self.offset = jnp.zeros(())

    @property
    def gain(self) -> Float[Array, ""]:
        """`direction . u`, above -0.99 everywhere and zero where `direction . push` is."""
        # softplus(x + log(e - 1)) - 1 is above -1 everywhere and zero at zero.
        inner = self.direction @ self.push
        return 0.99 * (jax.nn.softplus(inner + jnp.log(jnp.expm1(1.0))) - 1)

    @property
    def u(self) -> Float[Array, " dim"]:
        square = jnp.maximum(self.direction @ self.direction, 1e-12)
        return self.push + (self.gain - self.direction @ self.push) / square * self.direction

    def __call__(self, z: Float[Array, " dim"]) -> Float[Array, " dim"]:
        return z + self.u * jnp.tanh(self.direction @ z + self.offset)

    def log_det(self, z: Float[Array, " dim"]) -> Float[Array, ""]:
        """The log determinant of the Jacobian at `z`."""
        derivative = 1 - jnp.tanh(self.direction @ z + self.offset) ** 2
        return jnp.log1p(self.gain * derivative)

    def inverse(self, w: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """The `z` that is mapped to `w`: bisection for the one unknown, `direction . z`."""
        target, gain = self.direction @ w, self.gain

        def halve(_: Array, bracket: tuple[Array, Array]) -> tuple[Array, Array]:
            low, high = bracket
            middle = 0.5 * (low + high)
            below = middle + gain * jnp.tanh(middle + self.offset) < target
            return jnp.where(below, middle, low), jnp.where(below, high, middle)

        bracket = (target - jnp.abs(gain), target + jnp.abs(gain))
        low, high = jax.lax.fori_loop(0, 60, halve, bracket)
        return w - self.u * jnp.tanh(0.5 * (low + high) + self.offset)


class FlowPrior(Prior):
    """Each layer's weights and biases together are a Gaussian sent through planar flows.

    The latent is the Gaussian base variable, with one scale per layer and kind as in
    `GaussianPrior`; sampling the posterior over it is exact and needs no inverse. The density of
    given weights does (`weights_log_prob`).

    Parameters
    ----------
    network : PyTree
        The network, or its architecture.
    flows : int
        Planar flows per layer.
    on_readout : bool
        Whether the last layer has them, too, as in the paper. Without, its weights are Gaussian
        whatever the others are, so that they can be integrated out of a posterior.
    key : PRNGKeyArray
        Of the flows' first parameters.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> prior = FlowPrior(MLP(1, (5,), 1, key=jax.random.key(0)), key=jax.random.key(1))
    >>> prior.functions(jax.random.key(2), jax.numpy.zeros((3, 1)), 7).shape
    (7, 3, 1)
    """

    base: GaussianPrior
    flows: dict[str, tuple[PlanarFlow, ...]]  # by layer, in the order in which they act
    refresh_every: int = eqx.field(static=True)

    def __init__(
        self, network: PyTree, flows: int = 4, *, on_readout: bool = True, key: PRNGKeyArray
    ):
        checks.whole("flows", flows)
        self.base = GaussianPrior(network)
        self.flows = {}
        for i, (layer, size) in enumerate(self._layer_sizes().items()):
            if layer == self.architecture.parameters[-1].layer and not on_readout:
                continue
            keys = jax.random.split(jax.random.fold_in(key, i), flows)
            self.flows[layer] = tuple(PlanarFlow(size, key=k) for k in keys)
        self.refresh_every = 0

    @property
    def architecture(self) -> Architecture:
        return self.base.architecture

    def _layer_sizes(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for p in self.architecture.parameters:
            sizes[p.layer] = sizes.get(p.layer, 0) + p.size
        return sizes

    def sample(self, key: PRNGKeyArray) -> Latent:
        return self.base.sample(key)

    def log_prob(self, latent: Latent) -> Float[Array, ""]:
        return self.base.log_prob(latent)

    def weights(self, latent: Latent) -> PyTree:
        by_layer = self._vectors(latent)
        for layer, flows in self.flows.items():
            for flow in flows:
                by_layer[layer] = flow(by_layer[layer])
        return self.architecture.network(self._arrays(by_layer))

    def deviations(self) -> Latent:
        return self.base.deviations()

    def gaussian_part(self, latent: Latent) -> PyTree | None:
        pairs = zip(self.architecture.parameters, jax.tree.leaves(latent), strict=True)
        leaves = [None if p.layer in self.flows else leaf for p, leaf in pairs]
        return jax.tree.unflatten(self.architecture.treedef, leaves)

    def scale_penalty(self) -> Float[Array, ""]:
        """That of the base, and the squared lengths of the flows' `u`."""
        pushes = (jnp.sum(flow.u**2) for flows in self.flows.values() for flow in flows)
        return sum(pushes, start=self.base.scale_penalty())

    def weights_log_prob(self, arrays: PyTree) -> Float[Array, ""]:
        """The log density of given weights."""
        latent, log_det = self._inverted(arrays)
        return self.base.log_prob(latent) - log_det

    def latent_of(self, arrays: PyTree) -> Latent:
        return self._inverted(arrays)[0]

    def _inverted(self, arrays: PyTree) -> tuple[Latent, Float[Array, ""]]:
        """The latent of given weights, each flow inverted in turn, and the log determinant."""
        by_layer, total = self._vectors(arrays), jnp.zeros(())
        for layer, flows in self.flows.items():
            for flow in reversed(flows):
                by_layer[layer] = flow.inverse(by_layer[layer])
                total += flow.log_det(by_layer[layer])
        return self._arrays(by_layer), total

    def _vectors(self, arrays: PyTree) -> dict[str, Array]:
        """Weights as one vector per layer."""
        parts: dict[str, list[Array]] = {layer: [] for layer in self._layer_sizes()}
        leaves = self.architecture.leaves(arrays)
        for p, leaf in zip(self.architecture.parameters, leaves, strict=True):
            parts[p.layer].append(leaf.ravel())
        return {layer: jnp.concatenate(vectors) for layer, vectors in parts.items()}

    def _arrays(self, by_layer: dict[str, Array]) -> PyTree:
        """The inverse of `_vectors`."""
        start = dict.fromkeys(by_layer, 0)
        leaves = []
        for p in self.architecture.parameters:
            first = start[p.layer]
            leaves.append(by_layer[p.layer][first : first + p.size].reshape(p.shape))
            start[p.layer] = first + p.size
        return jax.tree.unflatten(self.architecture.treedef, leaves)
