"""The methods that do not sample: each predicts, says what it has not, and survives its file."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import goodprior
from goodprior import FBNN, BNNClassifier, BNNRegressor, Ensemble, Laplace
from goodprior.estimators import base
from goodprior.inference import StudentT
from goodprior.networks import MLP
from tests.estimators.small import LABELS, NETWORK, X, Y

COUNTS = {"ensemble": 2, "laplace": 30, "fbnn": 30, "map": 1}  # of function draws
SETTINGS = {  # few epochs: of 60 rows in batches of 32 or, in the ensemble, of 30
    "ensemble": {**NETWORK, "method": Ensemble(members=2, epochs=150)},
    "laplace": {**NETWORK, "method": "laplace", "prior": "fg", "draws": 30},
    "fbnn": {**NETWORK, "method": FBNN(epochs=213), "draws": 30},
    "map": {**NETWORK, "method": "map", "prior": "fg"},
}
METHODS = tuple(SETTINGS)


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fitted():
    models = {}

    def get(method, cls=BNNRegressor):
        if (method, cls) not in models:
            y = Y if cls is BNNRegressor else LABELS
            models[method, cls] = cls(**SETTINGS[method]).fit(X, y)
        return models[method, cls]

    return get


@pytest.mark.parametrize("method", METHODS)
def test_a_regressor_of_each_method_predicts_with_error_bars(fitted, method):
    model = fitted(method)
    mean, std = model.predict(X, return_std=True)
    assert model.score(X, Y) > 0.7
    assert 0.5 < std.mean() < Y.std()  # the noise alone has a deviation of 1
    low, high = model.predict_interval(X, level=0.9)
    assert 0.75 < np.mean((low < Y) & (high > Y)) <= 1
    assert (np.diff(model.predict_quantiles(X), axis=0) > 0).all()
    functions = model.sample_functions(X, n=COUNTS[method])
    assert functions.shape == (COUNTS[method], 60)
    spread = functions.std(axis=0) / COUNTS[method] ** 0.5
    assert (np.abs(functions.mean(axis=0) - mean) < 5 * spread + 1e-3 * Y.std()).all()
    assert model.diagnostics_ is None
    assert model.n_iter_ > 1


@pytest.mark.parametrize(
    "method", [pytest.param("ensemble", marks=pytest.mark.slow), "laplace", "map"]
)
def test_a_classifier_of_each_method_knows_its_labels(fitted, method):
    model = fitted(method, BNNClassifier)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, LABELS) > 0.8
    assert model.sample_functions(X[:5], n=3).shape == (3, 5, 1)


@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_has_not_it_says(fitted, method):
    model = fitted(method)
    with pytest.raises(ValueError, match=f"which samplers have and method {method} has not"):
        model.loo(X, Y)
    with pytest.raises(ValueError, match="nothing to go on with"):
        model.sample_more(1)
    if method == "laplace":
        with pytest.raises(ValueError, match="keeps no draws"):
            model.to_datatree()
    if method in ("ensemble", "fbnn"):
        with pytest.raises(ValueError, match="no prior over weights"):
            model.plot_prior()
    else:
        assert model.plot_prior().axes
    assert model.plot_posterior(X, Y).axes


@pytest.mark.parametrize(
    ("method", "cls"),
    [*((method, BNNRegressor) for method in METHODS), ("laplace", BNNClassifier)],
)
def test_models_come_back_from_their_files_as_they_were(fitted, tmp_path, method, cls):
    model = fitted(method, cls)
    model.save(tmp_path / "model.safetensors")
    again = goodprior.load(tmp_path / "model.safetensors")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.sample_functions(X, 5), model.sample_functions(X, 5))
    assert repr(again.belief_) == repr(model.belief_)
    assert hasattr(again, "prior_") == (method not in ("ensemble", "fbnn"))


@pytest.mark.parametrize("method", ["laplace", "fbnn"])
def test_a_checkpoint_holds_the_whole_result(tmp_path, monkeypatch, method):
    settings = {**SETTINGS[method], "likelihood": "gaussian", "noise_variance": 0.1}
    settings |= {"method": {"laplace": Laplace, "fbnn": FBNN}[method](epochs=5)}
    settings |= {"belief": {"lengthscale": {"column 0": 1.0}}}
    first = BNNRegressor(**settings).fit(X, Y, checkpoint=tmp_path / "run")
    monkeypatch.setattr(type(settings["method"]), "train", None)
    again = BNNRegressor(**settings).fit(X, Y, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(again.predict(X), first.predict(X))


def test_laplace_finds_the_noise_of_a_linear_truth():
    """The evidence's noise is near the usual unbiased estimate of linear regression."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(200, 3))
    y = rows @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=200)
    design = np.c_[rows, np.ones(200)]
    residuals = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    expected = (residuals @ residuals / 196) ** 0.5
    settings = {"prior": "fg", "hidden": (), "method": "laplace", "random_state": 0}
    model = BNNRegressor(**settings).fit(rows, y)
    found = model.posterior_.likelihood.noise_variance**0.5 * y.std()
    assert found == pytest.approx(expected, rel=0.05)
    grads = model.predict(np.eye(3)) - model.predict(np.zeros((3, 3)))
    np.testing.assert_allclose(grads, np.linalg.lstsq(design, y, rcond=None)[0][:3], atol=0.05)
    assert model.prior_.scales == model.posterior_.prior.scales  # it stays as it was believed


