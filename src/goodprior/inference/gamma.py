"""Gamma variates by rejection, all at once.

JAX's own are drawn one after another on a CPU, which takes longer than the rest of a step.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


def gamma_draws(key: PRNGKeyArray, shape: float | Array, like: Float[Array, "*size"]) -> Array:
    """Independent draws of Gamma(shape, 1), in the shape and precision of another array.

    By Marsaglia and Tsang (2000), who propose the cube of a normal and accept 95 % and more.

    Parameters
    ----------
    key
        Of the random numbers.
    shape
        The distribution's parameter, at least 1.
    like
        An array of the wanted shape.

    Examples
    --------
    >>> draws = gamma_draws(jax.random.key(0), 2.5, jnp.zeros(10_000))
    >>> round(float(draws.mean()), 1), round(float(draws.var()), 1)
    (2.5, 2.5)
    """
    d = shape - 1 / 3

    def propose(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        number, _, accepted, values = carry
        key_normal, key_uniform = jax.random.split(jax.random.fold_in(key, number))
        x = jax.random.normal(key_normal, like.shape, like.dtype)
        v = (1 + x / jnp.sqrt(9 * d)) ** 3
        u = jax.random.uniform(key_uniform, like.shape, like.dtype)
        fits = jnp.log(u) < 0.5 * x**2 + d * (1 - v + jnp.log(jnp.maximum(v, 1e-30)))
        values = jnp.where(accepted, values, (d * v).astype(like.dtype))
        accepted = accepted | (fits & (v > 0))
        return number + 1, accepted.all(), accepted, values

    start = jnp.zeros((), jnp.int32), jnp.zeros((), bool), jnp.zeros(like.shape, bool), like
    return jax.lax.while_loop(lambda carry: ~carry[1], propose, start)[3]
