"""The Laplace evidence of a linear model, where it is exact, and the steps that raise it."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from goodprior.baselines import MarginalLikelihood
from goodprior.baselines.curvature import Full
from goodprior.baselines.evidence import (
    _Fit,
    _fit_at,
    _Hyper,
    _improve,
    log_evidence,
    precisions_of,
)
from goodprior.inference import Gaussian
from goodprior.inference.batches import InMemory
from goodprior.networks import Dense
from goodprior.priors import GaussianPrior

RNG = np.random.default_rng(0)
ROWS, NOISE, SIZES = 20, 0.5, (2, 1)
FEATURES = np.column_stack([RNG.normal(size=(ROWS, 2)), np.ones(ROWS)])
Y = FEATURES @ [1.0, -0.5, 0.3] + NOISE**0.5 * RNG.normal(size=ROWS)
CURVATURE = Full(FEATURES.T @ FEATURES / NOISE, SIZES)  # of the noise that is known so far
PRECISIONS = np.array([0.7, 3.0])
FACTOR = 1.4  # by which the noise is more precise


def squares_of(weights):
    return np.array([np.sum(weights[:2] ** 2), weights[2] ** 2])


def explained_by(weights, factor):
    return stats.norm.logpdf(Y, FEATURES @ weights, np.sqrt(NOISE / factor)).sum()


@pytest.mark.parametrize("factor", [1.0, FACTOR])
def test_at_the_mode_it_is_the_density_of_the_targets(factor):
    prior = np.diag(np.repeat(PRECISIONS, SIZES))
    hessian = FEATURES.T @ FEATURES * factor / NOISE + prior
    mode = np.linalg.solve(hessian, FEATURES.T @ Y * factor / NOISE)
    covariance = FEATURES @ np.linalg.inv(prior) @ FEATURES.T + NOISE / factor * np.eye(ROWS)
    with jax.enable_x64(True):
        found = log_evidence(
            CURVATURE, squares_of(mode), SIZES, PRECISIONS, explained_by(mode, factor), factor
        )
    expected = stats.multivariate_normal(np.zeros(ROWS), covariance).logpdf(Y)
    assert float(found) == pytest.approx(expected, rel=1e-9)


def test_what_the_evidence_is_made_of():
    prior = GaussianPrior(Dense(2, 1, key=jax.random.key(0)), 0.7)
    x, y = jnp.asarray(FEATURES[:, :2], jnp.float32), jnp.asarray(Y, jnp.float32)[:, None]
    mode = prior.sample(jax.random.key(1))
    found = _fit_at(prior, Gaussian(NOISE), mode, InMemory(x, y))
    weights = np.array([*np.ravel(mode.weight) / np.sqrt(2), *np.ravel(mode.bias)])
    residuals = Y - FEATURES @ weights
    assert found.squared_error == pytest.approx(np.sum(residuals**2) / (2 * NOISE), rel=1e-4)
    assert found.explained == pytest.approx(explained_by(weights, 1.0), rel=1e-4)
    assert found.targets == ROWS
    np.testing.assert_allclose(found.squares, squares_of(weights) * [2, 1], rtol=1e-5)
    np.testing.assert_allclose(precisions_of(prior), 0.7**-2.0, rtol=1e-5)


WEIGHTS = np.array([0.8, -0.9, 0.1])  # not the mode


def value_at(log_precisions, log_factor):
    factor, precisions = np.exp(log_factor), np.exp(log_precisions)
    prior = precisions @ squares_of(WEIGHTS) - np.array(SIZES) @ log_precisions
    matrix = factor * CURVATURE.matrix + np.diag(np.repeat(precisions, SIZES))
    return explained_by(WEIGHTS, factor) - 0.5 * (prior + np.linalg.slogdet(matrix)[1])


def improved(hyper, **settings):
    explained = explained_by(WEIGHTS, 1.0)
    error = np.sum((Y - FEATURES @ WEIGHTS) ** 2) / (2 * NOISE)
    fit = _Fit(squares_of(WEIGHTS), *map(np.asarray, (explained, error, float(ROWS))))
    given = MarginalLikelihood(**settings)
    with jax.enable_x64(True):
        optimiser = optax.adam(given.learning_rate).init(hyper)
        found, _, value = _improve(CURVATURE, fit, SIZES, hyper, optimiser, given)
        return jax.tree.map(np.asarray, (found, value))


@pytest.mark.parametrize(
    ("learn_noise", "learn_prior"), [(True, True), (False, True), (True, False)]
)
def test_a_step_goes_uphill_in_what_is_to_be_learned(learn_noise, learn_prior):
    """The first step of Adam has the length of its rate, in the direction of the gradient."""
    hyper = _Hyper(np.log(PRECISIONS), np.log(FACTOR))
    found, value = improved(
        hyper, steps=1, learning_rate=0.1, learn_noise=learn_noise, learn_prior=learn_prior
    )
    small = 1e-6
    by_prior = [
        value_at(hyper.log_precisions + small * unit, hyper.log_factor)
        - value_at(hyper.log_precisions - small * unit, hyper.log_factor)
        for unit in np.eye(2)
    ]
    by_noise = value_at(hyper.log_precisions, hyper.log_factor + small) - value_at(
        hyper.log_precisions, hyper.log_factor - small
    )
    wanted = hyper.log_precisions + 0.1 * np.sign(by_prior) * learn_prior
    np.testing.assert_allclose(found.log_precisions, wanted, rtol=1e-5)
    wanted = hyper.log_factor + 0.1 * np.sign(by_noise) * learn_noise
    assert float(found.log_factor) == pytest.approx(wanted, rel=1e-5)
    expected = value_at(found.log_precisions, found.log_factor)
    assert float(value) == pytest.approx(expected, rel=1e-9)


def test_many_steps_end_where_the_evidence_is_highest():
    hyper = _Hyper(np.log(PRECISIONS), np.zeros(()))
    found, value = improved(hyper, steps=400, learning_rate=0.1, learn_noise=True)
    assert float(value) > value_at(hyper.log_precisions, 0.0) + 0.1
    for unit in np.eye(3):
        for move in 0.05 * unit, -0.05 * unit:
            other = value_at(found.log_precisions + move[:2], found.log_factor + move[2])
            assert other < float(value)
