"""The Gibbs step for the scales, and the sampler that it alternates with.

Geweke (2004): draw the data again between the sampler's sweeps, and the latent stays a draw from
the prior, which can also be had directly. Any error in density, gradient, step or Gibbs update
makes the two disagree. Chains start from the prior and are independent of each other, so that
their means have a plain standard error.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float, PRNGKeyArray, PyTree
from scipy import special

from goodprior.inference import SGHMC, Density, Gaussian, sample_posterior
from goodprior.inference.coordinates import Coordinates
from goodprior.networks import Dense
from goodprior.priors import GibbsHierarchicalPrior
from goodprior.priors.hierarchical import WeightsAndVariances, _inverse_gamma
from tests.monte_carlo import LIMIT, assert_mean

X = jnp.array([[-1.0, 0.5], [0.3, 1.2], [1.0, -0.7], [0.1, 0.2]])
NOISE_VARIANCE = 1.0
CHAINS, SWEEPS, STEPS, DIRECT = 400, 400, 40, 100_000
PRIOR = GibbsHierarchicalPrior(Dense(2, 1, key=jax.random.key(0)), 1.0, 1.0)


class SoftplusTooLate(GibbsHierarchicalPrior):
    """A mistake that is easily made: the unconstrained shape is updated, then constrained."""

    def refresh(self, key: PRNGKeyArray, latent: PyTree) -> PyTree:
        half_sizes = jnp.array(self.architecture.sizes) / 2
        shapes = jax.nn.softplus(self.raw_shapes + half_sizes)
        variances = _inverse_gamma(key, shapes, self.rates + self._half_squares(latent.weights))
        return WeightsAndVariances(latent.weights, variances)


def statistics(latent) -> Float[Array, " statistics"]:
    """Bounded, or nearly so, in spite of the prior's heavy tails."""
    weights = jnp.concatenate([latent.weights.weight.ravel(), latent.weights.bias])
    logs = jnp.log(latent.variances)
    squashed = jnp.tanh(weights)
    return jnp.concatenate([squashed, squashed**2, logs, logs**2, squashed[:1] ** 2 * logs[:1]])


@cache
def prior_draws():
    """Latents that the chains start from, and statistics of many more; drawn by NumPy."""
    rng, count = np.random.default_rng(0), CHAINS + DIRECT
    variances = 1 / rng.gamma(shape=1.0, scale=1.0, size=(count, 2))
    flat = np.sqrt(variances)[:, [0, 0, 1]] * rng.normal(size=(count, 3))
    flat, variances = jnp.asarray(flat, jnp.float32), jnp.asarray(variances, jnp.float32)
    latents = WeightsAndVariances(jax.vmap(PRIOR.architecture.arrays)(flat), variances)
    starts = jax.tree.map(lambda leaf: leaf[:CHAINS], latents)
    return starts, np.asarray(jax.jit(jax.vmap(statistics))(latents))[CHAINS:]


def geweke_z(prior) -> Float[np.ndarray, " statistics"]:
    """How far sampler and direct draws are apart, in standard errors, for each statistic."""
    density = Density(prior, Gaussian(NOISE_VARIANCE), len(X))
    coordinates = Coordinates(prior, prior.moving)
    join, sampler = coordinates.join, SGHMC(0.02, 0.05, gradient_noise="none")

    def sweep(chain, key):
        state, held = chain
        key_data, key_steps, key_gibbs = jax.random.split(key, 3)
        mean = jax.vmap(prior.weights(join(state.position, held)))(X)
        y = mean + NOISE_VARIANCE**0.5 * jax.random.normal(key_data, mean.shape)

        def target(position, batch):
            return density(join(position, held), X, y)

        def step(state, key):
            return sampler.step(key, state, None, target)[0], None

        state, _ = jax.lax.scan(step, state, jax.random.split(key_steps, STEPS))
        latent = prior.refresh(key_gibbs, join(state.position, held))
        position, held = coordinates.split(latent)
        return (sampler.relocate(state, position), held), statistics(latent)

    def chain(latent, key):
        key_momentum, key_sweeps = jax.random.split(key)
        position, held = coordinates.split(latent)
        # `square` is one, and stays so: `step` never adapts.
        state = sampler.init(key_momentum, position)
        momentum = jax.random.normal(key_momentum, position.shape)
        state = state._replace(momentum=sampler.step_size * momentum)
        return jax.lax.scan(sweep, (state, held), jax.random.split(key_sweeps, SWEEPS))[1].mean(0)

    starts, direct = prior_draws()
    means = np.asarray(
        jax.jit(jax.vmap(chain))(starts, jax.random.split(jax.random.key(2), CHAINS))
    )
    errors = np.sqrt(means.var(axis=0, ddof=1) / CHAINS + direct.var(axis=0) / DIRECT)
    return (means.mean(axis=0) - direct.mean(axis=0)) / errors


@pytest.mark.slow
def test_sampler_and_gibbs_step_leave_the_joint_distribution_as_it_is():
    z = geweke_z(PRIOR)
    assert np.abs(z).max() < LIMIT, z


@pytest.mark.slow
def test_a_wrong_gibbs_step_is_found_out():
    z = geweke_z(SoftplusTooLate(PRIOR.architecture, 1.0, 1.0))
    assert np.abs(z).max() > 2 * LIMIT, z


