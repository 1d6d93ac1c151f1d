"""The kernels of beliefs: short constructors over tinygp, all with Euclidean distances.

`variance` is the variance of the function, `lengthscale` a number, or one per input (ARD).
Kernels add and multiply: `rbf(lengthscale=2.0) + periodic(period=1.0) * rbf(lengthscale=10.0)`.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float
from tinygp import kernels, transforms
from tinygp.kernels.distance import L2Distance

Lengthscale = float | Float[Array, ""] | Float[Array, " inputs"]
Scalar = float | Float[Array, ""]


def _scaled(
    kernel: Callable[[], kernels.Kernel], lengthscale: Lengthscale, variance: Scalar
) -> kernels.Kernel:
    inverse = 1.0 / jnp.asarray(lengthscale)
    return kernels.Constant(jnp.asarray(variance)) * transforms.Linear(inverse, kernel())


def rbf(lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0) -> kernels.Kernel:
    """Very smooth functions: `variance * exp(-r^2 / 2)`, r in units of the lengthscale.

    >>> float(rbf(lengthscale=2.0, variance=3.0)(jnp.zeros((1, 1)), jnp.full((1, 1), 2.0))[0, 0])
    1.8195...
    """
    return _scaled(lambda: kernels.ExpSquared(distance=L2Distance()), lengthscale, variance)


def matern12(lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0) -> kernels.Kernel:
    """Continuous, nowhere smooth functions: `variance * exp(-r)`."""
    return _scaled(lambda: kernels.Exp(distance=L2Distance()), lengthscale, variance)


def matern32(lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0) -> kernels.Kernel:
    """Functions with one derivative: `variance * (1 + sqrt(3) r) exp(-sqrt(3) r)`."""
    return _scaled(lambda: kernels.Matern32(distance=L2Distance()), lengthscale, variance)


def matern52(lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0) -> kernels.Kernel:
    """Functions with two derivatives: `variance * (1 + s + s^2 / 3) exp(-s)`, `s = sqrt(5) r`."""
    return _scaled(lambda: kernels.Matern52(distance=L2Distance()), lengthscale, variance)


def rational_quadratic(
    lengthscale: Lengthscale = 1.0, variance: Scalar = 1.0, alpha: Scalar = 1.0
) -> kernels.Kernel:
    """A mixture of lengthscales: `variance * (1 + r^2 / (2 alpha))^-alpha`."""
    return _scaled(
        lambda: kernels.RationalQuadratic(alpha=jnp.asarray(alpha), distance=L2Distance()),
        lengthscale,
        variance,
    )


def periodic(
    lengthscale: Scalar = 1.0, variance: Scalar = 1.0, period: Scalar = 1.0
) -> kernels.Kernel:
    """Periodic functions: `variance * exp(-2 sin^2(pi r / period) / lengthscale^2)`.

    Periodic in the distance, so meant for one input; multiply kernels of single columns for more.
    The lengthscale is relative to the period.
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
