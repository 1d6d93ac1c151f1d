"""Networks of the user's own: a file keeps their arrays, but not their code.

In place of such a network (its arrays in draws, its other parts in a prior) the file has its
leaves. The network given at reading has the structure, and the leaves that cannot be stored, such
as functions.
"""

from typing import Any

import equinox as eqx
import jax
import numpy as np
from tinygp.kernels import Kernel

from goodprior.storage.arrays import is_array


def is_one(thing: Any) -> bool:
    """A module or another pytree that can be called, as networks can; a kernel is no network."""
    tree = isinstance(thing, eqx.Module) or not jax.tree_util.all_leaves([thing])
    return tree and callable(thing) and not isinstance(thing, Kernel)


def name(network: Any) -> str:
    """The class, for messages and to tell one network from another."""
    return f"{type(network).__module__}.{type(network).__qualname__}"


def leaves(network: Any) -> dict[str, Any]:
    """The leaves by their paths; what has been left out (None) has no path."""
    found, _ = jax.tree_util.tree_flatten_with_path(network)
    return {jax.tree_util.keystr(path): leaf for path, leaf in found}


def is_stored(leaf: Any) -> bool:
    """Arrays and numbers are stored, all else is taken from the network given at reading."""
    return is_array(leaf) or type(leaf) in (bool, int, float)


def fill(network: Any, wanted: str, found: dict[str, Any], kept: list[str]) -> Any:
    """The network with the leaves that were found, its own where kept, and no others."""
    if network is None:
        raise ValueError(f"it was written with a network of your own, {wanted}: give network=...")
    if name(network) != wanted:
        raise ValueError(f"it was written with the network {wanted}, but got {name(network)}")
    given = leaves(network)
    unknown = [path for path in (*found, *kept) if path not in given]
    random = [path for path, leaf in given.items() if eqx.is_inexact_array(leaf)]
    missing = [path for path in random if path not in found]
    if unknown or 0 < len(missing) < len(random):  # either all weights are there or none
        raise ValueError(
            f"the network does not fit: it has {', '.join(given)}, and the file "
            f"{', '.join((*found, *kept))}"
        )
    for path, leaf in found.items():
        _check_fit(path, leaf, given[path])
    filled = [
        leaf if path in kept else found.get(path)  # None where nothing was
        for path, leaf in given.items()
    ]
    return jax.tree.unflatten(jax.tree.structure(network), filled)


def check_shapes(whole: Any, network: Any) -> None:
    """Refuse a network whose arrays have other shapes than those of which this one was made."""
    if network is None:
        return
    parts = jax.tree.leaves(whole, is_leaf=lambda part: type(part) is type(network))
    for part in parts:
        if type(part) is type(network):
            given = leaves(network)
            for path, leaf in leaves(part).items():
                _check_fit(path, leaf, given[path])


def _check_fit(path: str, leaf: Any, given: Any) -> None:
    """Draws have axes of their own before those of the network."""
    shape, wanted = np.shape(given), np.shape(leaf)
    if is_array(leaf) and (not is_array(given) or wanted[len(wanted) - len(shape) :] != shape):
        raise ValueError(
            f"the network does not fit: its {path} has the shape {shape}, in the file {wanted}"
        )
