import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.baselines import fit_fbnn
from goodprior.beliefs import GaussianProcess, rbf
from goodprior.inference import Binary, Gaussian
from goodprior.networks import MLP

RNG = np.random.default_rng(0)


@pytest.mark.slow
def test_a_gaussian_process_posterior_that_it_can_represent_is_found():
    """Rows at -1 and 1 only: independent slope and offset can give any exchangeable pair."""
    X = np.repeat([[-1.0], [1.0]], 5, axis=0)
    y = 0.8 * X[:, 0] + 0.3 + RNG.normal(size=10)
    belief, noise = GaussianProcess(rbf(1.5, 1.0)), 1.0
    at = jnp.array([[-1.0], [1.0]])
    mean, covariance = belief.posterior(jnp.asarray(X), jnp.asarray(y)[:, None], noise, at)
    # Five rows at a place with noise 1 are one with noise 1/5, and the functions have a density.
    posterior = fit_fbnn(
        MLP(1, (), 1, key=jax.random.key(0)), Gaussian(noise / 5), at, [y[:5].mean(), y[5:].mean()],
        belief=belief, box_points=0, epochs=600, learning_rate=lambda epoch: 0.03 * 0.995**epoch,
        batch_size=None, draws=4000, functions=200, key=jax.random.key(1),
    )  # fmt: skip
    functions = np.asarray(posterior.functions(at))[..., 0]
    np.testing.assert_allclose(functions.mean(axis=0), mean[:, 0], atol=0.08)
    np.testing.assert_allclose(np.cov(functions.T), covariance, atol=0.04)


@pytest.mark.slow
def test_the_belief_is_fitted_when_none_is_given():
    X = RNG.uniform(-2, 2, size=(30, 1))
    network = MLP(1, (10,), 1, key=jax.random.key(0))
    posterior = fit_fbnn(
        network, Gaussian(0.01), X, np.sin(X), epochs=300, learning_rate=0.02, batch_size=None,
        functions=50,
        key=jax.random.key(1),
    )  # fmt: skip
    assert posterior.report["belief_noise_variance"] < 0.05
    found = posterior.predict(X)
    error = np.sqrt(np.mean((found.mean - np.sin(X)) ** 2))
    assert error < 2 * found.function_std.mean() < 0.2  # it says itself how far off it is
    assert found.function_std.min() > 0.01  # the entropy keeps the functions apart


def test_it_is_for_regression(as_users_run_it):
    network = MLP(1, (10,), 1, key=jax.random.key(0))
    with pytest.raises(ValueError, match="regression with Gaussian noise, not for Binary"):
        fit_fbnn(network, Binary(), np.ones((4, 1)), [0, 1, 0, 1], key=jax.random.key(0))
