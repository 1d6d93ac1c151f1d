"""Posteriors of networks on images."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.data import Scaling
from goodprior.inference import SGHMC, Categorical, sample_posterior
from goodprior.networks import IMAGE_NETWORKS, batch_statistics, with_statistics
from goodprior.priors import GaussianPrior

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, size=(12, 8, 8, 1)).round()
LARGER = RNG.uniform(0, 255, size=(12, 16, 16, 1)).round()
LABELS = np.arange(12) % 3


def _posterior(name, images):
    prior = GaussianPrior(IMAGE_NETWORKS[name](images.shape[1:], 3, key=jax.random.key(0)))
    return sample_posterior(
        prior, Categorical(3), images, LABELS, scaling=Scaling.fit(images), key=jax.random.key(1),
        sampler=SGHMC(burn_in=0, thinning=2, batch_size=None), chains=2, draws=1,
    )  # fmt: skip


pytestmark = pytest.mark.slow  # a residual network takes long to compile


@pytest.fixture(scope="module")
def residual():
    return _posterior("preresnet20", IMAGES)


def test_a_prediction_does_not_depend_on_the_other_rows_of_its_batch(residual):
    together = residual.functions(IMAGES)
    alone = residual.functions(IMAGES[3:4])
    others = residual.functions(np.concatenate([IMAGES[3:4], 255 - IMAGES]))
    np.testing.assert_allclose(alone[:, 0], together[:, 3], atol=1e-5)
    np.testing.assert_allclose(others[:, 0], together[:, 3], atol=1e-5)


def test_predictions_use_the_statistics_of_training_rows(residual):
    scaled = jnp.asarray((IMAGES - IMAGES.mean()) / IMAGES.std(), jnp.float32)
    np.testing.assert_allclose(residual.reference, scaled, atol=1e-5)
    last = jax.tree.map(lambda leaf: leaf[-1, -1], residual.draws)
    network = residual.prior.weights(last)
    fixed = jax.jit(lambda x: with_statistics(network, batch_statistics(network, scaled))(x))
    expected = fixed(scaled[5])
    np.testing.assert_allclose(residual.functions(IMAGES)[-1, 5], expected, atol=1e-4)


def test_a_network_without_such_layers_keeps_no_rows():
    posterior = _posterior("lenet5", LARGER)
    assert posterior.reference is None
    assert posterior.predict(LARGER).probabilities.shape == (12, 3)
    assert posterior.probe.shape == (2, 1, 36)


def test_images_that_do_not_fit_are_refused(residual, as_users_run_it):
    with pytest.raises(ValueError, match=r"X must have 1 columns, as in training"):
        residual.functions(np.zeros((2, 8, 8, 3)))
    prior = GaussianPrior(IMAGE_NETWORKS["lenet5"]((16, 16, 3), 3, key=jax.random.key(0)))
    with pytest.raises(ValueError, match=r"images of shape \(16, 16, 1\)"):
        sample_posterior(prior, Categorical(3), LARGER, LABELS, key=jax.random.key(0))