def posterior(prior, noise_variance, x, y, *, chains=200, burn_in=1000):
    """A posterior by the sampler without the bias of minibatches."""
    return sample_posterior(
        prior,
        Gaussian(noise_variance),
        x,
        y,
        key=jax.random.key(1),
        sampler=SGHMC(
            0.04, 0.05, gradient_noise="none", burn_in=burn_in, thinning=200, batch_size=None
        ),
        chains=chains,
        draws=20,
    )


@pytest.mark.slow
@pytest.mark.parametrize("form", ["gibbs", "noncentred"])
def test_all_forms_have_the_same_posterior(form):
    """Moments of weight, bias and log variances: by SGHMC, and by quadrature of the marginal form.

    The data ask for weights that the prior finds large, so that the variances must move.
    """
    shape, rate, noise_variance = 1.5, 0.1, 0.5
    x, y = np.array([[-1.0], [0.2], [0.7], [2.0]]), np.array([[-3.1], [0.9], [1.5], [5.2]])
    layer = Dense(1, 1, key=jax.random.key(0))
    prior = GibbsHierarchicalPrior(layer, shape, rate, refresh_every=10).in_form(form)
    draws = posterior(prior, noise_variance, x, y).draws
    draws = jax.tree.map(lambda leaf: leaf[:, 5:], draws)  # Gibbs steps begin with the first draw
    networks = jax.vmap(jax.vmap(prior.weights))(draws)
    w, b = networks.weight[..., 0, 0], networks.bias[..., 0]
    logs = draws.log_variances if form == "noncentred" else np.log(draws.variances)
    moments = np.stack([w, b, w**2, b**2, w * b, *np.moveaxis(logs, -1, 0)])

    w, b = np.meshgrid(np.linspace(-2, 6, 401), np.linspace(-4, 4, 401), indexing="ij")
    density = Density(prior.in_form("marginal"), Gaussian(noise_variance), len(x))
    log_density = jax.jit(
        jax.vmap(lambda flat: density(prior.architecture.arrays(flat), jnp.array(x), jnp.array(y)))
    )
    points = jnp.asarray(np.stack([w.ravel(), b.ravel()], axis=1), jnp.float32)
    heights = np.exp(np.asarray(log_density(points), np.float64)).reshape(w.shape)
    # Given its weight, a log variance has the mean of the conditional inverse gamma.
    log_variances = [np.log(rate + v**2 / 2) - special.digamma(shape + 0.5) for v in (w, b)]
    functions = np.stack([w, b, w**2, b**2, w * b, *log_variances])
    exact = (functions * heights).sum(axis=(1, 2)) / heights.sum()
    assert_mean(moments.mean(axis=-1).T, exact)  # chains are independent


@pytest.mark.slow
def test_the_variance_of_a_wide_layer_is_found_without_gibbs_steps():
    """A layer of 1,000 weights that the data want larger than the N(0, 1) of the start.

    Given the variances the targets are Gaussian, so their posterior is a plain sum over a grid.
    """
    rng, noise_variance = np.random.default_rng(3), 0.5
    x = rng.normal(size=(12, 1000))
    y = x @ rng.normal(size=(1000, 1)) / 1000**0.5 * 6 + rng.normal(size=(12, 1)) * 0.7
    log_w, log_b = (a.ravel() for a in np.meshgrid(np.linspace(0, 8, 200), np.linspace(-4, 8, 200)))
    covariance = (
        np.exp(log_w)[:, None, None] * (x @ x.T / 1000)
        + np.exp(log_b)[:, None, None]
        + noise_variance * np.eye(12)
    )
    fit = -0.5 * np.linalg.slogdet(covariance)[1]
    fit -= 0.5 * np.einsum("i,gij,j->g", y[:, 0], np.linalg.inv(covariance), y[:, 0])
    log_heights = fit - sum(v + np.exp(-v) for v in (log_w, log_b))  # InverseGamma(1, 1)
    heights = np.exp(log_heights - log_heights.max())
    exact = (log_w * heights).sum() / heights.sum()

    layer = Dense(1000, 1, key=jax.random.key(0))
    prior = GibbsHierarchicalPrior(layer).in_form("noncentred")
    draws = posterior(prior, noise_variance, x, y, chains=40, burn_in=2000).draws
    each_chain = np.asarray(draws.log_variances[..., 0].mean(axis=1), np.float64)
    assert_mean(each_chain[:, None], [exact])


def test_variances_keep_to_the_prior_while_the_sampler_adapts():
    """The mean of InverseGamma(20, 20), 20 / 19, where the data say nothing.

    While V follows the current gradient, weights spread too far. With Gibbs steps in that time the
    variance was 70 at the first draw, and 380 in a layer of 1,000 weights; with Gibbs steps right
    after it still 5.6 there.
    """
    prior = GibbsHierarchicalPrior(Dense(100, 1, key=jax.random.key(0)), 20.0, 20.0)
    x, y = np.ones((4, 100)), np.zeros((4, 1))
    found = sample_posterior(
        prior,
        Gaussian(1e8),
        x,
        y,
        key=jax.random.key(1),
        sampler=SGHMC(gradient_noise="none", burn_in=2000, thinning=2000, batch_size=None),
        chains=50,
        draws=2,
    )
    each_chain = np.asarray(found.draws.variances.mean(axis=1), np.float64)
    assert_mean(each_chain, 20 / 19)
