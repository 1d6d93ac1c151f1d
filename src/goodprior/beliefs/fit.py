"""Beliefs with the hyper-parameters that explain the data best (empirical Bayes).

NumPy and SciPy in double precision: analytic gradients and L-BFGS, nothing to compile. What is
maximised is the log marginal likelihood with weak normal priors on the logarithms of the
hyper-parameters, so that amplitudes of hundreds of standard deviations do not happen.
"""

from collections.abc import Sequence
from math import inf, log, pi
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import linalg, optimize
from threadpoolctl import threadpool_limits  # a dependency of scikit-learn

from goodprior import checks
from goodprior.beliefs.penalty import Hyper, Penalty
from goodprior.beliefs.terms import SMOOTHNESS, About, Factor, SumOfTerms, Term

FITTED_KERNELS = ("rbf", "matern52", "matern32")
ROWS = 2000  # random rows that are used, at most
SCREENED_ROWS = 200  # by which kernels are compared
WIDE = 20  # columns; of more than so many, few are taken to matter
LEAST_NOISE = 0.003  # rows that occur twice would otherwise take all noise away

_POTRF, _POTRS, _POTRI = linalg.get_lapack_funcs(("potrf", "potrs", "potri"), dtype=np.float64)
(_SYRK,) = linalg.get_blas_funcs(("syrk",), dtype=np.float64)

Table = Float[np.ndarray, "rows in"]
Targets = Float[np.ndarray, "rows out"]


class Fitted(NamedTuple):
    """A belief that was fitted to rows, and how well it explains them.

    Attributes
    ----------
    belief : SumOfTerms
        A kernel of all columns, and a linear trend if it pays.
    kernel : str
        Its name.
    noise_variance : float
        That goes with it.
    log_marginal_likelihood : float
        Of the rows that were used, without the penalty.
    rows : int
        How many were used.
    """

    belief: SumOfTerms
    kernel: str
    noise_variance: float
    log_marginal_likelihood: float
    rows: int


class _Optimum(NamedTuple):
    """The best point of an ascent; optima compare by their penalised values."""

    value: float
    theta: Hyper
    evidence: float

    def __lt__(self, other: "_Optimum") -> bool:  # type: ignore[override]
        return self.value < other.value


def fit_belief(
    X: object,
    y: object,
    *,
    kernels: Sequence[str] = FITTED_KERNELS,
    trend: bool | None = None,
    rows: int = ROWS,
    seed: int = 0,
) -> Fitted:
    """The belief about standardised data with the largest penalised marginal likelihood.

    Kernels are compared on 200 rows; the best one, and the second if it is within two nats, is
    fitted to all. Of more than 20 columns few are taken to matter (`Penalty.sparse`).

    Parameters
    ----------
    X, y : array_like
        Standardised inputs and targets; several targets share their hyper-parameters.
    kernels : sequence of str
        To choose from: `rbf`, `matern52`, `matern32`.
    trend : bool, optional
        Whether there is a linear trend. By default there is if it brings more than a nat for each
        column along which it is steeper than a tenth (Akaike's rule).
    rows : int
        Random rows to use, at most.
    seed : int
        Of the choice of rows.

    Returns
    -------
    Fitted
        The belief, its noise variance and log marginal likelihood.

    Examples
    --------
    >>> x = np.linspace(-3, 3, 50)[:, None]
    >>> fitted = fit_belief(x, np.sin(2 * x))
    >>> fitted.kernel, fitted.noise_variance < 0.01
    ('rbf', True)
    """
    inputs = np.asarray(checks.matrix("X", X), np.float64)
    targets = np.asarray(checks.table("y", y), np.float64)
    if len(inputs) != len(targets):
        raise ValueError(f"X and y must have as many rows: {len(inputs)} and {len(targets)}")
    for kernel in kernels:
        checks.one_of("kernels", kernel, FITTED_KERNELS)
    order = np.random.default_rng(seed).permutation(len(inputs))[: checks.whole("rows", rows)]
    data = np.ascontiguousarray(inputs[order]), np.ascontiguousarray(targets[order])
    with threadpool_limits(1, "blas"):  # on a busy machine two threads took 50 times as long
        kernel, best = _choose(*data, kernels, trend)
    return _read(kernel, best, inputs.shape[1], targets.shape[1], len(order))


def _choose(
    X: Table, y: Targets, kernels: Sequence[str], trend: bool | None
) -> tuple[str, _Optimum]:
    columns, few = X.shape[1], min(len(X), SCREENED_ROWS)
    penalty = Penalty.default(columns)
    screened: dict[str, _Optimum] = {}
    for kernel in kernels:
        # Two starts for the first kernel; the others start where that led.
        starts = [min(screened.values()).theta] if screened else _starts(columns)
        screened[kernel] = min(_climb(t, X[:few], y[:few], kernel, penalty) for t in starts)
    close = sorted(kernels, key=lambda k: screened[k])[:2]
    close = [k for k in close if screened[k].value < screened[close[0]].value + 2]
    found = {k: screened[k] for k in close}
    if few < len(X):
        found = {k: _climb(screened[k].theta, X, y, k, penalty) for k in close}
    kernel = min(found, key=lambda k: found[k])
    best = found[kernel]
    if columns > WIDE:
        penalty = penalty._replace(sparse=True)
        best = _climb(best.theta, X, y, kernel, penalty)
    if trend is not False:
        start = np.r_[best.theta, np.full(columns, penalty.trend[0])]
        with_trend = _climb(start, X, y, kernel, penalty)
        slopes = np.sum(with_trend.theta[columns + 2 :] > penalty.trend[0])
        if trend or with_trend.evidence > best.evidence + max(slopes, 1):
            best = with_trend
    return kernel, best


