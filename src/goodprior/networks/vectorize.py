"""How a function of one network is applied to many: chains, members, draws."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
from jaxtyping import PyTree

from goodprior.networks.architecture import layers
from goodprior.networks.conv import Conv


def vectorize(network: PyTree) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`jax.vmap`, or one after another for networks with convolutions on a CPU.

    A convolution with as many sets of filters as there are networks is several times slower than
    those convolutions one by one.

    Parameters
    ----------
    network : PyTree
        A network, or what is made for one: an architecture, a prior.

    Returns
    -------
    callable
        From a function of one network to a function of a batch of networks.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> vectorize(MLP(1, (2,), 1, key=jax.random.key(0))) is jax.vmap
    True
    """
    if jax.default_backend() != "cpu" or not layers(network, Conv, eqx.nn.Conv):
        return jax.vmap
    return one_by_one


def one_by_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function applied to one leading index after another (`jax.lax.map`)."""
    return lambda *arguments: jax.lax.map(lambda each: function(*each), arguments)
