"""What of a network is random, and how its arrays fall into layers and kinds."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeGuard, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from goodprior.fast_normal import fast_normal

Layer = TypeVar("Layer")


def layers(tree: PyTree, *kinds: type[Layer]) -> list[Layer]:
    """The layers of these kinds in a network, or in what is made for one (a prior)."""

    def wanted(node: Any) -> TypeGuard[Layer]:
        return isinstance(node, kinds)

    return [node for node in jax.tree.leaves(tree, is_leaf=wanted) if wanted(node)]


def zero_network(build: Callable[[PRNGKeyArray], Layer]) -> Layer:
    """The network that `build(key)` makes with weights of zero, without drawing any.

    Parameters
    ----------
    build : callable
        Of a key.
    """
    shapes = eqx.filter_eval_shape(build, jax.random.key(0))

    def zeros(leaf: Any) -> Any:
        return jnp.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf

    return jax.tree.map(zeros, shapes)


class Parameter(NamedTuple):
    """One random array of a network: the layer that holds it and what it is there.

    The layer is the module that owns the array (`layers.0`), the kind its name in that module
    (`weight`, `bias`). A prior with one scale per layer and kind has one per parameter.

    Attributes
    ----------
    layer, kind : str
        As above.
    shape : tuple of int
        Of the array.
    """

    layer: str
    kind: str
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """Layer and kind, with a dot between them."""
        return f"{self.layer}.{self.kind}" if self.layer else self.kind

    @property
    def size(self) -> int:
        """The number of weights."""
        return prod(self.shape)


class Architecture(eqx.Module):
    """A network without its weights: what priors keep of the network they are made for.

    The random weights are the floating-point arrays, in the order of the network's leaves. An
    architecture can stand wherever only the architecture of a network matters.
    As a pytree they are called `arrays`: the network with everything else left out.

    Priors are about the weights divided by `base`, so that what samplers move and matching tunes is
    of order one where weights by column or by unit are not.

    Parameters
    ----------
    network : PyTree
        A network, or an architecture.
    base : sequence of array, optional
        What the weights of each parameter are multiples of, of a shape that broadcasts to its own.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> network = MLP(1, (3,), 1, key=jax.random.key(0))
    >>> architecture = Architecture(network)
    >>> [p.name for p in architecture.parameters]
    ['layers.0.weight', 'layers.0.bias', 'layers.1.weight', 'layers.1.bias']
    >>> architecture.size
    10
    >>> architecture.network(architecture.arrays(jax.numpy.zeros(10)))(jax.numpy.ones(1)).item()
    0.0
    """

    rest: PyTree
    bits: tuple[Int[Array | np.ndarray, "..."], ...] | None  # of `base`: floats would be tuned
    treedef: Any = eqx.field(static=True)
    parameters: tuple[Parameter, ...] = eqx.field(static=True)

    def __init__(self, network: PyTree, base: Sequence[Float[np.ndarray, "..."]] | None = None):
        if isinstance(network, Architecture):
            self.rest, self.treedef = network.rest, network.treedef
            self.parameters, self.bits = network.parameters, network.bits
            if base is not None:
                self.bits = _bits(base, self.parameters)
            return
        arrays, self.rest = eqx.partition(network, eqx.is_inexact_array)
        leaves, self.treedef = jax.tree_util.tree_flatten_with_path(arrays)
        if not leaves:
            raise ValueError("the network has no floating-point arrays, so there is nothing random")
        found = []
        for path, leaf in leaves:
            *layer, kind = [jax.tree_util.keystr((entry,), simple=True) for entry in path]
            found.append(Parameter(".".join(layer), kind, leaf.shape))
        self.parameters = tuple(found)
        self.bits = None if base is None else _bits(base, self.parameters)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Architecture":
        return self  # nothing in it changes, and a copied treedef would not be equinox's own

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle: a tree with numbered leaves in place of the treedef, for the same reason."""
        numbered = self.treedef.unflatten(range(self.treedef.num_leaves))
        return _unpickled, (self.rest, self.bits, numbered, self.parameters)

    @property
    def size(self) -> int:
        """The number of random weights."""
        return sum(p.size for p in self.parameters)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of weights in each parameter."""
        return tuple(p.size for p in self.parameters)

    @property
    def base(self) -> tuple[Float[Array, "..."], ...] | None:
        """What the weights of each parameter are multiples of (None: of one)."""
        if self.bits is None:
            return None
        return tuple(jax.lax.bitcast_convert_type(bits, jnp.float32) for bits in self.bits)

    def network(self, arrays: PyTree) -> PyTree:
        """The network whose weights are these arrays, times `base` where there is one."""
        if (base := self.base) is not None:
            pairs = zip(self.leaves(arrays), base, strict=True)
            arrays = jax.tree.unflatten(self.treedef, [leaf * scale for leaf, scale in pairs])
        return eqx.combine(arrays, self.rest)

    def arrays(self, flat: Float[Array, " size"]) -> PyTree:
        """The arrays whose entries, one parameter after another, are `flat`."""
        leaves, start = [], 0
        for parameter in self.parameters:
            leaves.append(flat[start : start + parameter.size].reshape(parameter.shape))
            start += parameter.size
        return jax.tree.unflatten(self.treedef, leaves)

    def normal(self, key: PRNGKeyArray) -> PyTree:
        """Arrays of independent standard Gaussians."""
        return self.arrays(fast_normal(key, (self.size,)))

    def scaled(self, arrays: PyTree, scales: Float[Array, " parameters"]) -> PyTree:
        """Each parameter's array times its scale."""
        leaves = self.leaves(arrays)
        scaled = [scale * leaf for scale, leaf in zip(scales, leaves, strict=True)]
        return jax.tree.unflatten(self.treedef, scaled)

    def leaves(self, arrays: PyTree) -> list[Array]:
        """The arrays as a list, in the order of `parameters`."""
        return self.treedef.flatten_up_to(arrays)


def _unpickled(
    rest: PyTree, bits: Any, numbered: PyTree, parameters: tuple[Parameter, ...]
) -> Architecture:
    architecture = object.__new__(Architecture)
    treedef = jax.tree.structure(numbered)
    fields = {"rest": rest, "bits": bits, "treedef": treedef, "parameters": parameters}
    for name, value in fields.items():
        object.__setattr__(architecture, name, value)
    return architecture


def _bits(
    base: Sequence[Float[np.ndarray, "..."]], parameters: tuple[Parameter, ...]
) -> tuple[Int[np.ndarray, "..."], ...]:
    """Positive scales as whole numbers, bit by bit, once they are known to fit."""
    if len(base) != len(parameters):
        raise ValueError(f"base must have {len(parameters)} arrays, one per parameter: {len(base)}")
    for scales, parameter in zip(base, parameters, strict=True):
        try:
            np.broadcast_to(scales, parameter.shape)
        except ValueError:
            raise ValueError(
                f"the base of {parameter.name} has the shape {np.shape(scales)}, which does not "
                f"broadcast to {parameter.shape}"
            ) from None
        if not (np.isfinite(scales).all() and (np.asarray(scales) > 0).all()):
            raise ValueError(f"the base of {parameter.name} must be positive and finite")
    return tuple(np.array(scales, np.float32).view(np.int32) for scales in base)
