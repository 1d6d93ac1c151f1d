import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from goodprior.inference import (
    Binary,
    Categorical,
    ClassPrediction,
    Gaussian,
    Heteroscedastic,
    Prediction,
    StudentT,
)

# Name: the likelihood, how many targets, valid targets, a peer for one row's log density.
FAMILY = {
    "gaussian": (
        Gaussian(0.3),
        2,
        [[0.1, -1.0], [0.5, 2.0], [0.0, 0.0]],
        lambda f, y: stats.norm.logpdf(y, f, np.sqrt(0.3)).sum(),
    ),
    "student": (
        StudentT(0.7, 5.0),
        1,
        [0.1, -3.0, 8.0],
        lambda f, y: stats.t.logpdf(y, 5.0, f, 0.7).sum(),
    ),
    "heteroscedastic": (
        Heteroscedastic(0.01),
        2,
        [[0.1, -1.0], [0.5, 2.0], [0.0, 0.0]],
        lambda f, y: stats.norm.logpdf(y, f[:2], np.sqrt(np.exp(f[2:]) + 0.01)).sum(),
    ),
    "heteroscedastic, with tails": (
        Heteroscedastic((0.01, 0.3), degrees=5.0),
        2,
        [[0.1, -1.0], [0.5, 2.0], [0.0, 0.0]],
        lambda f, y: stats.t.logpdf(
            y, 5.0, f[:2], np.sqrt(np.exp(f[2:]) + np.array((0.01, 0.3)))
        ).sum(),
    ),
    "categorical": (
        Categorical(4),
        1,
        [0, 3, 2],
        lambda f, y: np.log(special.softmax(f))[y],
    ),
    "binary": (
        Binary(),
        1,
        [0, 1, 1],
        lambda f, y: np.log(special.expit(f[0]) if y else 1 - special.expit(f[0])),
    ),
}
family = pytest.mark.parametrize(
    ("likelihood", "targets", "y", "peer"), FAMILY.values(), ids=FAMILY.keys()
)


@family
def test_log_prob_agrees_with_scipy(likelihood, targets, y, peer):
    found = likelihood.targets(y)
    outputs = jax.random.normal(jax.random.key(0), (3, likelihood.outputs(targets)))
    expected = [
        peer(np.asarray(f, np.float64), np.asarray(t)) for f, t in zip(outputs, found, strict=True)
    ]
    np.testing.assert_allclose(jax.vmap(likelihood.log_prob)(outputs, found), expected, rtol=2e-5)


@family
def test_log_prob_has_finite_slopes_far_from_the_target(likelihood, targets, y, peer):
    found = likelihood.targets(y)
    outputs = jnp.full((3, likelihood.outputs(targets)), -60.0).at[0].set(60.0)
    grads = jax.vmap(jax.grad(likelihood.log_prob))(outputs, found)
    assert np.isfinite(grads).all()


@family
def test_the_prediction_of_one_draw_has_the_likelihoods_density(likelihood, targets, y, peer):
    found = likelihood.targets(y)
    outputs = jax.random.normal(jax.random.key(1), (3, likelihood.outputs(targets)))
    prediction = likelihood.predict(outputs[None])
    log_prob = prediction.log_prob(found)
    expected = jax.vmap(likelihood.log_prob)(outputs, found)
    if isinstance(prediction, Prediction):
        log_prob = log_prob.sum(axis=1)
    np.testing.assert_allclose(log_prob, expected, rtol=1e-5)


@family
def test_a_prediction_keeps_draws_and_points(likelihood, targets, y, peer):
    functions = jax.random.normal(jax.random.key(2), (7, 5, likelihood.outputs(targets)))
    prediction = likelihood.predict(functions)
    if isinstance(prediction, ClassPrediction):
        assert prediction.probabilities.shape == (5, 4 if likelihood.outputs(1) == 4 else 2)
        np.testing.assert_allclose(prediction.probabilities.sum(axis=1), 1.0, rtol=1e-5)
    else:
        assert prediction.location.shape == (7, 5, targets)
        assert prediction.mean.shape == (5, targets)


def test_class_probabilities_are_softmax_averages():
    functions = np.random.default_rng(0).normal(size=(6, 3, 4))
    found = Categorical(4).predict(jnp.asarray(functions, jnp.float32)).probabilities
    np.testing.assert_allclose(found, special.softmax(functions, axis=-1).mean(axis=0), rtol=1e-5)


def test_binary_probabilities_are_logistic_averages_of_class_one():
    functions = np.random.default_rng(0).normal(size=(6, 3, 1))
    found = Binary().predict(jnp.asarray(functions, jnp.float32)).probabilities
    np.testing.assert_allclose(found[:, 1], special.expit(functions).mean(axis=0)[:, 0], rtol=1e-5)


def test_heteroscedastic_noise_cannot_vanish():
    sure = Heteroscedastic(1e-4).log_prob(jnp.array([0.0, -100.0]), jnp.zeros(1))
    np.testing.assert_allclose(sure, stats.norm.logpdf(0, 0, 1e-2), rtol=1e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "noise_variance must be a finite number above zero, got 0.0"),
        (lambda: Gaussian(-1.0), "got -1.0"),
        (lambda: Gaussian(float("nan")), "got nan"),
        (lambda: StudentT(-0.1), "scale must be a finite number above zero"),
        (lambda: StudentT(1.0, 2.0), "degrees must be above 2"),
        (lambda: StudentT(1.0, float("nan")), "degrees must be above 2"),
        (lambda: Heteroscedastic((0.1, 0.0)), "least_variance must be a finite number above zero"),
        (lambda: Heteroscedastic(0.1, 0.0), "typical_variance must be a finite number above zero"),
        (lambda: Heteroscedastic(0.0), "least_variance must be a finite number above zero"),
        (lambda: Categorical(1), "classes must be a whole number of at least 2, got 1"),
        (lambda: Categorical(3).targets([0, 3]), "from 0 to 2; found values from 0 to 3"),
        (lambda: Categorical(3).targets([0.5, 1]), "y must hold whole numbers"),
        (lambda: Binary().targets([0, 2]), "from 0 to 1"),
        (lambda: Binary().targets(np.zeros((3, 2))), r"vector of labels.*\(3, 2\)"),
        (lambda: Gaussian(1.0).targets([]), "y must be a table"),
        (lambda: Gaussian(1.0).targets([0.0, np.nan]), r"y must be finite.*\(1,\)"),
        (lambda: StudentT(1.0).targets(["a"]), "y must hold numbers only"),
        (lambda: Heteroscedastic().targets(np.zeros((2, 0))), r"\(2, 0\)"),
    ],
)
def test_bad_settings_and_targets_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
