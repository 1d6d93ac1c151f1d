import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy import stats

from goodprior.inference import Categorical, Density, Gaussian
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior

X = jax.random.normal(jax.random.key(0), (12, 2))
CASES = {
    "regression": (Gaussian(0.3), 1, X[:, :1] ** 2),
    "classification": (Categorical(3), 3, jnp.arange(12) % 3),
}
each_case = pytest.mark.parametrize(
    ("likelihood", "outputs", "y"), CASES.values(), ids=CASES.keys()
)


def _density(likelihood, outputs, temperature=1.0):
    prior = GaussianPrior(MLP(2, (4,), outputs, key=jax.random.key(1)), 0.8)
    density = Density(prior, likelihood, len(X), temperature)
    return density, prior.sample(jax.random.key(2))


@each_case
@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_minibatch_gradients_are_unbiased(likelihood, outputs, y, temperature):
    density, latent = _density(likelihood, outputs, temperature)
    grad = jax.jit(lambda X, y: ravel_pytree(jax.grad(density)(latent, X, y))[0])
    single = [grad(X[i : i + 1], y[i : i + 1]) for i in range(12)]  # all batches of one row
    thirds = [grad(X[i::3], y[i::3]) for i in range(3)]  # all rows once, in batches of four
    whole = grad(X, y)
    np.testing.assert_allclose(np.mean(single, axis=0), whole, rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(np.mean(thirds, axis=0), whole, rtol=2e-4, atol=2e-4)
    assert np.std(single, axis=0).max() > 0.1


def test_the_density_is_likelihood_times_prior():
    density, latent = _density(*CASES["regression"][:2])
    y = CASES["regression"][2]
    outputs = np.asarray(jax.vmap(density.prior.weights(latent))(X))
    weights = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(latent)])
    expected = (
        stats.norm.logpdf(np.asarray(y), outputs, np.sqrt(0.3)).sum()
        + stats.norm.logpdf(weights, scale=0.8).sum()
    )
    np.testing.assert_allclose(density(latent, X, y), expected, rtol=1e-5)


@each_case
def test_a_temperature_divides_likelihood_and_prior_together(likelihood, outputs, y):
    plain, latent = _density(likelihood, outputs)
    cold, _ = _density(likelihood, outputs, 0.25)
    np.testing.assert_allclose(cold(latent, X, y), 4 * plain(latent, X, y), rtol=1e-5)
    np.testing.assert_allclose(
        cold(latent, X[:3], y[:3]), 4 * plain(latent, X[:3], y[:3]), rtol=1e-5
    )
