import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from goodprior.beliefs import GaussianProcess, fit_kernel, kernel_network, rbf

X = jnp.linspace(-6, 6, 150)[:, None]


@pytest.mark.slow
def test_hyper_parameters_that_made_the_data_are_found():
    belief = GaussianProcess(rbf(0.8, 2.0))
    y = belief.sample(jax.random.key(0), X, 1)[0]
    y = y + 0.2 * jax.random.normal(jax.random.key(1), y.shape)
    fitted = fit_kernel(X, y, kernel=rbf(2.0), key=jax.random.key(2))
    assert fitted.belief.kernel.lengthscale == pytest.approx(0.8, rel=0.25)
    assert fitted.noise_variance == pytest.approx(0.04, rel=0.4)
    covariance = np.asarray(fitted.belief.kernel(X, X), np.float64)
    density = multivariate_normal(np.zeros(150), covariance + fitted.noise_variance * np.eye(150))
    assert fitted.log_marginal_likelihood == pytest.approx(density.logpdf(y[:, 0]), rel=1e-3)


@pytest.mark.slow
def test_a_kernel_network_is_a_kernel_and_learns():
    kernel = kernel_network(1, jax.random.key(0))
    matrix = np.asarray(kernel(X[:40], X[:40]), np.float64)
    pairs = jax.vmap(lambda a: jax.vmap(lambda b: kernel.evaluate(a, b))(X[:40]))(X[:40])
    np.testing.assert_allclose(matrix, pairs, rtol=1e-4)
    np.testing.assert_allclose(np.diag(matrix), kernel(X[:40]), rtol=1e-4)
    assert np.linalg.eigvalsh(matrix).min() > -1e-4
    y = jnp.sin(X[:, 0])
    few, many = (
        fit_kernel(X, y, kernel=kernel, steps=n, rows=60, key=jax.random.key(1)) for n in (1, 60)
    )
    assert many.log_marginal_likelihood > few.log_marginal_likelihood + 20


def test_rows_and_targets_must_fit():
    with pytest.raises(ValueError, match="as many rows: 150 and 149"):
        fit_kernel(X, X[1:], key=jax.random.key(0))
