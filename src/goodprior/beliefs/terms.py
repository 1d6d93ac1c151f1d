"""Beliefs as sums of products of kernels of single columns, the form in which a network has them.

A sum of terms can be sampled like any belief; `goodprior.priors.closed_form` turns it into a
network and its prior without any matching.
"""

from collections.abc import Sequence
from math import inf, pi
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from tinygp.kernels import Kernel

from goodprior import checks
from goodprior.beliefs.base import as_points
from goodprior.beliefs.covariance import cholesky, with_growing_jitter
from goodprior.beliefs.gaussian_process import GaussianProcess
from goodprior.beliefs.kernels import PROFILES

SMOOTHNESS = {"rbf": inf, "matern12": 0.5, "matern32": 1.5, "matern52": 2.5}
_NAMES = {smoothness: name for name, smoothness in SMOOTHNESS.items()}


class About(NamedTuple):
    """A positive number that is LogNormal.

    Attributes
    ----------
    median : float
        Of the number.
    log_std : float
        Standard deviation of its logarithm; 0: the number is known.

    Examples
    --------
    >>> About(2.0), About(2.0, log_std=0.3)
    (About(median=2.0, log_std=0.0), About(median=2.0, log_std=0.3))
    """

    median: float
    log_std: float = 0.0


class Factor(NamedTuple):
    """The kernel of one column.

    The factors of one term that have the same finite smoothness share their distance: together
    they are one Matern kernel of several columns.

    Attributes
    ----------
    column : int
        Of the inputs.
    lengthscale : About
        In units of the column; relative to the period if there is one.
    smoothness : float
        Of the Matern family: 0.5, 1.5, 2.5, or infinite for an RBF.
    period : float or None
        After which functions repeat.

    Examples
    --------
    >>> season = Factor(0, lengthscale=About(0.5), period=12.0)
    >>> rough = Factor(1, smoothness=0.5)
    >>> season.period, rough.lengthscale.median
    (12.0, 1.0)
    """

    column: int
    lengthscale: About = About(1.0)
    smoothness: float = inf
    period: float | None = None


class Term(NamedTuple):
    """`amplitude^2`, times kernels of columns, times products of columns at both points.

    Without factors it is linear in the columns of `times`, or constant if there are none. With
    `slopes` it is linear in each of several columns, with one amplitude for all of them.

    Attributes
    ----------
    amplitude : About
        The standard deviation of the term (at columns of one, if it has `times`).
    factors : tuple of Factor
        Kernels that are multiplied.
    times : tuple of int
        Columns by which functions are multiplied.
    slopes : tuple of int
        Columns whose slopes are independent, each with the deviation `amplitude`: an uncertain one
        is shared. Such a term has neither factors nor `times`.

    Examples
    --------
    >>> line = Term(About(0.5), times=(0,))
    >>> plane = Term(About(0.5, log_std=1.0), slopes=(0, 1))
    >>> smooth = Term(About(1.0), (Factor(0), Factor(1, About(3.0))))
    >>> SumOfTerms((line, smooth)).is_certain
    True
    """

    amplitude: About
    factors: tuple[Factor, ...] = ()
    times: tuple[int, ...] = ()
    slopes: tuple[int, ...] = ()


class SumOfTerms(eqx.Module):
    """A Gaussian process whose covariance is a sum of terms; every draw has its own uncertain ones.

    The outputs of one draw share lengthscales and amplitudes and are otherwise independent.

    Parameters
    ----------
    terms : tuple of Term
        To be added.
    output_scales : tuple of float
        By which each output is multiplied; as many as there are outputs.

    Examples
    --------
    >>> import jax
    >>> trend = Term(About(0.5), times=(0,))
    >>> season = Term(About(1.0), (Factor(0, period=0.35),))
    >>> belief = SumOfTerms((trend, season))
    >>> belief.sample(jax.random.key(0), jax.numpy.linspace(-1, 1, 20)[:, None], 3).shape
    (3, 20, 1)
    """

    terms: tuple[Term, ...] = eqx.field(static=True)
    output_scales: tuple[float, ...] = eqx.field(static=True, default=(1.0,))

    def __check_init__(self):
        if not self.terms or not self.output_scales:
            raise ValueError("a sum of terms needs at least one term and one output")
        for term in self.terms:
            _check(term)

    @property
    def outputs(self) -> int:
        """How many functions a draw consists of."""
        return len(self.output_scales)

    @property
    def is_certain(self) -> bool:
        """Whether all lengthscales and amplitudes are known, so that draws are Gaussian."""
        return not any(about.log_std for about in _abouts(self.terms))

    def sample(
        self, key: PRNGKeyArray, x: Float[Array, "points ..."], n: int
    ) -> Float[Array, "n points out"]:
        """`n` functions at the points `x`."""
        x, n = as_points("x", x), checks.whole("n", n)
        medians, log_stds = np.array([*_abouts(self.terms)]).T
        shape = _shape_of(self.terms)
        draw = _sample_certain if self.is_certain else _sample_uncertain
        functions = with_growing_jitter(
            lambda jitter: draw(shape, key, medians, log_stds, x, n, self.outputs, jitter), self
        )
        return functions * jnp.array(self.output_scales)

    def gaussian_process(self) -> GaussianProcess | None:
        """The same belief as a `GaussianProcess` (None: uncertain, or outputs of other scales)."""
        if not self.is_certain or any(scale != 1 for scale in self.output_scales):
            return None
        return GaussianProcess(TermsKernel(self.terms), outputs=self.outputs)


