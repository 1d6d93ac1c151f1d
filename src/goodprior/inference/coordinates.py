"""Between a prior's latent and the plain vector that samplers move."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

from goodprior.priors import Prior
from goodprior.priors.base import Latent

Vector = Float[Array, " dim"]


def split(prior: Prior, latent: Latent) -> tuple[Vector, PyTree]:
    """The moving part of a latent as a vector, and the part that only `refresh` changes."""
    moving, held = eqx.partition(latent, prior.moving)
    return ravel_pytree(moving)[0], held


def joiner(prior: Prior) -> Callable[[Vector, PyTree], Latent]:
    """The function that puts a vector and a held part together again (None: nothing is held)."""
    shapes = jax.eval_shape(prior.sample, jax.random.key(0))
    zeros = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)
    unravel = ravel_pytree(eqx.filter(zeros, prior.moving))[1]

    def join(vector: Vector, held: PyTree) -> Latent:
        moving = unravel(vector)
        return moving if held is None else eqx.combine(moving, held)

    return join
