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
    keys = jax.random.split(jax.random.key(inputs))
    return jax.random.normal(keys[0], (6, inputs)), jax.random.normal(keys[1], (4, inputs))


def test_every_kernel_has_a_peer():
    assert {*PAIRS, "periodic"} == set(KERNELS)


@pytest.mark.parametrize("inputs", [1, 3])
@pytest.mark.parametrize("name", PAIRS)
def test_kernels_agree_with_scikit_learn(name, inputs):
    ours, theirs = PAIRS[name]
    a, b = _two_sets(inputs)
    scales = np.array(LENGTHSCALES[inputs])
    np.testing.assert_allclose(
        ours(jnp.asarray(scales, jnp.float32), 2.5)(a, b),
        2.5 * theirs(a / scales, b / scales),
        atol=3e-6,
    )
    np.testing.assert_allclose(
        ours(0.8, 1.0)(a, b), theirs(np.asarray(a) / 0.8, np.asarray(b) / 0.8), atol=3e-6
    )


@pytest.mark.parametrize("inputs", [1, 3])
def test_the_periodic_kernel_agrees_with_scikit_learn(inputs):
    a, b = _two_sets(inputs)
    theirs = sk.ExpSineSquared(length_scale=0.8, periodicity=1.7)
    np.testing.assert_allclose(periodic(0.8, 2.5, 1.7)(a, b), 2.5 * theirs(a, b), atol=1e-5)


def test_the_rbf_kernel_has_the_one_half():
    one_lengthscale_apart = rbf(2.0)(jnp.zeros((1, 1)), jnp.full((1, 1), 2.0))
    np.testing.assert_allclose(one_lengthscale_apart, np.exp(-0.5), rtol=1e-6)


def test_kernels_add_and_multiply():
    a, b = _two_sets(1)
    first, second = rbf(0.5, 2.0), periodic(1.0, period=1.3)
    np.testing.assert_allclose((first + second)(a, b), first(a, b) + second(a, b), rtol=1e-6)
    np.testing.assert_allclose((first * second)(a, b), first(a, b) * second(a, b), rtol=1e-6)
