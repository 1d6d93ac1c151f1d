"""Cold and warm posteriors: likelihood and prior to the power of one over the temperature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior import NUTS, SGHMC, Gaussian, GaussianPrior, diagnose, sample_posterior
from goodprior.inference import Density
from goodprior.networks import Dense
from tests.monte_carlo import assert_covariance, assert_mean

X = np.array([[-1.0], [0.2], [0.8], [2.0]])
Y = np.array([-0.7, 0.4, 0.5, 2.1])
NOISE_VARIANCE = 0.4
PRIOR = GaussianPrior(Dense(1, 1, key=jax.random.key(0)))


def exact_posterior():
    design = np.hstack([X, np.ones_like(X)])
    covariance = np.linalg.inv(design.T @ design / NOISE_VARIANCE + np.eye(2))
    return covariance @ design.T @ Y / NOISE_VARIANCE, covariance


def test_a_tempered_density_is_the_density_to_a_power():
    latent = PRIOR.architecture.arrays(jnp.array([0.5, -0.2]))
    plain, cold = (
        Density(PRIOR, Gaussian(NOISE_VARIANCE), 4, t)(latent, jnp.array(X), jnp.array(Y)[:, None])
        for t in (1.0, 0.25)
    )
    np.testing.assert_allclose(cold, 4 * plain, rtol=1e-6)


@pytest.mark.slow
def test_half_the_temperature_halves_the_covariance():
    posterior = sample_posterior(
        PRIOR,
        Gaussian(NOISE_VARIANCE),
        X,
        Y,
        key=jax.random.key(1),
        sampler=NUTS(burn_in=300, thinning=20),
        temperature=0.5,
        chains=8,
        draws=50,
    )
    mean, covariance = exact_posterior()
    rows = np.stack([posterior.draws.weight[..., 0, 0], posterior.draws.bias[..., 0]], axis=-1)
    assert_mean(rows.reshape(-1, 2), mean)
    assert_covariance(rows.reshape(-1, 2), covariance / 2, mean)
    assert posterior.report.temperature == 0.5


@pytest.mark.slow
def test_the_report_has_the_asked_and_the_effective_temperature():
    """Full batch with exact noise: what is asked is what is sampled."""
    posterior = sample_posterior(
        PRIOR,
        Gaussian(NOISE_VARIANCE),
        X,
        Y,
        key=jax.random.key(2),
        sampler=SGHMC(
            0.04, 0.05, gradient_noise="none", burn_in=1000, thinning=200, batch_size=None
        ),
        temperature=0.5,
        chains=200,
        draws=10,
    )
    report = posterior.report
    assert report.temperature == 0.5
    for quantile in ("temperature_5", "temperature_50", "temperature_95"):
        assert getattr(report, quantile) == pytest.approx(0.5)
    assert report.clamped == 0
    mean, covariance = exact_posterior()
    rows = np.stack([posterior.draws.weight[..., 0, 0], posterior.draws.bias[..., 0]], axis=-1)
    squares = (rows - mean) ** 2
    assert_mean(squares.mean(axis=1), np.diag(covariance) / 2)  # chains are independent


@pytest.mark.slow
def test_a_cold_posterior_at_the_papers_settings_has_nearly_all_noise_clamped():
    """Step 0.01, momentum decay 0.01, 32 rows a step, and little noise: it says so itself."""
    x = np.random.default_rng(0).uniform(-2, 2, (200, 1))
    posterior = sample_posterior(
        PRIOR,
        Gaussian(0.005),
        x,
        x + 0.07 * np.random.default_rng(1).normal(size=x.shape),
        key=jax.random.key(1),
        sampler=SGHMC(burn_in=1000, thinning=200),
        temperature=0.01,
        chains=4,
        draws=5,
    )
    report = posterior.report
    assert report.temperature == 0.01
    assert report.clamped > 0.9
    assert not 0.9 < report.temperature_50 / 0.01 < 1.1
    assert any("(expected 0.01)" in text for text in diagnose(posterior).warnings)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_the_temperature_is_positive(temperature):
    with pytest.raises(ValueError, match="temperature must be a finite number above zero"):
        sample_posterior(
            PRIOR,
            Gaussian(NOISE_VARIANCE),
            X,
            Y,
            key=jax.random.key(0),
            sampler=SGHMC(batch_size=None),
            temperature=temperature,
        )
