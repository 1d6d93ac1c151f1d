"""Draws and densities of beliefs with NumPy: nothing is compiled, so a slider can wait for them.

The covariance is that of `goodprior.beliefs.terms`, for many hyper-parameters at once.
"""

from math import log, pi
from typing import Any

import numpy as np
from scipy import linalg

from goodprior.beliefs import Belief, Mixture, SumOfTerms, as_terms
from goodprior.beliefs.terms import Term

JITTERS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
HYPER = 48  # values of uncertain hyper-parameters over which densities are averaged


def sample(belief: Belief, x: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    """`n` functions at points in standard units, as (n, points); the same seed moves smoothly.

    Parameters
    ----------
    belief
        A sum of terms, what can be written as one, a mixture of these, or any other belief, which
        may take longer.
    x
        Points in rows.
    n
        How many functions.
    seed
        Of the random numbers. Draws of similar beliefs with the same seed are similar.

    Examples
    --------
    >>> from goodprior.beliefs import GaussianProcess, rbf
    >>> x = np.linspace(0, 1, 5)[:, None]
    >>> sample(GaussianProcess(rbf(1.0)), x, 3).shape
    (3, 5)
    """
    rng = np.random.default_rng(seed)
    if isinstance(belief, Mixture):
        chosen = rng.choice(len(belief.parts), n, p=belief.shares)
        draws = [sample(part, x, n, seed + i) for i, part in enumerate(belief.parts)]
        return np.stack(draws)[chosen, np.arange(n)]
    terms = as_terms(belief, x.shape[1])
    if terms is None:
        import jax
        import jax.numpy as jnp

        points = jnp.asarray(x, jnp.float32)
        return np.asarray(belief.sample(jax.random.key(seed), points, n), float)[..., 0]
    noise = rng.standard_normal((n, x.shape[0]))
    hyper = draw_hyper(terms, n, np.random.default_rng([seed, 1]))
    return _draw(terms.terms, hyper, x, noise) * terms.output_scales[0]


def draw_hyper(terms: SumOfTerms, n: int, rng: np.random.Generator) -> np.ndarray:
    """Values of all amplitudes and lengthscales: one row if they are known, or else `n`."""
    abouts = [a for t in terms.terms for a in (t.amplitude, *(f.lengthscale for f in t.factors))]
    medians, log_stds = np.array(abouts).T
    if terms.is_certain:
        return medians[None]
    return medians * np.exp(log_stds * rng.standard_normal((n, len(medians))))


def covariance(
    terms: tuple[Term, ...], hyper: np.ndarray, a: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """Covariances between points for each row of hyper-parameters, as (rows, a, b)."""
    total, values = np.zeros((len(hyper), len(a), len(b))), iter(hyper.T[:, :, None, None])
    for term in terms:
        k = next(values) ** 2
        squares: dict[float, Any] = {}
        for factor in term.factors:
            difference = a[:, None, factor.column] - b[None, :, factor.column]
            length = next(values)
            if not difference.any() and factor.period is None:
                continue
            if factor.period is not None:
                difference = 2 * np.sin(pi * difference / factor.period)
            squares[factor.smoothness] = (
                squares.get(factor.smoothness, 0.0) + difference**2 / length**2
            )
        for smoothness, square in squares.items():
            k = k * _profile(smoothness, square)
        for column in term.times:
            k = k * (a[:, None, column] * b[None, :, column])
        total = total + k
    return total


def _profile(smoothness: float, square: np.ndarray) -> np.ndarray:
    if smoothness == np.inf:
        return np.exp(-0.5 * square)
    s = np.sqrt(2 * smoothness * square)
    if smoothness == 0.5:
        return np.exp(-s)
    return (1 + s + (s**2 / 3 if smoothness == 2.5 else 0.0)) * np.exp(-s)


def _factor(matrix: np.ndarray) -> np.ndarray:
    """Cholesky factors with the smallest jitter that works."""
    scale = np.mean(np.diagonal(matrix, axis1=1, axis2=2), axis=1)[:, None, None]
    eye = np.eye(matrix.shape[1])
    for jitter in JITTERS:
        try:
            return np.linalg.cholesky(matrix + jitter * scale * eye)
        except np.linalg.LinAlgError:
            continue
    raise ValueError("the belief's covariance could not be factorised: its numbers are too extreme")


def _draw(
    terms: tuple[Term, ...], hyper: np.ndarray, x: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    factors = _factor(covariance(terms, hyper, x, x))
    if len(factors) == 1:
        return noise @ factors[0].T
    return np.einsum("nij,nj->ni", factors, noise)


def log_density(
    belief: Belief, x: np.ndarray, values: np.ndarray, noise: float | np.ndarray
) -> np.ndarray:
    """Log densities of rows of values at points, with noise of this standard deviation.

    Uncertain hyper-parameters are averaged over 48 draws, always the same ones.

    Parameters
    ----------
    belief
        A sum of terms, or what can be written as one, or a mixture of these.
    x, values
        Points in rows; values there, one set in each row.
    noise
        One standard deviation, or one per point.
    """
    if isinstance(belief, Mixture):
        each = [log_density(part, x, values, noise) for part in belief.parts]
        return np.logaddexp.reduce(np.stack(each) + np.log(belief.shares)[:, None])
    terms = as_terms(belief, x.shape[1])
    if terms is None:
        raise ValueError("this belief has no density that could be computed")
    hyper = draw_hyper(terms, HYPER, np.random.default_rng(0))
    return np.logaddexp.reduce([log_normal(terms, row, x, values, noise) for row in hyper]) - log(
        len(hyper)
    )


def log_normal(
    terms: SumOfTerms,
    hyper: np.ndarray,
    x: np.ndarray,
    values: np.ndarray,
    noise: float | np.ndarray,
) -> np.ndarray:
    """Log densities of rows of values for one row of hyper-parameters."""
    matrix = terms.output_scales[0] ** 2 * covariance(terms.terms, hyper[None], x, x)[0]
    matrix.flat[:: len(x) + 1] += np.square(noise)
    factor = _factor(matrix[None])[0]
    z = linalg.solve_triangular(factor, values.T, lower=True)
    return -0.5 * (z**2).sum(axis=0) - np.log(np.diag(factor)).sum() - 0.5 * len(x) * log(2 * pi)


class NumpyBelief:
    """A belief whose draws are made with NumPy, for `match` and its report."""

    def __init__(self, belief: Belief):
        self.belief = belief

    def sample(self, key: Any, x: Any, n: int) -> Any:
        """`n` functions at the points, (n, points, 1)."""
        import jax
        import jax.numpy as jnp

        seed = int(np.asarray(jax.random.key_data(key))[-1])
        return jnp.asarray(sample(self.belief, np.asarray(x, float), n, seed)[..., None], "float32")
