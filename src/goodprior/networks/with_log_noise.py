"""A network for functions and another for their noise."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree


class WithLogNoise(eqx.Module):
    """Functions by one network, log noise variances by another, with scales of its own.

    Parameters
    ----------
    function
        The network whose outputs come first.
    log_noise
        The network whose outputs follow.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> keys = jax.random.split(jax.random.key(0))
    >>> network = WithLogNoise(MLP(2, (20,), 1, key=keys[0]), MLP(2, (5,), 1, key=keys[1]))
    >>> network(jax.numpy.zeros(2)).shape
    (2,)
    """

    function: PyTree
    log_noise: PyTree

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        return jnp.concatenate([self.function(x), self.log_noise(x)])