class TermsKernel(Kernel):
    """The covariance of a sum of terms with known hyper-parameters, as a tinygp kernel."""

    terms: tuple[Term, ...] = eqx.field(static=True)

    def evaluate(self, X1: Array, X2: Array) -> Array:
        """The covariance of the function's values at two points."""
        return self(X1[None], X2[None])[0, 0]

    def __call__(self, X1: Array, X2: Array | None = None) -> Array:
        """The covariance matrix between two sets of points, or the variances at one."""
        if X2 is None:
            return jax.vmap(self.evaluate)(X1, X1)
        medians = jnp.array([about.median for about in _abouts(self.terms)], X1.dtype)
        return covariance(_shape_of(self.terms), medians, X1, X2)


def covariance(
    terms: tuple[Term, ...], hyper: Float[Array, " hyper"], a: Array, b: Array
) -> Float[Array, "a b"]:
    """The covariance between points, for values of all amplitudes and lengthscales in order."""
    total, values = jnp.zeros((len(a), len(b)), a.dtype), iter(hyper)
    for term in terms:
        k = next(values) ** 2 * jnp.ones_like(total)
        squares: dict[float, Array] = {}
        for factor in term.factors:
            difference = a[:, None, factor.column] - b[None, :, factor.column]
            if factor.period is not None:
                difference = 2 * jnp.sin(pi * difference / factor.period)
            square = (difference / next(values)) ** 2
            squares[factor.smoothness] = squares.get(factor.smoothness, 0.0) + square
        for smoothness, square in squares.items():
            k = k * PROFILES[_NAMES[smoothness]](square)
        for column in term.times:
            k = k * a[:, None, column] * b[None, :, column]
        if term.slopes:
            several = list(term.slopes)
            k = k * (a[:, several] @ b[:, several].T)
        total = total + k
    return total


def _abouts(terms: Sequence[Term]) -> list[About]:
    """All amplitudes and lengthscales, in the order of `covariance`."""
    return [
        about
        for term in terms
        for about in (term.amplitude, *(factor.lengthscale for factor in term.factors))
    ]


def _shape_of(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """The terms without their numbers: what the compiled programs depend on."""
    one = About(1.0)
    return tuple(
        term._replace(
            amplitude=one, factors=tuple(f._replace(lengthscale=one) for f in term.factors)
        )
        for term in terms
    )


def _check(term: Term) -> None:
    for about in _abouts((term,)):
        checks.positive("an amplitude or lengthscale", about.median)
        if not 0 <= about.log_std < inf:
            raise ValueError(f"log_std must be at least 0 and finite, got {about.log_std!r}")
    if term.slopes and (term.factors or term.times):
        raise ValueError("a term with slopes is linear: it has neither factors nor times")
    for factor in term.factors:
        if factor.smoothness not in _NAMES:
            raise ValueError(f"smoothness must be one of {[*_NAMES]}, got {factor.smoothness!r}")
        if factor.period is not None:
            checks.positive("period", factor.period)
            if factor.smoothness != inf:
                raise ValueError("a factor with a period must have an infinite smoothness")


@eqx.filter_jit
def _sample_certain(
    terms: tuple[Term, ...],
    key: PRNGKeyArray,
    medians: Array,
    log_stds: Array,
    x: Array,
    n: int,
    outputs: int,
    jitter: Array,
) -> Array:
    noise = jax.random.normal(key, (len(x), n * outputs))
    with jax.enable_x64(True):
        wide = x.astype(jnp.float64)
        factor = cholesky(covariance(terms, medians.astype(jnp.float64), wide, wide), jitter)
        functions = (factor @ noise.astype(jnp.float64)).astype(jnp.float32)
    return functions.reshape(len(x), n, outputs).swapaxes(0, 1)


@eqx.filter_jit
def _sample_uncertain(
    terms: tuple[Term, ...],
    key: PRNGKeyArray,
    medians: Array,
    log_stds: Array,
    x: Array,
    n: int,
    outputs: int,
    jitter: Array,
) -> Array:
    key_hyper, key_noise = jax.random.split(key)
    logs = jax.random.normal(key_hyper, (n, len(medians)))
    noise = jax.random.normal(key_noise, (n, len(x), outputs))
    with jax.enable_x64(True):
        wide = x.astype(jnp.float64)
        hyper = medians * jnp.exp(log_stds * logs.astype(jnp.float64))

        def one(hyper: Array, noise: Array) -> Array:
            factor = cholesky(covariance(terms, hyper, wide, wide), jitter)
            return (factor @ noise.astype(jnp.float64)).astype(jnp.float32)

        return jax.vmap(one)(hyper, noise)
