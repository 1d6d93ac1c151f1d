"""Networks whose functions can only rise, or only fall, along one column."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from goodprior.networks.fourier import Fourier

NODES = 16  # of the quadrature


class MonotoneNetwork(eqx.Module):
    """A function of the other columns, plus the integral of a positive slope along one of them.

        f(x) = level(x) + steepness * integral from 0 to x[column] of exp(log_slope - 1/2)

    The integral is by Gauss and Legendre's quadrature (Wehenkel and Louppe, 2019). A log slope of
    variance 1 makes the mean slope `steepness`.

    Parameters
    ----------
    level : Fourier
        Of the other columns.
    log_slope : Fourier
        Of all columns.
    column : int
        Along which functions are monotone.
    steepness : sequence of float
        The mean slope of each output; negative where functions fall.

    Examples
    --------
    >>> from goodprior.networks import Monomial, Waves
    >>> key = jax.random.key(0)
    >>> level = Fourier((Monomial(),), 1, key=key)
    >>> log_slope = Fourier((Waves((0,), 20, key=key),), 1, key=key)
    >>> network = MonotoneNetwork(level, log_slope, 0, (2.0,))
    >>> values = jax.vmap(network)(jnp.linspace(-2, 2, 50)[:, None])
    >>> bool((jnp.diff(values[:, 0]) > 0).all())
    True
    """

    level: Fourier
    log_slope: Fourier
    column: int = eqx.field(static=True)
    steepness: tuple[float, ...] = eqx.field(static=True)

    def __init__(self, level: Fourier, log_slope: Fourier, column: int, steepness: Sequence[float]):
        self.level, self.log_slope, self.column = level, log_slope, column
        self.steepness = tuple(steepness)

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        points, lengths = nodes_to(x[self.column])
        along = jnp.tile(x, (NODES, 1)).at[:, self.column].set(points)
        slopes = jnp.exp(jax.vmap(self.log_slope)(along) - 0.5)
        return self.level(x) + jnp.array(self.steepness) * (lengths @ slopes)


def nodes_to(
    end: Float[Array, "..."],
) -> tuple[Float[Array, "... nodes"], Float[Array, "... nodes"]]:
    """Points between 0 and `end`, and weights whose products with values add up to the integral."""
    points, weights = np.polynomial.legendre.leggauss(NODES)
    return end[..., None] * (1 + points) / 2, end[..., None] * weights / 2
