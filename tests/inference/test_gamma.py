"""Gamma variates, against the distribution they are to have."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from goodprior.inference.gamma import gamma_draws


@pytest.mark.parametrize("shape", [1.0, 2.5, 40.0])
def test_draws_have_the_distribution(shape):
    draws = gamma_draws(jax.random.key(0), shape, jnp.zeros((100, 200)))
    assert draws.shape == (100, 200)
    assert stats.kstest(np.ravel(draws), stats.gamma(shape).cdf).pvalue > 1e-3
