import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float
from scipy import stats

from goodprior import (
    SGHMC,
    Box,
    GaussianPrior,
    GaussianProcess,
    Heteroscedastic,
    LearnedNoise,
    LogNormal,
    MatchSchedule,
    Stacked,
    match,
    rbf,
    sample_posterior,
)
from goodprior.networks import MLP
from goodprior.priors.learned_noise import WithNoise
from tests.monte_carlo import assert_mean


class Line(eqx.Module):
    """Intercept and grad."""

    weight: Float[Array, " two"]

    def __call__(self, x):
        return self.weight[:1] + self.weight[1:] * x


LINE = Line(jnp.zeros(2))
X = np.array([[-1.5], [-1.0], [-0.2], [0.3], [0.9], [1.1], [1.6], [2.0]])
Y = 0.3 + 0.8 * X + np.array([[0.3], [-0.6], [0.4], [0.1], [-0.5], [0.7], [-0.2], [0.1]])
NOISE = LogNormal(-1.0, 1.0)


def test_the_noise_level_follows_the_outputs():
    prior = LearnedNoise(GaussianPrior(LINE), NOISE, targets=2)
    latent = WithNoise(Line(jnp.array([1.0, 2.0])), jnp.array([-3.0, 0.5]))
    np.testing.assert_allclose(prior.weights(latent)(jnp.array([2.0])), [5.0, -3.0, 0.5])


def test_the_log_variance_is_gaussian():
    prior = LearnedNoise(GaussianPrior(LINE), NOISE)
    keys = jax.random.split(jax.random.key(0), 20_000)
    draws = jax.jit(jax.vmap(lambda key: prior.sample(key).log_variance[0]))(keys)
    assert stats.kstest(np.asarray(draws, np.float64), stats.norm(-1, 1).cdf).pvalue > 1e-4
    latent = WithNoise(Line(jnp.array([0.5, 0.2])), jnp.array([0.3]))
    expected = stats.norm.logpdf([0.5, 0.2]).sum() + stats.norm.logpdf(0.3, -1, 1)
    np.testing.assert_allclose(prior.log_prob(latent), expected, rtol=1e-5)


def test_the_default_says_what_its_description_says():
    low, middle, high = np.exp(-2.3 + 2 * stats.norm.ppf([0.025, 0.5, 0.975]))
    default = LearnedNoise(GaussianPrior(LINE)).noise_variance
    assert (default.location, default.variance) == (-2.3, 4.0)
    assert low == pytest.approx(0.002, rel=0.05)
    assert middle == pytest.approx(0.1, rel=0.05)
    assert high == pytest.approx(5, rel=0.05)


@pytest.mark.slow
def test_the_posterior_of_the_noise_agrees_with_quadrature():
    """Given its variance everything is Gaussian, so that only one integral is left."""
    posterior = sample_posterior(
        LearnedNoise(GaussianPrior(LINE), NOISE),
        Heteroscedastic(),
        X,
        Y,
        key=jax.random.key(1),
        sampler=SGHMC(
            0.03, 0.05, gradient_noise="none", burn_in=1500, thinning=300, batch_size=None
        ),
        chains=200,
        draws=20,
    )
    log_variance = posterior.draws.log_variance[..., 0]
    weight = posterior.draws.inner.weight
    ours = np.stack(
        [log_variance, log_variance**2, np.exp(log_variance), weight[..., 0], weight[..., 1]], -1
    )

    grid = np.linspace(-6, 4, 2001)
    design = np.hstack([np.ones_like(X), X])
    evidence, means = [], []
    for variance in np.exp(grid):
        covariance = design @ design.T + variance * np.eye(len(X))
        evidence.append(stats.multivariate_normal.logpdf(Y[:, 0], cov=covariance))
        means.append(design.T @ np.linalg.solve(covariance, Y[:, 0]))
    heights = np.exp(np.array(evidence) + stats.norm.logpdf(grid, -1, 1))
    share = heights / heights.sum()
    exact = [share @ grid, share @ grid**2, share @ np.exp(grid), *(share @ np.array(means))]
    assert_mean(ours.mean(axis=1), exact)  # chains are independent


@pytest.mark.slow
def test_noise_that_grows_is_found_with_a_belief_about_it():
    """A network with two outputs: the function, and the logarithm of the noise variance."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (300, 1))
    noise_std = 0.3 * np.exp(0.6 * x)
    y = np.sin(2 * x) + noise_std * rng.normal(size=x.shape)
    level = GaussianProcess(rbf(2.0, 1.0), mean=lambda x: jnp.log(0.1))
    belief = Stacked((GaussianProcess(rbf(1.0)), level))
    prior = GaussianPrior(MLP(1, (20,), 2, key=jax.random.key(0)))
    matched, _ = match(
        prior,
        belief,
        Box([-2], [2], 20),
        schedule=MatchSchedule(steps=40),
        held_out=0,
        key=jax.random.key(1),
    )
    posterior = sample_posterior(
        matched,
        Heteroscedastic(),
        x,
        y,
        key=jax.random.key(2),
        sampler=SGHMC(burn_in=1500, thinning=300, batch_size=None),
        chains=4,
        draws=5,
    )
    at = np.array([[-1.7], [0.0], [1.7]])
    found = np.asarray(posterior.predict(at).scale)[..., 0].mean(axis=0)
    np.testing.assert_allclose(found, 0.3 * np.exp(0.6 * at[:, 0]), rtol=0.4)
    assert found[0] < found[1] < found[2]
