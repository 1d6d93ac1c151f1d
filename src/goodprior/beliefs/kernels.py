"""The kernels of beliefs: short constructors over tinygp, all with Euclidean distances.

`variance` is the variance of the function, `lengthscale` a number, or one per input (ARD).
Kernels add and multiply: `rbf(lengthscale=2.0) + periodic(period=1.0) * rbf(lengthscale=10.0)`.
"""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from tinygp import kernels, transforms
from tinygp.kernels.distance import L2Distance

Lengthscale = float | Float[Array, ""] | Float[Array | np.ndarray, " inputs"]
Scalar = float | Float[Array, ""]


class Radial(kernels.Kernel):
    """A kernel of the distance alone: `variance * profile(r^2)`, r in units of the lengthscale.

    Whole matrices are computed through one matrix product, several times faster than pair by pair.
    """

    lengthscale: Array = eqx.field(converter=jnp.asarray)
    variance: Array = eqx.field(converter=jnp.asarray)
    profile: Callable[[Array], Array] = eqx.field(static=True)

    def evaluate(self, X1: Array, X2: Array) -> Array:
        """The covariance of the function's values at two points."""
        return self.variance * self.profile(jnp.sum(((X1 - X2) / self.lengthscale) ** 2))

    def __call__(self, X1: Array, X2: Array | None = None) -> Array:
        """The covariance matrix between two sets of points, or the variances at one."""
        if X2 is None:
            return jnp.broadcast_to(self.variance * self.profile(jnp.zeros(())), (len(X1),))
        centre = X2.mean(axis=0)  # far from zero the squares would lose their precision
        a, b = (X1 - centre) / self.lengthscale, (X2 - centre) / self.lengthscale
        squares = (a**2).sum(-1)[:, None] + (b**2).sum(-1)[None] - 2 * a @ b.T
        return self.variance * self.profile(jnp.maximum(squares, 0))


def _root(square: Array) -> Array:
    return jnp.sqrt(jnp.maximum(square, 1e-20))  # a finite gradient at zero


def _exp(square: Array) -> Array:
    return jnp.exp(-0.5 * square)


def _matern12(square: Array) -> Array:
    return jnp.exp(-_root(square))


def _matern32(square: Array) -> Array:
    s = 3**0.5 * _root(square)
    return (1 + s) * jnp.exp(-s)


def _matern52(square: Array) -> Array:
    s = 5**0.5 * _root(square)
    return (1 + s + s**2 / 3) * jnp.exp(-s)


PROFILES: dict[str, Callable[[Array], Array]] = {
    "rbf": _exp,
    "matern12": _matern12,
    "matern32": _matern32,
    "matern52": _matern52,
}


def rbf(lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0) -> kernels.Kernel:
    """Very smooth functions: `variance * exp(-r^2 / 2)`, r in units of the lengthscale.

    Parameters
    ----------
    lengthscale : float or Array
        One number, or one per input.
    variance : float
        Of the function's values.

    Examples
    --------
    >>> float(rbf(lengthscale=2.0, variance=3.0)(jnp.zeros((1, 1)), jnp.full((1, 1), 2.0))[0, 0])
    1.8195...
    """
    return Radial(lengthscale, variance, _exp)


def matern12(lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0) -> kernels.Kernel:
    """Continuous, nowhere smooth functions: `variance * exp(-r)`.

    Parameters
    ----------
    lengthscale : float or Array
        One number, or one per input.
    variance : float
        Of the function's values.

    Examples
    --------
    >>> kernel = matern12(lengthscale=2.0, variance=3.0)
    >>> float(kernel(jnp.zeros((1, 1)), jnp.full((1, 1), 2.0))[0, 0])
    1.1036...
    """
    return Radial(lengthscale, variance, _matern12)


def matern32(lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0) -> kernels.Kernel:
    """Functions with one derivative: `variance * (1 + sqrt(3) r) exp(-sqrt(3) r)`.

    Parameters
    ----------
    lengthscale : float or Array
        One number, or one per input.
    variance : float
        Of the function's values.

    Examples
    --------
    >>> kernel = matern32(lengthscale=2.0, variance=3.0)
    >>> float(kernel(jnp.zeros((1, 1)), jnp.full((1, 1), 2.0))[0, 0])
    1.4500...
    """
    return Radial(lengthscale, variance, _matern32)


def matern52(lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0) -> kernels.Kernel:
    """Functions with two derivatives: `variance * (1 + s + s^2 / 3) exp(-s)`, `s = sqrt(5) r`.

    Parameters
    ----------
    lengthscale : float or Array
        One number, or one per input.
    variance : float
        Of the function's values.

    Examples
    --------
    >>> kernel = matern52(lengthscale=2.0, variance=3.0)
    >>> float(kernel(jnp.zeros((1, 1)), jnp.full((1, 1), 2.0))[0, 0])
    1.5719...
    """
    return Radial(lengthscale, variance, _matern52)


def rational_quadratic(
    lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0, alpha: Scalar = 1.0
) -> kernels.Kernel:
    """A mixture of lengthscales: `variance * (1 + r^2 / (2 alpha))^-alpha`.

    Parameters
    ----------
    lengthscale : float or Array
        One number, or one per input.
    variance : float
        Of the function's values.
    alpha : float
        The smaller, the wider the mixture.

    Examples
    --------
    >>> kernel = rational_quadratic(lengthscale=2.0, variance=3.0)
    >>> float(kernel(jnp.zeros((1, 1)), jnp.full((1, 1), 2.0))[0, 0])
    2.0
    """
    inverse = 1.0 / jnp.asarray(lengthscale)
    kernel = kernels.RationalQuadratic(alpha=jnp.asarray(alpha), distance=L2Distance())
    return kernels.Constant(jnp.asarray(variance)) * transforms.Linear(inverse, kernel)


def periodic(
    lengthscale: Scalar = 1.0, variance: Scalar = 1.0, period: Scalar = 1.0
) -> kernels.Kernel:
    """Periodic functions: `variance * exp(-2 sin^2(pi r / period) / lengthscale^2)`.

    Periodic in the distance, so meant for one input; multiply kernels of single columns for more.

    Parameters
    ----------
    lengthscale : float
        Relative to the period.
    variance : float
        Of the function's values.
    period : float
        In units of the input.

    Examples
    --------
    >>> kernel = periodic(period=2.0, variance=3.0)
    >>> float(kernel(jnp.zeros((1, 1)), jnp.full((1, 1), 2.0))[0, 0])
    3.0
    """
    gamma = 2.0 / jnp.asarray(lengthscale) ** 2
    return kernels.Constant(jnp.asarray(variance)) * kernels.ExpSineSquared(
        scale=jnp.asarray(period), gamma=gamma, distance=L2Distance()
    )


KERNELS: dict[str, Callable[..., kernels.Kernel]] = {
    "rbf": rbf,
    "matern12": matern12,
    "matern32": matern32,
    "matern52": matern52,
    "rational_quadratic": rational_quadratic,
    "periodic": periodic,
}
