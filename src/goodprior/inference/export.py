"""Posteriors for other programs: groups of labelled arrays, as ArviZ reads them."""

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import numpy as np

from goodprior.inference.posterior import Posterior
from goodprior.networks import Architecture
from goodprior.priors.base import Latent

if TYPE_CHECKING:
    from xarray import DataTree


def to_datatree(posterior: Posterior, **groups: dict[str, Any]) -> "DataTree":
    """The draws as an `xarray.DataTree`, which ArviZ understands and `.to_netcdf` writes.

    `posterior` has the network's weights by layer, with the dimensions chain and draw first.
    Weights of a network have symmetries and need not mix: R-hat and the like are for `probe`, the
    functions' values at some training points along the chains. `groups` are further groups of
    arrays, by chain and draw as well, but for `observed_data`, which are by row.
    """
    try:
        import xarray
    except ImportError as error:
        raise ImportError(
            'to_datatree needs the package xarray: pip install "goodprior[arviz]"'
        ) from error
    arrays = jax.jit(jax.vmap(jax.vmap(lambda latent: _weights(posterior, latent))))
    found = {"posterior": arrays(posterior.draws), **groups}
    if posterior.probe.shape[1]:
        # In double precision, which ArviZ's ranks and medians want.
        found["probe"] = {"function": np.asarray(posterior.probe, np.float64)}
    tree = {}
    for group, arrays in found.items():
        by_chain = ("row",) if group == "observed_data" else ("chain", "draw")
        variables = {name: _named(name, np.asarray(a), by_chain) for name, a in arrays.items()}
        dataset = xarray.Dataset(variables)
        tree[group] = dataset.assign_coords({d: np.arange(n) for d, n in dataset.sizes.items()})
    return xarray.DataTree.from_dict(tree)


def _named(name: str, array: np.ndarray, first: tuple[str, ...]) -> tuple[tuple[str, ...], Any]:
    """An array with its dimensions' names: the first ones, then the variable's own."""
    rest = (f"{name}_dim_{i}" for i in range(array.ndim - len(first)))
    return (*first, *rest), array


def _weights(posterior: Posterior, latent: Latent) -> dict[str, jax.Array]:
    network = posterior.prior.weights(latent)
    architecture = Architecture(network)
    leaves = architecture.leaves(eqx.filter(network, eqx.is_inexact_array))
    names = [parameter.name for parameter in architecture.parameters]
    return dict(zip(names, leaves, strict=True))
