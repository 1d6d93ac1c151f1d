"""Matching for networks on images."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import GaussianProcess, HierarchicalGP, Near, Rows, rbf
from goodprior.matching import KL, Energy, Wasserstein, match
from goodprior.networks import Conv, LeNet5
from goodprior.priors import GaussianPrior

IMAGES = jax.random.normal(jax.random.key(0), (40, 16, 16, 1))
FLAT = IMAGES.reshape(40, -1)
PRIOR = GaussianPrior(LeNet5((16, 16, 1), 3, key=jax.random.key(1)))


def test_a_belief_sees_images_as_rows_of_pixels():
    for belief in (GaussianProcess(rbf(20.0), outputs=2), HierarchicalGP.images(2)):
        images = belief.sample(jax.random.key(2), IMAGES[:6], 4)
        np.testing.assert_array_equal(images, belief.sample(jax.random.key(2), FLAT[:6], 4))


@pytest.mark.slow
def test_points_are_images():
    points = Rows(IMAGES, size=5).sample(jax.random.key(3))
    assert points.shape == (5, 16, 16, 1)
    among = (points[:, None] == IMAGES).all(axis=(2, 3, 4)).any(axis=1)
    assert bool(among.all())
    near = Near(Rows(IMAGES, size=40), size=3).sample(jax.random.key(4))
    distances = jnp.linalg.norm((IMAGES - near[0]).reshape(40, -1), axis=1)
    expected = IMAGES[jnp.argsort(distances)[:3]]
    np.testing.assert_array_equal(near, expected)


@pytest.mark.slow
@pytest.mark.parametrize("distance", [Energy(), Wasserstein()], ids=str)
def test_a_convolutional_prior_comes_nearer_to_the_belief(distance):
    belief = GaussianProcess(rbf(20.0, 8.0), outputs=3)
    schedule = replace(distance.default_schedule, steps=10, draws=8)
    how = {"distance": distance, "schedule": schedule, "held_out": 64}
    found = match(PRIOR, belief, Rows(IMAGES, 6), key=jax.random.key(5), **how)
    assert found.history.after.energy_distance < found.history.before.energy_distance


@pytest.mark.slow
def test_kl_sees_images_as_rows_of_pixels():
    metric = KL().bind(GaussianProcess(rbf(20.0)))
    functions = jax.random.normal(jax.random.key(6), (3, 6, 1))
    images, flat = (metric.cross_entropy(functions, x) for x in (IMAGES[:6], FLAT[:6]))
    np.testing.assert_array_equal(images, flat)


@pytest.mark.slow
def test_the_memory_of_a_gradient_does_not_grow_with_the_draws():
    class Brightness(eqx.Module):
        conv: Conv

        def __call__(self, x):
            return jnp.tanh(self.conv(x)).mean(axis=(0, 1))

    prior = GaussianPrior(Brightness(Conv(1, 20, 3, key=jax.random.key(0))))

    def needed(draws):
        def spread(prior):
            return prior.functions(jax.random.key(0), IMAGES[:4], draws).std()

        compiled = eqx.filter_jit(eqx.filter_grad(spread)).lower(prior).compile()
        return compiled.compiled.memory_analysis().temp_size_in_bytes

    assert needed(40) < 1.5 * needed(4)


@pytest.mark.slow
def test_points_that_do_not_fit_are_refused(as_users_run_it):
    belief = HierarchicalGP.images(3)
    with pytest.raises(ValueError, match=r"the shape of images, \(16, 16, 2\)"):
        match(PRIOR, belief, Rows(jnp.zeros((9, 16, 16, 2)), 4), key=jax.random.key(0))
