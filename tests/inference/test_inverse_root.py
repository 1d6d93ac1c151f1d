import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.inference.inverse_root import inverse_root


@pytest.mark.parametrize("size", [1, 2, 3, 8, 51, 64, 65, 131])
def test_it_is_the_inverse_of_the_cholesky_factor(size):
    rows = np.random.default_rng(size).normal(size=(size + 5, size)) * 30
    matrix = rows.T @ rows + np.eye(size)
    with jax.enable_x64(True):
        found = np.asarray(inverse_root(jnp.asarray(matrix)))
    assert (np.triu(found, 1) == 0).all()
    np.testing.assert_allclose(found @ np.linalg.cholesky(matrix), np.eye(size), atol=1e-11)


def test_a_matrix_that_is_not_positive_definite_gives_nan():
    assert np.isnan(inverse_root(-jnp.eye(3))).any()
