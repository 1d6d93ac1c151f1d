"""Distributions of single numbers: hyper-priors of beliefs and noise levels."""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks


@runtime_checkable
class Distribution(Protocol):
    """Anything that can be sampled in a given shape."""

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
        """Independent draws."""
        ...


class LogNormal(eqx.Module):
    """The logarithm is N(location, variance).

    Parameters
    ----------
    location : float
        Mean of the logarithm.
    variance : float
        Of the logarithm; not a standard deviation, as in the paper.

    Examples
    --------
    >>> import jax
    >>> draws = LogNormal(0.0, 1.0).sample(jax.random.key(0), (1000,))
    >>> bool(0.9 < jax.numpy.median(draws) < 1.1)
    True
    """

    location: float
    variance: float

    def __check_init__(self):
        checks.positive("variance", self.variance)

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
        return jnp.exp(self.location + self.variance**0.5 * jax.random.normal(key, shape))


class Fixed(eqx.Module):
    """Always the same positive number.

    Parameters
    ----------
    value : float
        The number.

    Examples
    --------
    >>> import jax
    >>> Fixed(2.0).sample(jax.random.key(0), (2,)).tolist()
    [2.0, 2.0]
    """

    value: float

    def __check_init__(self):
        checks.positive("value", self.value)

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
        return jnp.full(shape, self.value)
