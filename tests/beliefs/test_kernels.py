import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from goodprior.beliefs import (
    KERNELS,
    matern12,
    matern32,
    matern52,
    periodic,
    rational_quadratic,
    rbf,
)

LENGTHSCALES = {1: [0.7], 3: [0.5, 1.0, 3.0]}  # one per input

# Ours, and scikit-learn's of unit lengthscale: the inputs are divided beforehand, which is ARD.
PAIRS = {
    "rbf": (rbf, sk.RBF()),
    "matern12": (matern12, sk.Matern(nu=0.5)),
    "matern32": (matern32, sk.Matern(nu=1.5)),
    "matern52": (matern52, sk.Matern(nu=2.5)),
    "rational_quadratic": (
        lambda *args: rational_quadratic(*args, alpha=0.6),
        sk.RationalQuadratic(alpha=0.6),
    ),
}


def _two_sets(inputs):
    """Some points, and others of which one is among the first."""
    rng = np.random.default_rng(inputs)
    a = rng.normal(size=(6, inputs))
    return a, np.concatenate([rng.normal(size=(3, inputs)), a[:1]])


def _in_double(kernel, a, b):
    """As beliefs use kernels."""
    with jax.enable_x64(True):
        return np.asarray(kernel(jnp.asarray(a), jnp.asarray(b)))


def test_every_kernel_has_a_peer():
    assert {*PAIRS, "periodic"} == set(KERNELS)


@pytest.mark.parametrize("inputs", [1, 3])
@pytest.mark.parametrize("name", PAIRS)
def test_kernels_agree_with_scikit_learn(name, inputs):
    ours, theirs = PAIRS[name]
    a, b = _two_sets(inputs)
    scales = np.array(LENGTHSCALES[inputs])
    found = _in_double(ours(jnp.asarray(scales, jnp.float32), 2.5), a, b)
    np.testing.assert_allclose(found, 2.5 * theirs(a / scales, b / scales), atol=1e-6)
    found = _in_double(ours(0.8, 1.0), a, b)
    np.testing.assert_allclose(found, theirs(a / 0.8, b / 0.8), atol=1e-6)


@pytest.mark.parametrize("inputs", [1, 3])
def test_the_periodic_kernel_agrees_with_scikit_learn(inputs):
    a, b = _two_sets(inputs)
    theirs = sk.ExpSineSquared(length_scale=0.8, periodicity=1.7)
    found = _in_double(periodic(0.8, 2.5, 1.7), a, b)
    np.testing.assert_allclose(found, 2.5 * theirs(a, b), atol=3e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_whole_matrices_pairs_of_points_and_variances_agree(name):
    kernel = KERNELS[name](0.7, 1.3)
    a, b = (jnp.asarray(x, jnp.float32) for x in _two_sets(1))
    pairs = [[kernel.evaluate(x, y) for y in b[:3]] for x in a]
    np.testing.assert_allclose(kernel(a, b[:3]), pairs, atol=1e-5)
    np.testing.assert_allclose(kernel(a), np.full(6, 1.3), rtol=1e-5)


def test_points_far_from_zero_keep_their_distances():
    year = jnp.array([[2024.0], [2024.25], [2025.0]])  # in single precision
    expected = np.exp(-0.5 * (np.asarray(year) - np.asarray(year).T) ** 2)
    np.testing.assert_allclose(rbf(1.0)(year, year), expected, atol=1e-5)


def test_the_rbf_kernel_has_the_one_half():
    one_lengthscale_apart = rbf(2.0)(jnp.zeros((1, 1)), jnp.full((1, 1), 2.0))
    np.testing.assert_allclose(one_lengthscale_apart, np.exp(-0.5), rtol=1e-6)


def test_kernels_add_and_multiply():
    a, b = _two_sets(1)
    first, second = rbf(0.5, 2.0), periodic(1.0, period=1.3)
    one, other = _in_double(first, a, b), _in_double(second, a, b)
    np.testing.assert_allclose(_in_double(first + second, a, b), one + other, atol=1e-6)
    np.testing.assert_allclose(_in_double(first * second, a, b), one * other, atol=1e-6)
