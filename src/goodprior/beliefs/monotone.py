"""Functions that can only rise, or only fall, along one column."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.beliefs.base import as_points
from goodprior.beliefs.terms import About, SumOfTerms, Term
from goodprior.networks.monotone import nodes_to

UNITS = 100  # frequencies of a draw's log slope


class Monotone(eqx.Module):
    """A process of functions that are monotone in one column.

    It is not Gaussian: a Gaussian process of the other columns, plus the integral along the column
    of a slope whose logarithm is a Gaussian process of all columns with variance 1. Half of the
    variance comes from each, at rows whose column is standardised. Log slopes are drawn by random
    Fourier features.

    Parameters
    ----------
    term : Term
        Amplitude and RBF kernels of the columns, all known.
    column : int
        Along which functions are monotone; one of the term's.
    falling : bool
        Whether they fall.
    output_scales : tuple of float
        By which each output is multiplied; as many as there are outputs.

    Examples
    --------
    >>> from goodprior.beliefs import Factor
    >>> belief = Monotone(Term(About(1.0), (Factor(0, About(1.5)),)), 0)
    >>> draws = belief.sample(jax.random.key(0), jnp.linspace(-2, 2, 30)[:, None], 5)
    >>> bool((jnp.diff(draws, axis=1) > 0).all())
    True
    """

    term: Term = eqx.field(static=True)
    column: int = eqx.field(static=True)
    falling: bool = eqx.field(static=True, default=False)
    output_scales: tuple[float, ...] = eqx.field(static=True, default=(1.0,))

    def __check_init__(self):
        if not self.log_slope.is_certain or not self.level.is_certain:
            raise ValueError("a monotone belief must have known amplitudes and lengthscales")
        if any(f.smoothness != np.inf or f.period for f in self.term.factors) or self.term.times:
            raise ValueError("a monotone belief is made of RBF kernels only")
        if self.column not in [factor.column for factor in self.term.factors]:
            raise ValueError(f"column {self.column} must be one of the term's")

    @property
    def outputs(self) -> int:
        """How many functions a draw consists of."""
        return len(self.output_scales)

    @property
    def level(self) -> SumOfTerms:
        """What is added to the integral: a function of the other columns."""
        others = tuple(f for f in self.term.factors if f.column != self.column)
        amplitude = About(self.term.amplitude.median / 2**0.5, self.term.amplitude.log_std)
        return SumOfTerms((Term(amplitude, others),), self.output_scales)

    @property
    def log_slope(self) -> SumOfTerms:
        """The logarithm of the slope, relative to `steepness`, plus one half."""
        return SumOfTerms((Term(About(1.0), self.term.factors),), (1.0,) * self.outputs)

    @property
    def steepness(self) -> tuple[float, ...]:
        """The mean slope of each output."""
        (length,) = [f.lengthscale.median for f in self.term.factors if f.column == self.column]
        each = float(self.term.amplitude.median / (2 * _mean_square(length)) ** 0.5)
        sign = -1 if self.falling else 1
        return tuple(float(sign * each * scale) for scale in self.output_scales)

    def sample(
        self, key: PRNGKeyArray, x: Float[Array, "points ..."], n: int
    ) -> Float[Array, "n points out"]:
        """`n` functions at the points `x`."""
        x, n = as_points("x", x), checks.whole("n", n)
        key_level, key_slope = jax.random.split(key)
        columns = jnp.array([factor.column for factor in self.term.factors])
        lengthscales = jnp.array([factor.lengthscale.median for factor in self.term.factors])
        ends, weights = nodes_to(x[:, self.column])
        at = jnp.repeat(x[:, None], ends.shape[1], axis=1).at[..., self.column].set(ends)
        slopes = _slopes(key_slope, at[..., columns] / lengthscales, n, self.outputs)
        integrals = jnp.einsum("npgo,pg->npo", slopes, weights)
        return self.level.sample(key_level, x, n) + jnp.array(self.steepness) * integrals


@eqx.filter_jit
def _slopes(
    key: PRNGKeyArray, z: Float[Array, "points nodes in"], n: int, outputs: int
) -> Float[Array, "n points nodes out"]:
    """Exponentials of Gaussian processes with an RBF kernel of unit lengthscale, less 1/2."""

    def one(key: PRNGKeyArray) -> Array:
        key_frequencies, key_weights = jax.random.split(key)
        phase = z @ jax.random.normal(key_frequencies, (z.shape[-1], UNITS))
        features = jnp.concatenate([jnp.sin(phase), jnp.cos(phase)], axis=-1)
        readout = jax.random.normal(key_weights, (2 * UNITS, outputs)) / UNITS**0.5
        return jnp.exp(features @ readout - 0.5)

    return jax.lax.map(one, jax.random.split(key, n))


def _mean_square(length: float) -> float:
    """Of the integral up to a standard normal point, with unit steepness."""
    ends, shares = np.polynomial.hermite_e.hermegauss(20)
    unit, weights = np.polynomial.legendre.leggauss(60)
    total = 0.0
    for end, share in zip(ends, shares / shares.sum(), strict=True):
        points = end * (1 + unit) / 2
        kernel = np.exp(-0.5 * ((points[:, None] - points) / length) ** 2)
        total += share * (end / 2) ** 2 * float(weights @ np.exp(kernel) @ weights)
    return total
