import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from goodprior.beliefs import KERNELS, GaussianProcess, matern32, periodic, rbf
from goodprior.beliefs.base import Belief
from tests.monte_carlo import assert_covariance, assert_mean

ALL_KERNELS = {name: kernel() for name, kernel in KERNELS.items()}
ALL_KERNELS["sum"] = rbf(0.4, 0.5) + matern32(2.0, 2.0)
ALL_KERNELS["product"] = rbf(3.0, 2.0) * periodic(0.8, period=1.5)
ALL_KERNELS["ard"] = rbf(jnp.array([0.3, 2.0]), 1.5)


@pytest.mark.parametrize("name", ALL_KERNELS)
def test_draws_have_the_kernel_as_their_covariance(name):
    kernel = ALL_KERNELS[name]
    x = jax.random.normal(jax.random.key(1), (5, 2 if name == "ard" else 1))
    draws = GaussianProcess(kernel).sample(jax.random.key(2), x, 20_000)
    assert draws.shape == (20_000, 5, 1)
    assert draws.dtype == jnp.float32
    assert_covariance(draws[..., 0], kernel(x, x))
    assert_mean(draws[..., 0], 0.0)


def test_the_mean_function_is_added_and_outputs_are_independent():
    belief = GaussianProcess(rbf(), mean=lambda x: jnp.array([x[0], 10.0]), outputs=2)
    x = jnp.array([[-1.0], [0.5], [2.0]])
    draws = np.asarray(belief.sample(jax.random.key(0), x, 20_000))
    mean = np.array([[-1.0, 10.0], [0.5, 10.0], [2.0, 10.0]])
    assert_mean(draws, mean)
    within = np.asarray(rbf()(x, x))
    apart = np.zeros((3, 3))
    flat = np.swapaxes(draws - mean, 1, 2).reshape(len(draws), -1)  # outputs, then points
    assert_covariance(flat, np.block([[within, apart], [apart, within]]))


def test_draws_are_independent_of_each_other():
    draws = GaussianProcess(rbf()).sample(jax.random.key(3), jnp.zeros((1, 1)), 20_000)[:, 0, 0]
    assert_mean(draws[::2] * draws[1::2], 0.0)


@pytest.mark.parametrize("name", ["rbf", "matern12", "product"])
def test_repeated_and_crowded_points_do_not_break_the_draws(name):
    crowd = jnp.linspace(-1e-3, 1e-3, 30)
    x = jnp.concatenate([crowd, crowd, jnp.array([5.0, 5.0])])[:, None]
    draws = np.asarray(GaussianProcess(ALL_KERNELS[name]).sample(jax.random.key(0), x, 10))
    assert np.isfinite(draws).all()
    np.testing.assert_allclose(draws[:, :30], draws[:, 30:60], atol=1e-3)
    np.testing.assert_allclose(draws[:, 60], draws[:, 61], atol=1e-3)


@pytest.mark.parametrize("kernel", [rbf(1.0, -1.0), rbf(0.0), rbf(1.0, float("nan"))])
def test_a_kernel_that_is_no_covariance_is_named(kernel):
    with pytest.raises(ValueError, match="it is no covariance: check the kernel"):
        GaussianProcess(kernel).sample(jax.random.key(0), jnp.linspace(0, 1, 5)[:, None], 2)


@pytest.mark.parametrize(
    ("ours", "theirs", "inputs"),
    [
        (rbf(0.8, 2.0), 2.0 * sk.RBF(0.8), 1),
        (matern32(jnp.array([0.5, 2.0])), sk.Matern([0.5, 2.0], nu=1.5), 2),
        (rbf(2.0) + periodic(1.0, 0.5, 0.7), sk.RBF(2.0) + 0.5 * sk.ExpSineSquared(1.0, 0.7), 1),
    ],
)
def test_the_posterior_agrees_with_scikit_learn(ours, theirs, inputs):
    rng = np.random.default_rng(0)
    x, at = rng.normal(size=(15, inputs)), rng.normal(size=(7, inputs))
    y = np.stack([np.sin(2 * x[:, 0]), x.sum(axis=1)], axis=1)
    peer = GaussianProcessRegressor(theirs, alpha=0.05, optimizer=None).fit(x, y)
    mean, covariance = peer.predict(at, return_cov=True)
    belief = GaussianProcess(ours, outputs=2)
    found = belief.posterior(
        *(jnp.asarray(a, jnp.float32) for a in (x, y)), 0.05, jnp.asarray(at, jnp.float32)
    )
    np.testing.assert_allclose(found[0], mean, atol=2e-5)
    np.testing.assert_allclose(found[1], covariance[..., 0], atol=2e-5)


def test_the_posterior_counts_from_the_mean_function():
    x, at = jnp.array([[0.0], [1.0]]), jnp.array([[0.4], [9.0]])
    y = jnp.array([[0.5], [-1.0]])
    plain = GaussianProcess(rbf()).posterior(x, y - (3 * x + 1), 0.1, at)
    sloped = GaussianProcess(rbf(), mean=lambda x: 3 * x + 1).posterior(x, y, 0.1, at)
    np.testing.assert_allclose(sloped[0], plain[0] + 3 * at + 1, rtol=1e-5)
    np.testing.assert_allclose(sloped[1], plain[1], rtol=1e-6)


def test_rows_that_repeat_are_fine_with_noise_and_named_without():
    x, y = jnp.zeros((2, 1)), jnp.array([[1.0], [3.0]])
    mean, _ = GaussianProcess(rbf()).posterior(x, y, 0.5, x)
    np.testing.assert_allclose(mean, [[1.6], [1.6]], rtol=1e-5)  # 4 / (2 + noise)
    with pytest.raises(ValueError, match=r"could not be factorised.* noise_variance above 1e-20"):
        GaussianProcess(rbf()).posterior(x, y, 1e-20, x)


def test_a_gaussian_process_is_a_belief():
    assert isinstance(GaussianProcess(rbf()), Belief)