def _read(kernel: str, best: _Optimum, columns: int, outputs: int, rows: int) -> Fitted:
    hyper = np.exp(best.theta).tolist()
    pairs = enumerate(hyper[:columns])
    factors = tuple(Factor(i, About(value), SMOOTHNESS[kernel]) for i, value in pairs)
    terms = [Term(About(hyper[columns]), factors)]
    terms += [Term(About(v), times=(i,)) for i, v in enumerate(hyper[columns + 2 :])]
    belief = SumOfTerms(tuple(terms), (1.0,) * outputs)
    return Fitted(belief, kernel, hyper[columns + 1] ** 2, float(best.evidence), rows)


def _starts(columns: int) -> list[Hyper]:
    """Smooth with noise, and short with little."""
    pairs = [(1.5 * (2 * columns) ** 0.5, 0.3), (1.0, 0.1)]
    return [np.r_[np.full(columns, log(length)), 0.0, log(noise)] for length, noise in pairs]


def _climb(theta: Hyper, X: Table, y: Targets, kernel: str, penalty: Penalty) -> _Optimum:
    """L-BFGS on the objective per row: from steep starts it gives up otherwise."""
    best = _Optimum(inf, theta, -inf)

    def per_row(point: Hyper) -> tuple[float, np.ndarray]:
        nonlocal best
        value, grad, evidence = objective(point, X, y, kernel, penalty)
        if value < best.value:
            best = _Optimum(value, point.copy(), evidence)
        return value / len(y), grad / len(y)

    noise = X.shape[1] + 1
    bounds = [(log(LEAST_NOISE) if i == noise else -7.0, 9.0) for i in range(len(theta))]
    for _ in range(2):  # a line search that failed at once is started again
        done = optimize.minimize(
            per_row,
            best.theta,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": 60, "maxcor": 20, "ftol": 1e-6, "gtol": 1e-4},
        )
        if done.nit > 5:
            break
    return best


def objective(
    theta: Hyper, X: Table, y: Targets, kernel: str, penalty: Penalty
) -> tuple[float, Hyper, float]:
    """The penalised negative log marginal likelihood, its gradient, and the former unpenalised.

    Parameters
    ----------
    theta : array
        Logarithms of the lengthscales, the amplitude, the noise's standard deviation and, if there
        are more, the trend's amplitudes.
    X, y : array
        Standardised rows.
    kernel : str
        One of `FITTED_KERNELS`.
    penalty : Penalty
        On `theta`.
    """
    n, d = X.shape
    amplitude, noise = np.exp(theta[d]), np.exp(theta[d + 1])
    Z, T = X / np.exp(theta[:d]), X * np.exp(theta[d + 2 :]) if len(theta) > d + 2 else None
    k, gradient = _profile(kernel, _squares(Z))
    K = amplitude**2 * k
    if T is not None:
        K += T @ T.T
    K.flat[:: n + 1] += noise**2 + 1e-10 * amplitude**2
    # As Fortran reads it this is the transpose, which is the same matrix: no copies.
    factor, info = _POTRF(K.T, lower=1, clean=0, overwrite_a=1)
    if info:
        return 1e25, np.zeros_like(theta), -inf
    alpha = _POTRS(factor, y, lower=1)[0]
    log_det = np.log(np.diagonal(factor)).sum()
    evidence = -0.5 * np.vdot(y, alpha) - y.shape[1] * (log_det + 0.5 * n * log(2 * pi))
    inverse = _POTRI(factor, lower=1, overwrite_c=1)[0].T  # its upper triangle
    # W = alpha alpha' - K^-1 on the upper triangle: what is symmetric is summed twice.
    diagonal = (alpha**2).sum(axis=1) - y.shape[1] * np.diagonal(inverse)
    W = np.triu(alpha @ alpha.T - y.shape[1] * inverse, 1)
    grad = np.empty_like(theta)
    grad[d] = amplitude**2 * (2 * np.vdot(W, k) + diagonal.sum())
    grad[d + 1] = noise**2 * diagonal.sum()
    if T is not None:
        grad[d + 2 :] = 2 * np.einsum("ij,ij->j", T, W @ T) + diagonal @ T**2
    # The sum over i < j of A_ij (z_i - z_j)^2, by one product of matrices for all columns.
    W *= gradient
    sums = W.sum(axis=0) + W.sum(axis=1)
    grad[:d] = amplitude**2 * (sums @ Z**2 - 2 * np.einsum("ij,ij->j", Z, W @ Z))
    cost, cost_grad = penalty(theta, d)
    return cost - float(evidence), cost_grad - grad, float(evidence)


def _squares(Z: Table) -> Float[np.ndarray, "rows rows"]:
    """Squared distances between rows."""
    norms = np.einsum("ij,ij->i", Z, Z)
    square = _SYRK(-2.0, Z.T, trans=1, lower=0)
    square = np.triu(square) + np.triu(square, 1).T
    square += norms[:, None]
    square += norms
    np.maximum(square, 0, out=square)
    np.fill_diagonal(square, 0.0)
    return square


def _profile(kernel: str, square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kernel of r^2, and minus twice its derivative by r^2; overwrites its input."""
    if kernel == "rbf":
        square *= -0.5
        k = np.exp(square, out=square)
        return k, k
    nu = {"matern32": 3.0, "matern52": 5.0}[kernel]
    square *= nu
    s = np.sqrt(square)
    decay = np.exp(-s)
    if kernel == "matern32":
        return (1 + s) * decay, nu * decay
    gradient = (1 + s) * decay
    gradient *= nu / 3
    square /= 3
    square += 1 + s
    square *= decay
    return square, gradient
