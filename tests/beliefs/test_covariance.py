import jax
import jax.numpy as jnp
import numpy as np

from goodprior.beliefs.covariance import FIRST_JITTER, LAST_JITTER, cholesky


def _factor(matrix):
    with jax.enable_x64(True):
        factor, jitter = cholesky(jnp.asarray(matrix, jnp.float64))
        return np.asarray(factor), float(jitter)


def test_a_well_conditioned_matrix_takes_the_first_jitter_only():
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    factor, jitter = _factor(matrix)
    assert jitter == FIRST_JITTER
    np.testing.assert_allclose(factor, np.linalg.cholesky(matrix), atol=1e-9)


def test_the_jitter_grows_until_the_factor_exists():
    values, vectors = (
        np.array([1.0, 1.0, -1e-6]),
        np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2)[0],
    )
    matrix = vectors @ np.diag(values) @ vectors.T
    factor, jitter = _factor(matrix)
    unit = np.trace(matrix) / 3
    assert jitter / 10 * unit < 1e-6 < jitter * unit  # ten times less would not have done
    np.testing.assert_allclose(factor @ factor.T, matrix + jitter * unit * np.eye(3), atol=1e-12)


def test_what_is_no_covariance_stays_nan():
    factor, jitter = _factor(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert np.isnan(factor[np.tril_indices(2)]).all()
    assert jitter >= LAST_JITTER * (1 - 1e-6)
