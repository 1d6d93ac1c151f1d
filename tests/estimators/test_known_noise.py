"""`noise_std`: the noise of each row is known, and is not learned."""

import numpy as np
import pytest

import goodprior
from goodprior import MAP, BNNRegressor
from tests.estimators.small import SMALL, sghmc

RNG = np.random.default_rng(1)
X = np.sort(RNG.uniform(-2, 2, size=(40, 1)), axis=0)
TRUTH = 50 + 10 * np.sin(X[:, 0])
NOISE = np.where(np.arange(40) % 2, 0.5, 30.0)
Y = TRUTH + NOISE * RNG.normal(size=40)
TINY = {**SMALL, "prior": "fg", "method": sghmc(burn_in=300, thinning=20)}


def quick():
    return BNNRegressor(prior="fg", hidden=(8,), method=MAP(epochs=2), random_state=0)


@pytest.fixture(scope="module")
def known():
    return BNNRegressor(**TINY).fit(X, Y, noise_std=NOISE)


def test_rows_with_much_noise_count_for_little(known):
    """Half of the rows are off by 30: averaged with the others, they would move the mean by 5."""
    assert np.sqrt(np.mean((known.predict(X) - TRUTH) ** 2)) < 2.5


def test_an_observation_has_the_noise_that_is_said_or_the_usual_one(known):
    usual = np.sqrt(np.mean(NOISE**2))
    function = known.predict_distribution(X).function_std[:, 0]
    std = known.predict(X, return_std=True)[1]
    np.testing.assert_allclose(std, np.sqrt(function**2 + usual**2), rtol=1e-4)
    told = known.predict_distribution(X, noise_std=NOISE)
    np.testing.assert_allclose(told.std[:, 0], np.sqrt(function**2 + NOISE**2), rtol=1e-4)
    np.testing.assert_allclose(np.asarray(told.mean)[:, 0], known.predict(X))
    above = known.predict_probability(X, above=200.0, noise_std=np.full(40, 100.0))
    assert (above > 0.04).all()
    assert (known.predict_probability(X, above=200.0, noise_std=np.full(40, 1.0)) < 1e-6).all()


def test_a_model_file_and_loo_know_of_the_noise(known, tmp_path):
    known.save(tmp_path / "model.safetensors")
    loaded = goodprior.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(
        loaded.predict(X, return_std=True), known.predict(X, return_std=True)
    )
    assert np.isfinite(loaded.loo(X, Y, noise_std=NOISE).elpd)
    with pytest.raises(ValueError, match="the noise of each row is known"):
        loaded.loo(X, Y)


@pytest.mark.parametrize(
    ("settings", "noise", "complaint"),
    [
        ({}, [1.0, 2.0], "noise_std must have a number for each of the 40 rows"),
        ({}, np.where(np.arange(40) == 3, 0.0, 1.0), "row 3 has 0"),
        ({}, ["a"] * 40, "noise_std must hold numbers only"),
        ({"likelihood": "student-t", "noise_variance": 0.1}, NOISE, "leave likelihood and noise_v"),
        ({"method": "laplace", "chains": None, "draws": None}, NOISE, "not for KnownNoise"),
    ],
)
def test_noise_that_makes_no_sense_is_refused(settings, noise, complaint):
    with pytest.raises(ValueError, match=complaint):
        BNNRegressor(**{**TINY, **settings}).fit(X, Y, noise_std=noise)


def test_new_rows_have_no_noise_of_their_own_where_it_was_learned():
    model = quick().fit(X, Y)
    with pytest.raises(ValueError, match="the noise was learned"):
        model.predict_distribution(X, noise_std=NOISE)


def test_a_checkpoint_belongs_to_its_noise(tmp_path):
    model = quick()
    model.fit(X, Y, noise_std=NOISE, checkpoint=tmp_path)
    assert model._noise is None
    with pytest.raises(ValueError, match="a checkpoint of another fit"):
        model.fit(X, Y, noise_std=2 * NOISE, checkpoint=tmp_path)


@pytest.mark.slow
def test_several_targets_have_noise_of_their_own():
    both, noise = np.stack([Y, TRUTH], axis=1), np.stack([NOISE, np.full(40, 0.5)], axis=1)
    model = BNNRegressor(**TINY).fit(X, both, noise_std=noise)
    std = model.predict_distribution(X, noise_std=noise).std
    assert std.shape == (40, 2)
    assert (np.asarray(std)[::2, 0] > 29).all()
    assert (np.asarray(std)[:, 1] < 10).all()
