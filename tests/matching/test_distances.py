import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from goodprior.beliefs import GaussianProcess, rbf
from goodprior.matching import (
    KL,
    MMD,
    Energy,
    KLStein,
    Sliced,
    Wasserstein,
    energy_distance,
    squared_mmd,
)
from goodprior.matching.match import DISTANCES
from tests.monte_carlo import assert_mean

RNG = np.random.default_rng(0)
A = RNG.normal(size=(12, 4, 2)).astype(np.float32)
B = (1.5 * RNG.normal(size=(9, 4, 2)) + 0.3).astype(np.float32)


def _mean_over_pairs(a, b, of, *, same=False):
    """The direct double sum; a draw is not paired with itself."""
    terms = [
        of(np.linalg.norm((x.astype(np.float64) - y).ravel()))
        for i, x in enumerate(a)
        for j, y in enumerate(b)
        if not (same and i == j)
    ]
    return np.mean(terms)


def test_the_energy_distance_is_its_double_sum():
    def norm(r):
        return r

    expected = (
        2 * _mean_over_pairs(A, B, norm)
        - _mean_over_pairs(A, A, norm, same=True)
        - _mean_over_pairs(B, B, norm, same=True)
    )
    found = jax.jit(energy_distance)(jnp.asarray(A), jnp.asarray(B))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


_mmd = eqx.filter_jit(squared_mmd)


@pytest.mark.parametrize("lengthscale", [0.8, 3.0])
def test_the_squared_mmd_is_its_double_sum(lengthscale):
    def kernel(r):
        return np.exp(-0.5 * (r / lengthscale) ** 2)

    expected = (
        _mean_over_pairs(A, A, kernel, same=True)
        + _mean_over_pairs(B, B, kernel, same=True)
        - 2 * _mean_over_pairs(A, B, kernel)
    )
    found = _mmd(jnp.asarray(A), jnp.asarray(B), lengthscale)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_without_a_lengthscale_the_median_distance_of_the_target_is_taken():
    pairs = [
        np.linalg.norm((x - y).ravel()) for i, x in enumerate(B) for j, y in enumerate(B) if i != j
    ]
    a, b = jnp.asarray(A), jnp.asarray(B)
    np.testing.assert_allclose(_mmd(a, b), _mmd(a, b, float(np.median(pairs))), atol=1e-6)


@pytest.mark.parametrize("distance", [energy_distance, squared_mmd])
def test_samples_of_one_distribution_are_at_no_distance_on_average(distance):
    x = jax.random.normal(jax.random.key(0), (2000, 2, 10, 3, 1))
    values = jax.jit(jax.vmap(lambda pair: distance(pair[0], pair[1])))(x)
    assert_mean(values, 0.0)


@pytest.mark.parametrize("distance", [energy_distance, squared_mmd])
def test_a_common_offset_does_not_matter(distance):
    a, b, distance = jnp.asarray(A), jnp.asarray(B), jax.jit(distance)
    np.testing.assert_allclose(distance(a + 1e4, b + 1e4), distance(a, b), rtol=0.02)


def test_along_one_line_the_sliced_distance_is_the_wasserstein_distance():
    a, b = A[:9, :1, :1], B[:, :1, :1]
    found = Sliced()(jax.random.key(0), jnp.asarray(a), jnp.asarray(b))
    expected = stats.wasserstein_distance(a.ravel(), b.ravel())
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@eqx.filter_jit
def _fitted(metric, functions, target):
    state = metric.init(jax.random.key(0), functions.shape[1])
    return metric.fit(jax.random.key(1), state, lambda i: (functions, target))


@eqx.filter_jit
def _value(metric, state, functions, target):
    return metric.bind(WHITE)(state, functions, target, APART)


WHITE, APART = GaussianProcess(rbf(0.1)), jnp.arange(3.0)[:, None]  # as TARGET is
FAMILY = {
    "energy": Energy(),
    "kl": KL(),
    "kl-ssge": KLStein(),
    "mmd": MMD(),
    "sliced": Sliced(),
    "wasserstein": Wasserstein(critic_steps=100, width=50),
}
each_distance = pytest.mark.parametrize("metric", FAMILY.values(), ids=FAMILY.keys())
TARGET = jax.random.normal(jax.random.key(2), (100, 3, 1))
FUNCTIONS = jax.random.normal(jax.random.key(3), (100, 3, 1))


def test_the_whole_family_is_tested():
    assert set(FAMILY) == set(DISTANCES)


@each_distance
def test_a_distance_grows_with_what_it_measures(metric):
    near, far, farther = (
        float(_value(metric, _fitted(metric, FUNCTIONS + d, TARGET), FUNCTIONS + d, TARGET))
        for d in (0.0, 1.0, 3.0)
    )
    assert near < 0.5 * far < 0.25 * farther


@each_distance
def test_a_distance_has_a_gradient_that_leads_to_the_target(metric):
    functions = FUNCTIONS + 2.0
    state = _fitted(metric, functions, TARGET)
    value, grad = jax.jit(jax.value_and_grad(lambda f: _value(metric, state, f, TARGET)))(functions)
    assert value.shape == ()
    assert np.isfinite(grad).all()
    assert _value(metric, state, functions - 20 * grad, TARGET) < value


def test_two_equal_draws_have_a_finite_gradient():
    twice = jnp.asarray(np.concatenate([A[:6], A[:6]]))
    grad = jax.jit(jax.grad(energy_distance))
    assert np.isfinite(grad(twice, jnp.asarray(A))).all()
