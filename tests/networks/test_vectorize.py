import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.networks import MLP, LeNet5, vectorize
from goodprior.priors import GaussianPrior, LearnedNoise

DENSE = MLP(1, (2,), 1, key=jax.random.key(0))
IMAGES = LeNet5((16, 16, 1), 2, key=jax.random.key(0))


@pytest.mark.parametrize(
    ("network", "at_once"),
    [
        (DENSE, True),
        (GaussianPrior(DENSE), True),
        (IMAGES, False),
        (GaussianPrior(IMAGES), False),
        (LearnedNoise(GaussianPrior(IMAGES)), False),
        (eqx.nn.Conv2d(1, 1, 3, key=jax.random.key(0)), False),
    ],
)
def test_only_networks_with_convolutions_go_one_by_one(network, at_once):
    assert (vectorize(network) is jax.vmap) == at_once


def test_one_by_one_gives_what_vmap_gives():
    a, b = jnp.arange(6.0).reshape(3, 2), {"b": jnp.arange(3.0), "nothing": None}

    def function(a, b):
        return a * b["b"], a.sum()

    found = vectorize(IMAGES)(function)(a, b)
    for one, other in zip(found, jax.vmap(function)(a, b), strict=True):
        np.testing.assert_array_equal(one, other)
