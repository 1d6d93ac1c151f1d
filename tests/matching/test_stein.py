import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.matching import stein_score

_score = jax.jit(stein_score)


def _error(found, true):
    """Mean squared error, in units of the true score's mean square."""
    return float(((found - true) ** 2).mean() / (true**2).mean())


@pytest.mark.parametrize("dim", [1, 5])
def test_the_score_of_a_gaussian(dim):
    scales = jnp.linspace(0.5, 2.0, dim)
    x = 3.0 + scales * jax.random.normal(jax.random.key(0), (1000, dim))
    assert _error(_score(x), -(x - 3.0) / scales**2) < 0.1


@pytest.mark.slow
def test_the_score_of_a_mixture():
    key_which, key_x = jax.random.split(jax.random.key(1))
    centres = jnp.array([[-2.0, 0.0], [2.0, 1.0]])
    which = jax.random.bernoulli(key_which, 0.3, (800,)).astype(int)
    x = centres[which] + jax.random.normal(key_x, (800, 2))

    def log_density(x):
        squares = ((x - centres) ** 2).sum(-1)
        return jax.nn.logsumexp(jnp.log(jnp.array([0.7, 0.3])) - 0.5 * squares)

    true = jax.vmap(jax.grad(log_density))(x)
    assert _error(_score(x), true) < 0.1
    assert _error(-x + x.mean(0), true) > 0.3  # it is not that of one Gaussian


@pytest.mark.slow
def test_steins_identity_holds_for_a_linear_function():
    """`E[score x^T] = -identity`, whatever the density is."""
    x = jax.random.laplace(jax.random.key(2), (1000, 2))
    product = np.asarray(_score(x).T @ x) / 1000
    np.testing.assert_allclose(product, -np.eye(2), atol=0.15)