def test_rows_count_by_their_weights_in_an_ensemble():
    """Rows of no weight, with nonsense for targets, leave the predictions alone."""
    wrong = np.where(np.arange(60) < 20, Y + 100, Y)
    weights = np.where(np.arange(60) < 20, 0.0, 1.0)
    model = BNNRegressor(**SETTINGS["ensemble"])
    assert model.fit(X, wrong, sample_weight=weights).score(X[20:], Y[20:]) > 0.5
    assert model.fit(X, wrong).score(X[20:], Y[20:]) < 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "laplace", "prior": "gpi-h"}, "Gaussian prior, fg or gpi-g"),
        ({"method": "laplace", "likelihood": "heteroscedastic"}, "same noise everywhere"),
        ({"method": "fbnn", "likelihood": StudentT(0.1)}, "same noise everywhere"),
        ({"method": "fbnn", "belief": "smooth"}, "belief with a density"),
        ({"method": "ensemble", "likelihood": "gaussian"}, "noise_variance"),
    ],
)
def test_what_a_method_cannot_do_is_said_before_any_work(settings, message, nothing_runs):
    with pytest.raises(ValueError, match=message):
        BNNRegressor(**settings).fit(X, Y)


@pytest.fixture
def nothing_runs(monkeypatch):
    """Neither matching nor a method."""
    for name in ("fit_posterior", "fit_prior"):
        monkeypatch.setattr(base, name, lambda *_, **__: pytest.fail("work was begun"))


def test_classes_where_a_method_knows_none(nothing_runs):
    with pytest.raises(ValueError, match="fbnn is for regression"):
        BNNClassifier(**SETTINGS["fbnn"]).fit(X, LABELS)


class Wavy(MLP):
    """A network with a weight outside its layers."""

    shift: jax.Array

    def __init__(self, key):
        super().__init__(3, (4,), 1, key=key)
        self.shift = jnp.zeros(1)

    def __call__(self, x):
        return super().__call__(x) + self.shift


def test_laplace_takes_a_network_of_ones_own():
    model = BNNRegressor(
        **{**SETTINGS["laplace"], "network": Wavy(jax.random.key(0))}, noise_variance=0.1
    ).fit(X, Y)
    assert type(model.posterior_.curvature).__name__ == "Full"
    assert model.score(X, Y) > 0.5
