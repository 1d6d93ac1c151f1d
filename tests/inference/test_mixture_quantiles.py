"""Quantiles of mixtures against SciPy's distribution functions."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from goodprior.inference.mixture_quantiles import finite_sum_cdf, mixture_quantiles, noise_cdf

LEVELS = np.array([0.001, 0.025, 0.3, 0.5, 0.9, 0.999])


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 8, 11])
def test_the_finite_sum_is_the_distribution_function(degrees):
    z = np.linspace(-30, 30, 301)
    found = finite_sum_cdf(degrees)(jnp.asarray(z))
    np.testing.assert_allclose(found, stats.t.cdf(z, degrees), atol=5e-7)


def test_rare_events_on_the_left_keep_their_digits():
    found = float(noise_cdf(5.0)(jnp.array(-100.0)))
    assert found == pytest.approx(stats.t.cdf(-100, 5), rel=1e-4)


@pytest.mark.parametrize("degrees", [None, 5.0, 3.5])
def test_the_mixture_has_as_much_probability_below(degrees):
    """Components of very different widths, some far away: where Newton's steps alone get lost."""
    rng = np.random.default_rng(0)
    location = np.concatenate([rng.normal(size=(30, 8)), 40 + 0.01 * rng.normal(size=(10, 8))])
    scale = np.exp(rng.normal(-3, 2, size=location.shape))
    found = mixture_quantiles(
        jnp.asarray(location[..., None], jnp.float32),
        jnp.asarray(scale[..., None], jnp.float32),
        jnp.asarray(LEVELS, jnp.float32),
        degrees,
    )[..., 0]
    noise = stats.norm() if degrees is None else stats.t(degrees)
    below = noise.cdf((np.asarray(found, float)[:, None] - location) / scale).mean(axis=1)
    np.testing.assert_allclose(below, np.broadcast_to(LEVELS[:, None], below.shape), atol=2e-4)


def test_no_bracket_is_left_where_probability_has_a_gap():
    """Nothing lies between the components: any number there has half of it below."""
    location = jnp.array([[[-5.0]], [[5.0]]])
    found = mixture_quantiles(location, jnp.full((2, 1, 1), 1e-3), jnp.array([0.5]))
    assert -5.0 < float(found[0, 0, 0]) < 5.0
