"""Between a latent and the plain vector that samplers move."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PyTree

from goodprior.priors import Prior
from goodprior.priors.base import Latent

Vector = Float[Array, " dim"]


@dataclass(frozen=True)
class Coordinates:
    """The moving part of a prior's latents as a vector, and back.

    Parameters
    ----------
    prior
        Whose latents they are.
    moving
        Which parts move, as a prefix of the latent's tree, such as `prior.moving`.
    standardised
        Whether the vector's entries are divided by the prior's deviations.

    Examples
    --------
    >>> from goodprior.networks import Dense
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(Dense(2, 1, key=jax.random.key(0)), 4.0)
    >>> vector, held = Coordinates(prior, prior.moving, standardised=True).split(prior.deviations())
    >>> vector.tolist()
    [1.0, 1.0, 1.0]
    """

    prior: Prior
    moving: PyTree
    standardised: bool = False

    def split(self, latent: Latent) -> tuple[Vector, PyTree]:
        """The moving part as a vector, and the part that is drawn by other means."""
        moving, held = eqx.partition(latent, self.moving)
        vector = ravel_pytree(moving)[0]
        return (vector / self._deviations if self.standardised else vector), held

    def join(self, vector: Vector, held: PyTree) -> Latent:
        """The latent of a vector and a held part (None: nothing is held)."""
        if self.standardised:
            vector = vector * self._deviations
        zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, vector.dtype), self._shapes)
        moving = ravel_pytree(eqx.filter(zeros, self.moving))[1](vector)
        return moving if held is None else eqx.combine(moving, held)

    @property
    def groups(self) -> Int[np.ndarray, " dim"]:
        """A number for each entry: equal where entries are alike, so that they can share a scale.

        Those of one array are alike, but for columns of matrices: these belong to different inputs.
        """
        found, count = [], 0
        for leaf in jax.tree.leaves(eqx.filter(self._shapes, self.moving)):
            columns = int(np.prod(leaf.shape[1:])) if len(leaf.shape) > 1 else 1
            found.append(count + np.arange(int(np.prod(leaf.shape))) % columns)
            count += columns
        return np.concatenate(found)

    @property
    def _shapes(self) -> PyTree:
        return jax.eval_shape(self.prior.sample, jax.random.key(0))

    @property
    def _deviations(self) -> Vector:
        return ravel_pytree(eqx.filter(self.prior.deviations(), self.moving))[0]
