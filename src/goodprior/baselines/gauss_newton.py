"""The generalised Gauss-Newton matrix of a network's log likelihood.

`sum over rows of J^T H J`, with J the network's Jacobian and H the Hessian of `-log p(y | output)`
by the outputs; as a whole, or by K-FAC in Kronecker factors.
"""

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from goodprior.baselines.curvature import Block, Full, Kronecker
from goodprior.inference.batches import InMemory
from goodprior.inference.likelihoods import Likelihood
from goodprior.networks import Architecture, Conv, Dense, outputs

ROWS = 256  # rows whose Jacobians are held at once
LARGEST = 5000  # weights for which the whole matrix is formed

LayerFactors = tuple[Any, list[Any]]  # a matrix over outputs, and one over inputs per parameter


def flat_jacobian(
    architecture: Architecture, flat: Float[Array, " size"], x: Float[Array, "points ..."]
) -> Float[Array, "points out size"]:
    """The Jacobian of the outputs at each point by the weights."""

    def output(flat: Array, x: Array) -> Array:
        return architecture.network(architecture.arrays(flat))(x)

    return jax.vmap(jax.jacrev(output), in_axes=(None, 0))(flat, x)


def full_curvature(
    architecture: Architecture, likelihood: Likelihood, flat: Float[Array, " size"], data: InMemory
) -> Full:
    """The whole matrix at these weights."""
    if architecture.size > LARGEST:
        raise ValueError(
            f"the network has {architecture.size:,} weights, too many for a full matrix; "
            'use structure="kron"'
        )
    total = np.zeros((architecture.size, architecture.size))
    for X, y in _blocks(data):
        rows = np.asarray(_half_rows(architecture, likelihood, flat, X, y), np.float64)
        total += rows.T @ rows
    return Full(total, architecture.sizes)


@eqx.filter_jit
def _half_rows(
    architecture: Architecture,
    likelihood: Likelihood,
    flat: Float[Array, " size"],
    X: Array,
    y: Array,
) -> Float[Array, "many size"]:
    """`H^1/2 J` of every row, one under another."""
    jacobian = flat_jacobian(architecture, flat, X)
    found = outputs(architecture.network(architecture.arrays(flat)), X)
    roots = jax.vmap(lambda output, y: _root(likelihood, output, y))(found, y)
    return jnp.einsum("pcr,pci->pri", roots, jacobian).reshape(-1, len(flat))


def _root(likelihood: Likelihood, output: Float[Array, " out"], y: Array) -> Array:
    """R with `R R^T` the Hessian of `-log p(y | output)`."""
    hessian = -jax.hessian(likelihood.log_prob)(output, y)
    values, vectors = jnp.linalg.eigh(hessian)
    return vectors * jnp.sqrt(jnp.maximum(values, 0))


def _blocks(data: InMemory) -> Iterator[tuple[Array, Array]]:
    for i in range(0, data.rows, ROWS):
        yield data.X[i : i + ROWS], data.y[i : i + ROWS]


def _dense_features(layer: Dense, x: Float[Array, " in"]) -> Float[Array, "1 in"]:
    return x[None] / jnp.sqrt(len(x))


# What a layer multiplies with its weights, one row per position: its outputs are
# `features @ weight.reshape(out, -1).T + bias`. A convolution's features are its patches.
FEATURES: dict[type, Callable[[Any, Array], Float[Array, "positions in"]]] = {
    Dense: _dense_features,
    Conv: Conv.patches,
}


class _Tap:
    """A layer that records its features, and whose outputs can be shifted."""

    def __init__(self, layer: eqx.Module, shift: Array | float):
        self.layer, self.shift, self.features, self.shape = layer, shift, None, None

    def __call__(self, x: Array, **options: Any) -> Array:
        if self.features is not None:
            raise ValueError('structure="kron" needs a network that uses every layer once')
        self.features = FEATURES[type(self.layer)](self.layer, x)
        output = self.layer(x, **options)  # type: ignore[operator]
        self.shape = output.shape
        return output + self.shift


def _known(node: object) -> bool:
    return type(node) in FEATURES


