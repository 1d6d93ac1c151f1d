"""Quantiles of the mixture over posterior draws that a prediction is."""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import betainc, ndtr, ndtri
from jax.scipy.stats import norm
from jax.scipy.stats import t as student_t
from jaxtyping import Array, Float

PRECISION = 1e-4  # of the probability beyond a quantile
LEAST_ERROR = 1e-6  # of a probability: single precision has no more
MOST = 120  # steps; a dozen are usual
MOST_TERMS = 50  # of a finite sum: half as many are compiled


def noise_cdf(degrees: float | None) -> Callable[[Array], Array]:
    """The distribution function of standard noise: Gaussian, or Student-t.

    Small probabilities on the left keep their digits.

    Examples
    --------
    >>> round(float(noise_cdf(None)(jnp.array(1.96))), 3)
    0.975
    """
    if degrees is None:
        return ndtr

    def student(z: Array) -> Array:
        tail = 0.5 * betainc(degrees / 2, 0.5, degrees / (degrees + z**2))
        return jnp.where(z > 0, 1 - tail, tail)

    return student


def finite_sum_cdf(degrees: int) -> Callable[[Array], Array]:
    """Student-t's distribution function as a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).

    Many times as fast as the incomplete beta function, and as exact as single precision is around
    one half: small probabilities lose their digits.

    Parameters
    ----------
    degrees
        A whole number.

    Examples
    --------
    >>> round(float(finite_sum_cdf(5)(jnp.array(2.0150))), 4)
    0.95
    """

    def cdf(z: Array) -> Array:
        square = degrees / (degrees + z**2)  # of the angle's cosine
        sine = z * jax.lax.rsqrt(degrees + z**2)
        odd = degrees % 2
        term = jnp.sqrt(square) if odd else jnp.ones_like(square)
        total = jnp.zeros_like(square)
        for k in range(1 + odd, degrees, 2):
            total = total + term
            term = term * square * k / (k + 1)
        total = sine * total
        if odd:
            total = 2 / jnp.pi * (jnp.arctan(z / degrees**0.5) + total)
        return 0.5 + 0.5 * total

    return cdf


def central_cdf(degrees: float | None) -> Callable[[Array], Array]:
    """The quickest form of the distribution function of standard noise, exact around one half."""
    if degrees is not None and int(degrees) == degrees and degrees <= MOST_TERMS:
        return finite_sum_cdf(int(degrees))
    return noise_cdf(degrees)


@eqx.filter_jit
def mixture_quantiles(
    location: Float[Array, "draws points targets"],
    scale: Float[Array, "draws points targets"],
    levels: Float[Array, " levels"],
    degrees: float | None = None,
) -> Float[Array, "levels points targets"]:
    """Where the mixture of `location + scale * noise` has so much probability below.

    Newton's steps, within a bracket that is halved at every third of them.

    Parameters
    ----------
    location, scale
        Of the components, each of which counts the same.
    levels
        Probabilities between 0 and 1.
    degrees
        Of freedom of Student-t noise (None: it is Gaussian).

    Examples
    --------
    >>> location, scale = jnp.array([[[-1.0]], [[1.0]]]), jnp.ones((2, 1, 1))
    >>> found = mixture_quantiles(location, scale, jnp.array([0.5, 0.8]))
    >>> round(float(found[0, 0, 0]), 3) + 0.0, round(float(found[1, 0, 0]), 3)
    (0.0, 1.283)
    """
    reach, cdf = 12.0 if degrees is None else 1e3, central_cdf(degrees)
    pdf = norm.pdf if degrees is None else partial(student_t.pdf, df=degrees)
    lowest = (location - reach * scale).min(axis=0)
    highest = (location + reach * scale).max(axis=0)
    spread = jnp.sqrt(location.var(axis=0) + (scale**2).mean(axis=0))

    def one(level: Float[Array, ""]) -> Array:
        error = jnp.maximum(PRECISION * jnp.minimum(level, 1 - level), LEAST_ERROR)

        def go_on(now: tuple[Array, ...]) -> Array:
            number, *_, done = now
            return (number < MOST) & ~done.all()

        def improve(now: tuple[Array, ...]) -> tuple[Array, ...]:
            number, low, high, x, _ = now
            z = (x - location) / scale
            excess = cdf(z).mean(axis=0) - level
            low, high = jnp.where(excess < 0, x, low), jnp.where(excess < 0, high, x)
            newton = x - excess / (pdf(z) / scale).mean(axis=0)
            middle = 0.5 * (low + high)
            inside = (newton > low) & (newton < high) & (number % 3 != 2)
            moved = jnp.where(inside, newton, middle)
            done = (jnp.abs(excess) <= error) | (middle <= low) | (middle >= high)
            # One more step, which is exact by now, where there is any density.
            last = jnp.where(jnp.isfinite(newton), jnp.clip(newton, low, high), x)
            return number + 1, low, high, jnp.where(done, last, moved), done

        start = jnp.clip(location.mean(axis=0) + spread * ndtri(level), lowest, highest)
        never = jnp.zeros(start.shape, bool)
        first = jnp.zeros((), jnp.int32)
        return jax.lax.while_loop(go_on, improve, (first, lowest, highest, start, never))[3]

    return jax.lax.map(one, levels)
