"""Gaussian processes as beliefs, and their exact posterior for comparison."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from tinygp.kernels import Kernel

from goodprior import checks
from goodprior.beliefs.base import as_points
from goodprior.beliefs.covariance import cholesky, with_growing_jitter


class GaussianProcess(eqx.Module):
    """A Gaussian process with any tinygp kernel; several outputs are independent.

    Parameters
    ----------
    kernel : Kernel
        Such as `rbf(lengthscale=0.6)`.
    mean : callable, optional
        The mean at one point; zero by default.
    outputs : int
        How many functions a draw consists of.

    Examples
    --------
    >>> import jax
    >>> from goodprior.beliefs import rbf
    >>> belief = GaussianProcess(rbf(lengthscale=0.6))
    >>> belief.sample(jax.random.key(0), jax.numpy.linspace(-1, 1, 20)[:, None], 3).shape
    (3, 20, 1)
    """

    kernel: Kernel
    mean: Callable[[Float[Array, " in"]], Array] | None = None
    outputs: int = eqx.field(static=True, default=1)

    def __check_init__(self):
        checks.whole("outputs", self.outputs)

    def sample(
        self, key: PRNGKeyArray, x: Float[Array, "points ..."], n: int
    ) -> Float[Array, "n points out"]:
        """`n` functions at the points `x`."""
        x, n = as_points("x", x), checks.whole("n", n)
        return with_growing_jitter(lambda jitter: _sample(self, key, x, n, jitter), self)

    def posterior(
        self,
        x: Float[Array, "rows ..."],
        y: Float[Array, "rows out"],
        noise_variance: float,
        at: Float[Array, "points ..."],
    ) -> tuple[Float[Array, "points out"], Float[Array, "points points"]]:
        """Mean and covariance at new points after seeing `y` at `x` with Gaussian noise.

        Parameters
        ----------
        x, y : Array
            Rows of inputs and of targets.
        noise_variance : float
            Of the targets.
        at : Array
            The new points.

        Returns
        -------
        mean : Array
            A column for each output.
        covariance : Array
            Of the function, without noise; the same for every output.
        """
        x, at, y = as_points("x", x), as_points("at", at), checks.table("y", y)
        if len(x) != len(y):
            raise ValueError(f"x and y must have as many rows: {len(x)} and {len(y)}")
        noise_variance = checks.positive("noise_variance", noise_variance)
        mean, covariance = _posterior(self, x, y, noise_variance, at)
        if not np.isfinite(np.asarray(mean)).all():
            raise ValueError(
                "the covariance of the rows could not be factorised: check the kernel's "
                f"hyper-parameters, or give a noise_variance above {noise_variance:g}"
            )
        return mean, covariance

    def mean_at(self, x: Float[Array, "points in"]) -> Float[Array, "points out"]:
        """The mean at these points."""
        if self.mean is None:
            return jnp.zeros((len(x), self.outputs), x.dtype)
        return jax.vmap(lambda one: jnp.broadcast_to(self.mean(one), (self.outputs,)))(x)  # type: ignore[misc]


@eqx.filter_jit
def _sample(belief: GaussianProcess, key: PRNGKeyArray, x: Array, n: int, jitter: Array) -> Array:
    noise = jax.random.normal(key, (len(x), n * belief.outputs))
    with jax.enable_x64(True):
        wide = x.astype(jnp.float64)
        factor = cholesky(belief.kernel(wide, wide), jitter)
        functions = (factor @ noise.astype(jnp.float64)).astype(jnp.float32)
    functions = functions.reshape(len(x), n, belief.outputs).swapaxes(0, 1)
    return functions + belief.mean_at(x)


@eqx.filter_jit
def _posterior(
    belief: GaussianProcess, x: Array, y: Array, noise_variance: float, at: Array
) -> tuple[Array, Array]:
    residual = y - belief.mean_at(x)
    with jax.enable_x64(True):
        wide, new = x.astype(jnp.float64), at.astype(jnp.float64)
        noise = noise_variance * jnp.eye(len(x), dtype=jnp.float64)
        factor = cholesky(belief.kernel(wide, wide) + noise)
        cross = jax.scipy.linalg.solve_triangular(factor, belief.kernel(wide, new), lower=True)
        whitened = jax.scipy.linalg.solve_triangular(
            factor, residual.astype(jnp.float64), lower=True
        )
        mean = (cross.T @ whitened).astype(jnp.float32)
        covariance = (belief.kernel(new, new) - cross.T @ cross).astype(jnp.float32)
    return mean + belief.mean_at(at), covariance
