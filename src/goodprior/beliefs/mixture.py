"""Several beliefs of which one holds, as those of several people."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.beliefs.base import Belief


class Mixture(eqx.Module):
    """A belief of which every draw comes from one of several others.

    Parameters
    ----------
    parts : tuple of Belief
        About the same inputs and outputs.
    weights : tuple of float
        How probable each is, relative to the others (empty: all alike).

    Examples
    --------
    >>> import jax
    >>> from goodprior.beliefs import GaussianProcess, rbf
    >>> both = Mixture((GaussianProcess(rbf(1.0)), GaussianProcess(rbf(5.0))), (2.0, 1.0))
    >>> both.sample(jax.random.key(0), jax.numpy.zeros((5, 1)), 4).shape
    (4, 5, 1)
    """

    parts: tuple[Belief, ...]
    weights: tuple[float, ...] = eqx.field(static=True, default=())

    def __check_init__(self):
        if not self.parts:
            raise ValueError("a mixture needs at least one belief")
        if self.weights and len(self.weights) != len(self.parts):
            raise ValueError(
                f"a mixture of {len(self.parts)} beliefs needs as many weights, got "
                f"{len(self.weights)}"
            )
        for weight in self.weights:
            checks.positive("a weight of a mixture", weight)

    @property
    def shares(self) -> Float[np.ndarray, " parts"]:
        """The probability of each part."""
        weights = np.array(self.weights or (1.0,) * len(self.parts))
        return weights / weights.sum()

    def sample(
        self, key: PRNGKeyArray, x: Float[Array, "points ..."], n: int
    ) -> Float[Array, "n points out"]:
        """`n` functions at the points, each from a part that is chosen at random."""
        key_part, *keys = jax.random.split(key, len(self.parts) + 1)
        chosen = jax.random.choice(key_part, len(self.parts), (n,), p=jnp.asarray(self.shares))
        draws = [part.sample(k, x, n) for part, k in zip(self.parts, keys, strict=True)]
        return jnp.stack(draws)[chosen, jnp.arange(n)]
