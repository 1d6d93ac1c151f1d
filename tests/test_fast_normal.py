"""The fast noise: Gaussian for all that a sampler can tell."""

from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from goodprior.fast_normal import fast_normal
from goodprior.inference.samplers.sghmc import SGHMC
from tests.monte_carlo import LIMIT, assert_mean, z_of_mean

COUNT = 1_000_000
MOMENTS = {1: 0, 2: 1, 3: 0, 4: 3, 5: 0, 6: 15, 7: 0, 8: 105}


@pytest.fixture(scope="module")
def numbers():
    return np.asarray(fast_normal(jax.random.key(0), (COUNT,)), np.float64)


@pytest.fixture(scope="module")
def by_key():
    """A row for each of many keys, as a sampler's steps or chains have them."""
    keys = jax.random.split(jax.random.key(1), 2000)
    rows = jax.jit(jax.vmap(lambda key: fast_normal(key, (500,))))(keys)
    return keys, np.asarray(rows, np.float64)


def assert_uncorrelated(a, b):
    """Neither the numbers nor their squares are."""
    assert_mean((a * b).ravel(), 0.0)
    assert_mean(((a**2 - 1) * (b**2 - 1)).ravel(), 0.0)


@pytest.mark.parametrize("power", MOMENTS)
def test_moments_are_the_gaussians(numbers, power):
    assert_mean(numbers**power, MOMENTS[power])


def test_the_distribution_function_is_the_gaussians(numbers):
    assert stats.kstest(numbers, "norm").statistic < 1e-3


def test_numbers_do_not_repeat(numbers):
    assert len(np.unique(numbers)) > 0.9 * COUNT


def test_no_bits_are_stuck(numbers):
    """In each of 1,000 equally likely classes, and of neighbours in 30 x 30 of them."""
    classes = np.floor(stats.norm.cdf(numbers) * 1000).astype(int)
    counts = np.bincount(classes, minlength=1000)
    assert abs(counts.std() / np.sqrt(COUNT / 1000) - 1) < 0.2  # KS 2e-4 is seen as well
    coarse = np.floor(stats.norm.cdf(numbers) * 30).astype(int)
    pairs = np.bincount(30 * coarse[:-1] + coarse[1:], minlength=900)
    expected = np.outer(np.bincount(coarse), np.bincount(coarse)).ravel() / COUNT
    chi_squared = ((pairs - expected) ** 2 / expected).sum()
    assert 1e-4 < stats.chi2(900 - 59).cdf(chi_squared) < 1 - 1e-4


@pytest.mark.parametrize("distance", [1, 2, 3, 16, 256, 65536])
def test_neighbours_are_uncorrelated(numbers, distance):
    assert_uncorrelated(numbers[distance:], numbers[:-distance])


def test_keys_that_come_from_a_split_are_uncorrelated(by_key):
    _, rows = by_key
    assert_uncorrelated(rows[1:], rows[:-1])  # the same place at the next step
    assert_uncorrelated(rows[1:, 1:], rows[:-1, :-1])
    means = rows.mean(axis=0) * np.sqrt(len(rows))  # of each place over all keys
    assert abs((means**2).mean() - 1) < LIMIT * np.sqrt(2 / len(means))


def test_neighbouring_seeds_and_keys_are_uncorrelated():
    """Keys from a split are random, but users start from seeds 0, 1, 2."""
    base = np.array([12345, 67890], np.uint32)
    flips = np.array([[1, 0], [0, 1], [1 << 31, 0], [0, 1 << 31], [1, 1]], np.uint32)
    keys = [jax.random.PRNGKey(seed) for seed in range(5)]
    keys += [jnp.asarray(key) for key in (base, *(base ^ flip for flip in flips))]
    rows = jax.jit(jax.vmap(lambda key: fast_normal(key, (50_000,))))(jnp.stack(keys))
    for a, b in combinations(np.asarray(rows, np.float64), 2):
        assert_uncorrelated(a, b)


def test_the_same_key_gives_the_same_numbers(by_key):
    keys, rows = by_key
    for i in (0, 7, 1999):
        np.testing.assert_allclose(fast_normal(keys[i], (500,)), rows[i], rtol=1e-6)
    typed, raw = jax.random.key(5), jax.random.PRNGKey(5)
    np.testing.assert_array_equal(fast_normal(typed, (3, 4)), fast_normal(raw, (3, 4)))


def test_the_shape_only_arranges_the_numbers():
    flat = fast_normal(jax.random.key(2), (24,))
    np.testing.assert_array_equal(fast_normal(jax.random.key(2), (2, 3, 4)).ravel(), flat)
    assert fast_normal(jax.random.key(2), ()).shape == ()


@pytest.mark.parametrize("noise", ["fast", "gaussian"])
def test_sghmc_samples_the_same_posterior_with_either(noise):
    """A Gaussian target: variance and fourth moment; the step's own error is known.

    With frozen V = 1, rate r and friction a the stationary variance of N(0, 1 / c) is
    `1 / c / (1 - r c / (4 - 2 a))`.
    """
    sampler = SGHMC(0.2, 0.1, gradient_noise="none", noise=noise)
    curvature = jnp.array([0.5, 1.0, 4.0])

    def chain(key):
        def step(state, key):
            state, _ = sampler.step(key, state, None, lambda p, _: -0.5 * (curvature * p**2).sum())
            return state, (state.position**2, state.position**4)

        keys = jax.random.split(key, 3000)
        _, powers = jax.lax.scan(step, sampler.init(key, jnp.zeros(3)), keys)
        return jnp.stack([p[500:].mean(axis=0) for p in powers])

    moments = jax.jit(jax.vmap(chain))(jax.random.split(jax.random.key(3), 300))
    c = np.asarray(curvature, np.float64)
    variance = 1 / c / (1 - 0.04 * c / 3.8)
    assert_mean(moments, np.stack([variance, 3 * variance**2]))
    assert (np.abs(z_of_mean(moments, 1.1 * np.stack([variance, 3 * variance**2]))) > 4).all()
