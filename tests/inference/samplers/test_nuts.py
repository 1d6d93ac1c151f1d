import jax
import numpy as np
import pytest

from goodprior import (
    NUTS,
    Gaussian,
    GaussianPrior,
    GibbsHierarchicalPrior,
    LearnedNoise,
    diagnose,
)
from goodprior.inference import Heteroscedastic, sample_posterior
from goodprior.networks import Dense
from tests.monte_carlo import assert_covariance, assert_mean

pytestmark = pytest.mark.slow

NOISE_VARIANCE = 0.3
X = np.array([[-1.2, 0.4], [0.1, -0.5], [0.7, 1.3], [1.5, -1.0], [-0.3, 2.0], [0.9, 0.2]])
Y = np.array([0.5, -0.3, 1.4, -0.2, 2.0, 0.1])
PRIOR = GaussianPrior(Dense(2, 1, key=jax.random.key(0)), {"weight": 1.5, "bias": 0.6})


def exact_posterior():
    """Mean and covariance of the two weights and the bias; a Dense layer divides by sqrt(2)."""
    design = np.hstack([X / np.sqrt(2), np.ones((len(X), 1))])
    prior_precision = np.diag([1.5**-2, 1.5**-2, 0.6**-2])
    covariance = np.linalg.inv(design.T @ design / NOISE_VARIANCE + prior_precision)
    return covariance @ design.T @ Y / NOISE_VARIANCE, covariance


def run(X=X, chains=8, draws=50, **settings):
    return sample_posterior(
        PRIOR,
        Gaussian(NOISE_VARIANCE),
        X,
        Y,
        key=jax.random.key(1),
        sampler=NUTS(**{"burn_in": 400, "thinning": 20} | settings),
        chains=chains,
        draws=draws,
    )


@pytest.fixture(scope="module")
def posterior():
    return run()


def draws_of(posterior):
    """Kept draws, 20 transitions apart and so nearly independent: (chains, draws, weights)."""
    return np.concatenate([posterior.draws.weight[:, :, 0], posterior.draws.bias], axis=-1)


def test_linear_regression_agrees_with_the_closed_form(posterior):
    mean, covariance = exact_posterior()
    rows = draws_of(posterior).reshape(-1, 3)
    assert_mean(rows, mean)
    assert_covariance(rows, covariance, mean)


def test_functions_agree_with_the_closed_form(posterior):
    mean, covariance = exact_posterior()
    design = np.hstack([X / np.sqrt(2), np.ones((len(X), 1))])
    functions = posterior.functions(X)[..., 0]
    assert_covariance(functions, design @ covariance @ design.T, design @ mean)


def test_chains_differ_and_agree(posterior):
    draws = draws_of(posterior)
    assert draws.shape == (8, 50, 3)
    assert len(np.unique(draws[..., 0])) > 390  # a rejected move repeats a draw now and then
    assert diagnose(posterior).rhat.max() < 1.01


def test_the_probe_has_an_entry_per_transition(posterior):
    assert posterior.probe.shape == (8, 1000, 6)
    last = posterior.functions(X)[..., 0].reshape(8, 50, 6)
    np.testing.assert_allclose(posterior.probe[:, 19::20], last, atol=1e-5)


def test_the_report_says_how_it_went(posterior):
    report = posterior.report
    assert report.sampler == "nuts"
    assert report.steps == 1400
    assert report.temperature == 1.0
    assert report.divergences == 0
    assert 0.7 < report.acceptance < 0.99
    assert report.gradients >= 8 * 1000
    assert 0.1 < report.step_size < 3
    assert report.clamped is None  # it has no noise to inject


def test_divergences_are_counted_and_warned_of():
    """Without a warm-up the step is a thousand times too long for these inputs."""
    lost = run(X=1e4 * X, chains=2, draws=5, burn_in=0)
    assert lost.report.divergences > 50
    assert any("NUTS transitions diverged" in text for text in diagnose(lost).warnings)


@pytest.mark.parametrize(
    ("prior", "likelihood"),
    [
        (GibbsHierarchicalPrior(PRIOR.architecture), Gaussian(NOISE_VARIANCE)),
        (LearnedNoise(GibbsHierarchicalPrior(PRIOR.architecture)), Heteroscedastic()),
    ],
)
def test_priors_with_a_gibbs_step_are_refused(prior, likelihood):
    with pytest.raises(
        ValueError, match=r"use the noncentred form of it, .*in_form\('noncentred'\)"
    ):
        sample_posterior(prior, likelihood, X, Y, key=jax.random.key(0), sampler=NUTS())


def test_every_step_uses_all_rows():
    assert NUTS().batch_size is None
    with pytest.raises(TypeError, match="batch_size"):
        NUTS(batch_size=32)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"target_acceptance": 1.0}, "target_acceptance must lie between 0 and 1, got 1.0"),
        ({"max_doublings": 0}, "max_doublings must be a whole number of at least 1, got 0"),
        ({"burn_in": -1}, "burn_in must be a whole number of at least 0, got -1"),
        ({"thinning": 0}, "thinning must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        NUTS(**settings)
