"""Beliefs that are fitted to rows, against SciPy's densities and finite differences."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from goodprior.beliefs import GaussianProcess, fit_belief, matern32
from goodprior.beliefs.fit import FITTED_KERNELS, Penalty, objective
from goodprior.beliefs.from_rows import default_for_rows, fit_to_rows
from goodprior.beliefs.terms import TermsKernel
from goodprior.data.scaling import Scaling

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = np.stack([np.sin(2 * X[:, 0]) + 0.3 * X[:, 1], X[:, 1] ** 2], axis=1)
Y += 0.1 * RNG.normal(size=Y.shape)
Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)


@pytest.mark.parametrize("kernel", FITTED_KERNELS)
@pytest.mark.parametrize("trend", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_gradients_are_those_of_finite_differences(kernel, trend, sparse):
    theta = np.random.default_rng(1).normal(0, 0.5, 8 if trend else 5)
    penalty = Penalty.default(3)._replace(sparse=sparse)

    def value(theta):
        return objective(theta, X, Y, kernel, penalty)[0]

    grad = objective(theta, X, Y, kernel, penalty)[1]
    steps = 1e-5 * np.eye(len(theta))
    numerical = [(value(theta + step) - value(theta - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(grad, numerical, rtol=1e-6, atol=1e-6 * np.abs(grad).max())


@pytest.mark.parametrize("targets", [1, 2])
def test_the_marginal_likelihood_is_the_density_of_the_targets(targets):
    fitted = fit_belief(X, Y[:, :targets])
    assert fitted.belief.outputs == targets
    covariance = np.asarray(TermsKernel(fitted.belief.terms)(*[jnp.asarray(X)] * 2), np.float64)
    normal = multivariate_normal(np.zeros(80), covariance + fitted.noise_variance * np.eye(80))
    expected = normal.logpdf(Y[:, :targets].T).sum()
    assert fitted.log_marginal_likelihood == pytest.approx(expected, rel=2e-3, abs=0.05)


def test_columns_that_do_not_matter_get_long_lengthscales():
    (term, *_) = fit_belief(X, Y[:, 0]).belief.terms
    lengths = [factor.lengthscale.median for factor in term.factors]
    assert lengths[2] > 4 * lengths[0]


def test_a_rough_function_is_found_to_be_rough():
    x = np.linspace(-3, 3, 150)[:, None]
    process = GaussianProcess(matern32(0.6, 2.0))
    y = np.asarray(process.sample(jax.random.key(0), jnp.asarray(x), 1), float)[0, :, 0]
    fitted = fit_belief(x, y + 0.05 * RNG.normal(size=150))
    assert fitted.kernel != "rbf"
    assert 0.3 < fitted.belief.terms[0].factors[0].lengthscale.median < 1.2
    assert fitted.noise_variance < 0.02


def test_a_trend_is_found_where_there_is_one_and_amplitudes_stay_moderate():
    x = np.linspace(-1.7, 1.7, 60)[:, None]
    line = x[:, 0] + 0.01 * RNG.normal(size=60)
    with_trend, without = fit_belief(x, line), fit_belief(x, line, trend=False)
    assert without.belief.terms[0].amplitude.median < 20
    assert len(without.belief.terms) == 1
    assert len(fit_belief(x, line, trend=True).belief.terms) == 2
    assert with_trend.log_marginal_likelihood >= without.log_marginal_likelihood - 0.1


@pytest.mark.parametrize(("slope", "terms"), [(1.0, 15), (0.0, 1)])
def test_a_trend_along_one_of_many_columns_is_found(slope, terms):
    x = np.random.default_rng(1).normal(size=(150, 14))
    y = slope * x[:, 0] + np.sin(3 * x[:, 1]) + 0.1 * np.random.default_rng(2).normal(size=150)
    assert len(fit_belief(x, y / y.std()).belief.terms) == terms


@pytest.mark.parametrize("curved", [False, True])
def test_of_many_columns_few_matter(curved):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(150, 200))
    y = 3 * np.sin(1.5 * x[:, 0]) + x[:, 1] ** 2 if curved else x[:, :2] @ [3.0, -2.0]
    y += 0.3 * rng.normal(size=150)
    fitted = fit_belief(x, (y - y.mean()) / y.std(), trend=False)
    inverse = [1 / factor.lengthscale.median**2 for factor in fitted.belief.terms[0].factors]
    # 198 columns that do not matter took 5 to 8 % of the squared distance, and all of the noise.
    assert sum(inverse[2:]) < 0.03 * sum(inverse)
    assert 0.1 < fitted.noise_variance**0.5 * y.std() < 0.4


def test_at_most_so_many_rows_are_used():
    fitted = fit_belief(X, Y[:, 0], rows=30)
    assert fitted.rows == 30
    assert fitted == fit_belief(X, Y[:, 0], rows=30)
    assert fitted != fit_belief(X, Y[:, 0], rows=30, seed=1)


def test_rows_and_targets_must_fit():
    with pytest.raises(ValueError, match="as many rows: 80 and 79"):
        fit_belief(X, Y[1:])


@pytest.mark.parametrize("kind", [default_for_rows, fit_to_rows])
def test_one_wild_row_does_not_decide_which_columns_matter(kind):
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(120, 3))
    y = 200 + 30 * np.sin(2 * inputs[:, 1]) + rng.normal(size=120)
    y[7] = 9999.0
    settings = {"outputs": 1} if kind is default_for_rows else {"task": "regression"}
    found = kind(inputs, y, Scaling.fit(inputs, y), ["a", "b", "c"], **settings)
    lengths = {name: float(l) for l, name in re.findall(r"([\d.e+]+) in ([abc])", str(found))}
    assert lengths["b"] < 0.3 * min(lengths["a"], lengths["c"])


@pytest.mark.parametrize("kind", [default_for_rows, fit_to_rows])
def test_of_many_columns_the_sentence_names_those_that_matter_most(kind):
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(100, 9))
    y = np.sin(2 * inputs[:, 4])
    settings = {"outputs": 1} if kind is default_for_rows else {"task": "regression"}
    names = [f"c{i}" for i in range(9)]
    found = str(kind(inputs, y, Scaling.fit(inputs, y), names, **settings))
    assert re.search(r"over about [\d.]+ in c4, ", found)
    assert "and more in the other 3 columns" in found