def weights_elsewhere(architecture: Architecture) -> list[str]:
    """Names of the weights that `kron` cannot take: outside `Dense` and `Conv`, or with a base."""
    if architecture.base is not None:
        return [p.name for p in architecture.parameters]
    shapes = architecture.network(architecture.arrays(jnp.zeros(architecture.size)))
    layers = jax.tree_util.tree_leaves_with_path(shapes, is_leaf=_known)
    names = {jax.tree_util.keystr(p, simple=True, separator=".") for p, n in layers if _known(n)}
    return [p.name for p in architecture.parameters if p.layer not in names]


def kronecker_curvature(
    architecture: Architecture, likelihood: Likelihood, flat: Float[Array, " size"], data: InMemory
) -> Kronecker:
    """The Kronecker factors at these weights: A is a mean over rows, B a sum."""
    if others := weights_elsewhere(architecture):
        known = ", ".join(sorted(kind.__name__ for kind in FEATURES))
        raise ValueError(
            f'structure="kron" knows the layers {known}, but the network also has the weights '
            f'{others}; use structure="full"'
        )
    totals = None
    for X, y in _blocks(data):
        narrow = _factors(architecture, likelihood, flat, X, y)
        part = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), narrow)
        totals = part if totals is None else jax.tree.map(np.add, totals, part)
    assert totals is not None
    return Kronecker(tuple(_blocks_of_layers(totals, data.rows)))


def _blocks_of_layers(totals: list[LayerFactors], rows: int) -> Iterator[Block]:
    """A block for each parameter; a layer's weights and biases share the factor of its outputs."""
    for outs, inputs in totals:
        eigen = np.linalg.eigh(outs)
        yield from (Block.of(eigen, np.linalg.eigh(ins / rows)) for ins in inputs)


@eqx.filter_jit
def _factors(
    architecture: Architecture,
    likelihood: Likelihood,
    flat: Float[Array, " size"],
    X: Array,
    y: Array,
) -> list[LayerFactors]:
    """`sum g g^T` of each layer, and `sum a a^T` of each of its parameters, over some rows."""
    network = architecture.network(architecture.arrays(flat))
    nodes, treedef = jax.tree.flatten(network, is_leaf=_known)

    def tapped(shifts: list[Any], x: Array) -> tuple[Array, list[_Tap]]:
        given = iter(shifts)
        taps = [_Tap(node, next(given)) if _known(node) else node for node in nodes]
        output = jax.tree.unflatten(treedef, taps)(x)
        return output, [tap for tap in taps if isinstance(tap, _Tap)]

    layers = [node for node in nodes if _known(node)]
    shapes: list[tuple[int, ...]] = []

    def record_shapes(x: Array) -> Array:
        output, taps = tapped([0.0] * len(layers), x)
        shapes.extend(tap.shape for tap in taps)  # type: ignore[misc]
        return output

    jax.eval_shape(record_shapes, X[0])

    def one(x: Array, y: Array) -> tuple[list[Array], list[Array]]:
        def forward(shifts: list[Array]) -> tuple[Array, list[Array]]:
            output, taps = tapped(shifts, x)
            return output, [tap.features for tap in taps]  # type: ignore[misc]

        zeros = [jnp.zeros(shape) for shape in shapes]
        output, back, features = jax.vjp(forward, zeros, has_aux=True)
        (grads,) = jax.vmap(back)(_root(likelihood, output, y).T)
        return features, grads

    found = []
    for layer, a, g in zip(layers, *jax.vmap(one)(X, y), strict=True):
        positions = a.shape[1]
        a, g = a.reshape(-1, a.shape[-1]), g.reshape(-1, g.shape[-1])
        # The weight, and the bias if there is one: its input is 1 at every position.
        inputs = [
            a.T @ a / positions if leaf.ndim > 1 else jnp.full((1, 1), float(len(X)))
            for leaf in jax.tree.leaves(layer)
        ]
        found.append((g.T @ g, inputs))
    return found


def weights_vector(architecture: Architecture, arrays: PyTree) -> Float[Array, " size"]:
    """The weights as one vector, one parameter after another."""
    return jnp.concatenate([leaf.ravel() for leaf in architecture.leaves(arrays)])
