import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs.covariance import JITTERS, cholesky, with_growing_jitter


def _factor(matrix, jitter):
    with jax.enable_x64(True):
        return np.asarray(cholesky(jnp.asarray(matrix, jnp.float64), jitter))


def test_the_factor_is_that_of_the_matrix_with_a_share_of_its_variance_added():
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(_factor(matrix, 0.0), np.linalg.cholesky(matrix), atol=1e-12)
    factor = _factor(matrix, 0.01)
    np.testing.assert_allclose(factor @ factor.T, matrix + 0.015 * np.eye(2), atol=1e-9)


def test_the_smallest_jitter_that_does_is_taken():
    vectors = np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2)[0]
    matrix = vectors @ np.diag([1.0, 1.0, -1e-6]) @ vectors.T  # needs more than 1.5e-6 of 2/3
    tried = []

    def draw(jitter):
        tried.append(float(jitter))
        return jnp.asarray(_factor(matrix, jitter), jnp.float32)

    assert np.isfinite(with_growing_jitter(draw, "belief")).all()
    np.testing.assert_allclose(tried, JITTERS[:6], rtol=1e-6)
    np.testing.assert_allclose(tried[-1], 1e-5, rtol=1e-6)


def test_what_no_jitter_helps_is_an_error_that_shows_the_belief():
    with pytest.raises(ValueError, match=r"jitter of 0.01 .* The belief is mine"):
        with_growing_jitter(lambda jitter: jnp.full(2, jnp.nan), "mine")


def test_while_tracing_one_jitter_is_taken_for_all():
    matrix = np.eye(3)
    traced = jax.jit(lambda: with_growing_jitter(lambda jitter: jitter * jnp.asarray(matrix), "b"))
    np.testing.assert_allclose(traced(), 1e-6 * matrix, rtol=1e-5)
