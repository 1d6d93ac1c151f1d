"""Classifiers of images."""

import equinox as eqx
import jax
import numpy as np
import pytest

import goodprior
from goodprior import SGHMC, BNNClassifier, BNNRegressor
from goodprior.networks import Conv, Dense, LeNet5
from goodprior.pipeline import Sampled

RNG = np.random.default_rng(0)
Y = np.array(["bright", "dark"] * 12)
X = RNG.integers(0, 100, size=(24, 16, 16, 1)) + 150 * (Y == "bright")[:, None, None, None]
X = X.astype(np.uint8)
SAMPLER = SGHMC(0.02, 0.02, burn_in=20, thinning=10, batch_size=8)
QUICK = {"method": Sampled.by(SAMPLER, start="prior"), "chains": 2, "draws": 2}


class Own(eqx.Module):
    """A convolution, its mean over the image, and a dense layer."""

    conv: Conv
    layer: Dense

    def __init__(self):
        first, second = jax.random.split(jax.random.key(0))
        self.conv, self.layer = Conv(1, 4, 3, key=first), Dense(4, 1, key=second)

    def __call__(self, x):
        return self.layer(jax.nn.relu(self.conv(x)).mean(axis=(0, 1)))


pytestmark = pytest.mark.slow  # networks with convolutions take long to compile


@pytest.fixture(scope="module")
def fitted():
    return BNNClassifier("fg", network="lenet5", random_state=0, **QUICK).fit(X, Y)


def test_bright_and_dark_images_are_told_apart():
    model = BNNClassifier("fg", network=Own(), method="map", random_state=0)
    assert model.fit(X, Y).score(X, Y) == 1


def test_a_network_can_be_named(fitted):
    assert isinstance(fitted.prior_.weights(fitted.prior_.sample(jax.random.key(0))), LeNet5)
    assert fitted.sample_functions(X, n=3).shape == (3, 24, 1)


def test_a_model_of_images_can_be_stored(fitted, tmp_path):
    fitted.save(tmp_path / "model.safetensors")
    again = goodprior.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_a_prior_is_matched_to_the_papers_belief_at_images():
    schedule = goodprior.MatchSchedule(steps=20)
    model = BNNClassifier(network=Own(), match_schedule=schedule, random_state=0)
    assert "standardised images" in repr(model.fit_prior(X).belief_)
    assert len(model.history_.distance) == 20


@pytest.mark.parametrize(
    ("given", "rows", "message"),
    [
        ({"network": "lenet7"}, X, "network must be one of lenet5, preresnet20, vgg16"),
        ({"network": "lenet5"}, X[:, :, 0, 0], r"take images, .* a row of X has the shape \(16,\)"),
        ({}, X, "images need a network: one of lenet5"),
        ({"network": "vgg16"}, X, "at least 32 by 32 pixels"),
        ({"network": "lenet5", "belief": "rough"}, X, "a belief about images must be an object"),
        ({"network": "lenet5"}, X[..., 0], "X must be a table"),
    ],
)
def test_what_does_not_fit_is_refused(given, rows, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        BNNClassifier("fg", **given, **QUICK).fit(rows, Y)


def test_images_of_other_sizes_and_far_away_are_noticed(fitted, as_users_run_it):
    with pytest.raises(ValueError, match=r"images of shape \(20, 16, 1\)|expecting 16 features"):
        fitted.predict(np.zeros((2, 20, 16, 1)))
    with pytest.warns(UserWarning, match="2 of 2 rows lie far outside the training data"):
        fitted.predict(np.full((2, 16, 16, 1), 5000))


def test_there_are_no_pictures_along_columns(fitted):
    with pytest.raises(ValueError, match="these rows are images"):
        fitted.plot_posterior()


def test_a_regressor_takes_images_with_a_belief_of_their_own():
    belief = goodprior.GaussianProcess(goodprior.rbf(20.0))
    settings = {"method": "map", "noise_variance": 0.1, "random_state": 0}
    model = BNNRegressor("fg", network=Own(), belief=belief, **settings)
    brightness = X.mean(axis=(1, 2, 3))
    assert model.fit(X, brightness).score(X, brightness) > 0.9
