"""Gaussian processes whose hyper-parameters are uncertain (paper, sections 2.2 and 6.2)."""

from collections.abc import Callable
from math import log
from typing import Literal

import equinox as eqx
import jax
import jax.core
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from tinygp.kernels import Kernel

from goodprior import checks
from goodprior.beliefs.base import as_points
from goodprior.beliefs.covariance import cholesky, with_growing_jitter
from goodprior.beliefs.kernels import KERNELS
from goodprior.distributions import Distribution, LogNormal


class HierarchicalGP(eqx.Module):
    """A Gaussian process of which every draw has a lengthscale and a variance of its own.

    The outputs of one draw share its hyper-parameters and are otherwise independent.

    Parameters
    ----------
    lengthscale, variance : Distribution
        Anything with `sample(key, shape)`, such as `LogNormal`.
    kernel : str or callable
        A name from `KERNELS`, or a function of a lengthscale and a variance that gives a tinygp
        kernel.
    ard : bool
        Whether there is a lengthscale for each input, or one for all.
    outputs : int
        How many functions a draw consists of.

    Examples
    --------
    >>> import jax
    >>> belief = HierarchicalGP.default(inputs=2)
    >>> belief.sample(jax.random.key(0), jax.numpy.zeros((20, 2)), 3).shape
    (3, 20, 1)
    """

    lengthscale: Distribution
    variance: Distribution
    kernel: str | Callable[..., Kernel] = eqx.field(static=True, default="rbf")
    ard: bool = eqx.field(static=True, default=True)
    outputs: int = eqx.field(static=True, default=1)

    def __check_init__(self):
        if isinstance(self.kernel, str):
            checks.one_of("kernel", self.kernel, KERNELS)
        checks.whole("outputs", self.outputs)

    @classmethod
    def default(
        cls,
        inputs: int,
        task: Literal["regression", "classification"] = "regression",
        outputs: int = 1,
    ) -> "HierarchicalGP":
        """The paper's belief for standardised tables.

        Lengthscales LogNormal(log sqrt(2 inputs), 1); variance LogNormal(0.1, 1) for regression and
        LogNormal(log 8, 0.3) for classification.

        Parameters
        ----------
        inputs : int
            Columns of the table.
        task : str
            `regression` or `classification`.
        outputs : int
            Targets or logits.
        """
        checks.one_of("task", task, ("regression", "classification"))
        lengthscale = LogNormal(0.5 * log(2 * checks.whole("inputs", inputs)), 1.0)
        variance = LogNormal(0.1, 1.0) if task == "regression" else LogNormal(log(8), 0.3)
        return cls(lengthscale, variance, outputs=outputs)

    @classmethod
    def images(cls, outputs: int = 10) -> "HierarchicalGP":
        """The paper's belief for images (section 6.4), over their pixels, one after another.

        One lengthscale, LogNormal(log 512, 0.3), and variance LogNormal(log 8, 0.3). The pixels
        are to be standardised by channel: two images of CIFAR-10 are then some 73 apart, so that
        a function's values there have a correlation of about 0.99. Its classes hardly change from
        image to image. (With pixels from 0 to 1 they are 18 apart and it is nearly constant, from 0
        to 255 they are 4,700 apart and values have nothing to do with each other.)

        Parameters
        ----------
        outputs : int
            Classes.

        Examples
        --------
        >>> import jax
        >>> belief = HierarchicalGP.images(outputs=3)
        >>> belief.sample(jax.random.key(0), jax.numpy.zeros((5, 8, 8, 1)), 2).shape
        (2, 5, 3)
        """
        return cls(LogNormal(log(512), 0.3), LogNormal(log(8), 0.3), ard=False, outputs=outputs)

    def sample(
        self, key: PRNGKeyArray, x: Float[Array, "points ..."], n: int
    ) -> Float[Array, "n points out"]:
        """`n` functions at the points `x`, each with its own hyper-parameters."""
        x, n = as_points("x", x), checks.whole("n", n)
        key_length, key_variance, key_noise = jax.random.split(key, 3)
        each = (n, x.shape[1]) if self.ard else (n,)
        lengthscales = _positive_draws("lengthscale", self.lengthscale, key_length, each)
        variances = _positive_draws("variance", self.variance, key_variance, (n,))
        family = KERNELS[self.kernel] if isinstance(self.kernel, str) else self.kernel
        return with_growing_jitter(
            lambda jitter: _sample(
                family, lengthscales, variances, key_noise, x, self.outputs, jitter
            ),
            self,
        )


def _positive_draws(
    name: str, distribution: Distribution, key: PRNGKeyArray, shape: tuple[int, ...]
) -> Float[Array, "..."]:
    """Hyper-parameters, drawn outside compiled code: a user's distribution may use any library."""
    values = jnp.asarray(distribution.sample(key, shape), jnp.float32)
    if values.shape != shape:
        raise ValueError(
            f"{name}.sample(key, {shape}) must return an array of that shape, got {values.shape}"
        )
    if not isinstance(values, jax.core.Tracer) and not bool((values > 0).all()):
        raise ValueError(
            f"{name} must be drawn above zero, but {distribution} gave {float(values.min()):g}"
        )
    return values


@eqx.filter_jit
def _sample(
    family: Callable[..., Kernel],
    lengthscales: Float[Array, "n ..."],
    variances: Float[Array, " n"],
    key: PRNGKeyArray,
    x: Float[Array, "points in"],
    outputs: int,
    jitter: Array,
) -> Float[Array, "n points out"]:
    noise = jax.random.normal(key, (len(variances), len(x), outputs))
    with jax.enable_x64(True):
        wide = x.astype(jnp.float64)

        def one(lengthscale: Array, variance: Array, noise: Array) -> Array:
            factor = cholesky(family(lengthscale, variance)(wide, wide), jitter)
            return (factor @ noise).astype(jnp.float32)

        hyper = (v.astype(jnp.float64) for v in (lengthscales, variances, noise))
        return jax.vmap(one)(*hyper)
