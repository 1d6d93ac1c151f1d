"""Several beliefs side by side, one for each group of outputs."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior.beliefs.base import Belief


class Stacked(eqx.Module):
    """Independent beliefs about different outputs, in order.

    With a `Heteroscedastic` likelihood the second half of the outputs are log noise variances:
    stack the belief about the function on a belief about those.

    Parameters
    ----------
    parts : tuple of Belief
        In the order of the outputs.

    Examples
    --------
    >>> import jax
    >>> from goodprior.beliefs import GaussianProcess, rbf
    >>> level = GaussianProcess(rbf(3.0, 0.5), mean=lambda x: jax.numpy.log(0.1))
    >>> both = Stacked((GaussianProcess(rbf(1.0)), level))
    >>> both.sample(jax.random.key(0), jax.numpy.zeros((5, 1)), 4).shape
    (4, 5, 2)
    """

    parts: tuple[Belief, ...]

    def sample(
        self, key: PRNGKeyArray, x: Float[Array, "points ..."], n: int
    ) -> Float[Array, "n points out"]:
        """`n` functions at the points, the parts' outputs one after another."""
        keys = jax.random.split(key, len(self.parts))
        draws = [part.sample(k, x, n) for part, k in zip(self.parts, keys, strict=True)]
        return jnp.concatenate(draws, axis=-1)
