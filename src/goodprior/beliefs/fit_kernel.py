"""Any kernel with the hyper-parameters that explain the data best, by Adam."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree
from tinygp.kernels import Kernel

from goodprior import checks
from goodprior.beliefs.covariance import cholesky
from goodprior.beliefs.gaussian_process import GaussianProcess
from goodprior.beliefs.kernel_network import kernel_network
from goodprior.beliefs.kernels import rbf
from goodprior.progress import Pace, StopSampling

LARGE = 2000  # rows from which a kernel network takes the place of an RBF kernel


class FittedKernel(NamedTuple):
    """A belief, the noise variance that goes with it, and their log marginal likelihood."""

    belief: GaussianProcess
    noise_variance: float
    log_marginal_likelihood: float


def fit_kernel(
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    kernel: Kernel | None = None,
    noise_variance: float = 0.1,
    rows: int = 1000,
    steps: int = 200,
    learning_rate: float = 0.05,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> FittedKernel:
    """Fit any kernel to standardised data by its marginal likelihood, as the paper's fBNN does.

    Every array of the kernel is taken as a positive hyper-parameter and moved, by Adam on its
    logarithm, together with the noise variance.

    Parameters
    ----------
    X, y : array_like
        Standardised inputs and targets.
    key : PRNGKeyArray
        Of the choice of rows and the weights of a kernel network.
    kernel : Kernel, optional
        Where to start. By default an RBF with a lengthscale per input, or a kernel network for
        tables of 2,000 rows and more.
    noise_variance : float
        Where to start.
    rows : int
        Random rows to fit to, at most.
    steps : int
        Of Adam.
    learning_rate : float
        Of Adam.
    on_progress : callable, optional
        Called with (steps done, in all, a word); it may end the fit by raising `StopSampling`.

    Returns
    -------
    FittedKernel
        The belief, the noise variance and the log marginal likelihood.

    Raises
    ------
    FloatingPointError
        If the marginal likelihood is not finite in the end.

    Examples
    --------
    >>> import jax
    >>> x = jax.numpy.linspace(-3, 3, 50)[:, None]
    >>> fitted = fit_kernel(x, jax.numpy.sin(x), kernel=rbf(1.0), key=jax.random.key(0))
    >>> fitted.noise_variance < 0.01
    True
    """
    X, y = checks.matrix("X", X), checks.table("y", y)
    if len(X) != len(y):
        raise ValueError(f"X and y must have as many rows: {len(X)} and {len(y)}")
    checks.positive("noise_variance", noise_variance)
    checks.whole("steps", steps)
    key_kernel, key_rows = jax.random.split(key)
    if kernel is None:
        inputs = X.shape[1]
        small = len(X) < LARGE
        kernel = rbf(jnp.full(inputs, inputs**0.5)) if small else kernel_network(inputs, key_kernel)
    picked = np.asarray(jax.random.permutation(key_rows, len(X)))[: checks.whole("rows", rows)]
    arrays, rest = eqx.partition(kernel, eqx.is_inexact_array)
    start = jax.tree.map(
        lambda leaf: np.log(np.asarray(leaf, np.float64)), (arrays, np.asarray(noise_variance))
    )
    x_wide, y_wide = (np.asarray(part[picked], np.float64) for part in (X, y))
    with jax.enable_x64(True):
        run = _Run(rest, start, x_wide, y_wide, learning_rate)
        hyper, value = run.maximise(steps, on_progress)
    if not np.isfinite(value):
        raise FloatingPointError(
            "the marginal likelihood of the belief is not finite: try a smaller learning_rate or a "
            "larger noise_variance to start from"
        )
    found = jax.tree.map(lambda leaf: jnp.asarray(np.exp(leaf), jnp.float32), hyper[0])
    belief = GaussianProcess(eqx.combine(found, rest), outputs=y.shape[1])
    return FittedKernel(belief, float(np.exp(hyper[1])), float(value))


class _Run:
    """Adam on the logarithms of the hyper-parameters, some steps at a time."""

    def __init__(
        self, rest: PyTree, start: PyTree, X: np.ndarray, y: np.ndarray, learning_rate: float
    ):
        optimiser = optax.adam(learning_rate)
        self.optimiser = optax.apply_if_finite(optimiser, max_consecutive_errors=2**30)
        self.rest, self.data = rest, (jnp.asarray(X), jnp.asarray(y))
        self.hyper = jax.tree.map(jnp.asarray, start)
        self.state = self.optimiser.init(self.hyper)

    def maximise(
        self, steps: int, on_progress: Callable[[int, int, str], None] | None
    ) -> tuple[PyTree, float]:
        """The hyper-parameters after so many steps, or fewer, and the value there."""
        done, pace = 0, Pace()
        with suppress(StopSampling):
            while done < steps:
                now, count = time.monotonic(), min(pace.pieces, steps - done)
                many = jnp.asarray(count, jnp.int32)
                found = _steps(self.optimiser, self.rest, *self.data, self.hyper, self.state, many)
                self.hyper, self.state = jax.block_until_ready(found)
                pace.took(count, time.monotonic() - now)
                done += count
                if on_progress is not None:
                    on_progress(done, steps, "fitting")
        value = _log_marginal_likelihood(self.hyper, self.rest, *self.data)
        return jax.tree.map(np.asarray, self.hyper), float(value)


@eqx.filter_jit
def _log_marginal_likelihood(hyper: PyTree, rest: PyTree, X: Array, y: Array) -> Float[Array, ""]:
    arrays, noise_variance = jax.tree.map(jnp.exp, hyper)
    kernel = eqx.combine(arrays, rest)
    covariance = kernel(X, X) + noise_variance * jnp.eye(len(X))
    factor = cholesky(covariance, 1e-9)
    white = solve_triangular(factor, y, lower=True)
    log_det = y.shape[1] * 2 * jnp.log(jnp.diagonal(factor)).sum()
    return -0.5 * ((white**2).sum() + log_det + y.size * jnp.log(2 * jnp.pi))


@eqx.filter_jit
def _steps(
    optimiser: optax.GradientTransformation,
    rest: PyTree,
    X: Array,
    y: Array,
    hyper: PyTree,
    state: optax.OptState,
    count: Int[Array, ""],
) -> tuple[PyTree, optax.OptState]:
    def step(_: Array, carry: tuple[PyTree, optax.OptState]) -> tuple[PyTree, optax.OptState]:
        hyper, state = carry
        grad = jax.grad(lambda hyper: -_log_marginal_likelihood(hyper, rest, X, y))(hyper)
        updates, state = optimiser.update(grad, state, hyper)
        return optax.apply_updates(hyper, updates), state

    return jax.lax.fori_loop(0, count, step, (hyper, state))
