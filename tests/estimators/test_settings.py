"""What is wrong with settings is said at once and all together; method objects are settings."""

import pickle
import time

import jax
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from goodprior import (
    FBNN,
    MAP,
    NUTS,
    SGHMC,
    Binary,
    BNNClassifier,
    BNNRegressor,
    EarlyStopping,
    Ensemble,
    Gaussian,
    Laplace,
)
from goodprior.estimators import base
from goodprior.pipeline import Sampled
from tests.estimators.small import LABELS, NETWORK, X, Y, sghmc

METHODS = {
    "sghmc": SGHMC(burn_in=10),
    "nuts": NUTS(burn_in=10),
    "sampled": Sampled.by(SGHMC(burn_in=10), start="prior"),
    "laplace": Laplace(epochs=10),
    "ensemble": Ensemble(members=3),
    "fbnn": FBNN(epochs=10),
    "map": MAP(epochs=10),
    "early-stopping": EarlyStopping(epochs=10),
}
each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@pytest.fixture
def nothing_runs(monkeypatch):
    """Neither matching nor a method."""
    for name in ("fit_posterior", "fit_prior"):
        monkeypatch.setattr(base, name, lambda *_, **__: pytest.fail("work was begun"))


def test_all_that_is_wrong_is_said_at_once_and_soon(nothing_runs):
    model = BNNRegressor(chains=0, draws=-1, method="sghmcc", likelihood=Binary())
    started = time.monotonic()
    with pytest.raises(ValueError, match="4 settings are wrong") as found:
        model.fit(X, Y)
    assert time.monotonic() - started < 1
    for words in (
        "chains must be a whole number of at least 1, got 0",
        "draws must be a whole number of at least 1, got -1",
        "got 'sghmcc' (did you mean 'sghmc'?)",
        "likelihood Binary is for classes, not for numbers",
    ):
        assert words in str(found.value)


def test_a_likelihood_that_the_method_cannot_take_is_said_with_the_rest(nothing_runs):
    model = BNNRegressor(method="laplace", likelihood="heteroscedastic", draws=0)
    with pytest.raises(ValueError, match=r"(?s)draws must be .* not for Heteroscedastic"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match=r"fbnn is for regression .*, not for Binary"):
        BNNClassifier(method="fbnn").fit(X, LABELS)


def test_of_one_thing_that_is_wrong_only_that_is_said(nothing_runs):
    with pytest.raises(ValueError, match=r"\Achains must be a whole number of at least 1, got 0\Z"):
        BNNRegressor(chains=0).fit(X, Y)
    with pytest.raises(ValueError, match="one for classes, such as Binary"):
        BNNClassifier(likelihood=Gaussian(0.1)).fit(X, LABELS)


@pytest.mark.parametrize(
    ("method", "settings", "name"),
    [
        ("map", {"chains": 2}, "chains"),
        ("map", {"draws": 2}, "draws"),
        ("map", {"rhat": 1.2}, "rhat"),
        ("ensemble", {"prior": "fg"}, "prior"),
        ("ensemble", {"belief": "rough"}, "belief"),
        ("laplace", {"temperature": 0.5}, "temperature"),
        ("fbnn", {"prior": "fg"}, "prior"),
        ("early-stopping", {"chains": 2}, "chains"),
    ],
)
@pytest.mark.parametrize("as_an_object", [False, True], ids=["name", "object"])
def test_a_setting_that_a_method_does_not_use_is_refused(
    method, settings, name, as_an_object, nothing_runs
):
    given = METHODS[method] if as_an_object else method
    with pytest.raises(ValueError, match=f"method {method} takes no notice of {name}"):
        BNNRegressor(**settings, method=given).fit(X, Y)


@pytest.mark.parametrize("method", ["laplace", "fbnn"])
def test_row_weights_that_a_method_does_not_use_are_refused(method, nothing_runs):
    with pytest.raises(ValueError, match=f"method {method} takes no notice of sample_weight"):
        BNNRegressor(method=method).fit(X, Y, sample_weight=np.ones(60))


def test_unused_settings_are_named_together(nothing_runs):
    with pytest.raises(ValueError, match="3 settings are wrong") as found:
        BNNRegressor(method="map", chains=2, draws=3, ess=5.0).fit(X, Y)
    assert all(f"takes no notice of {name}" in str(found.value) for name in ("chains", "draws"))


@each_method
def test_methods_are_settings_like_any_other(method):
    model = BNNRegressor(method=method)
    assert model.get_params()["method"] is method
    assert clone(model).method == method
    assert BNNRegressor().set_params(method=method).method is method
    again = pickle.loads(pickle.dumps(model))
    assert again.method == method
    assert type(again.method) is type(method)
    assert again.check_settings().name == model.check_settings().name
    assert type(method).__name__ in repr(model)


def test_a_grid_of_methods_is_searched():
    grid = {"method": [MAP(epochs=1), MAP(epochs=200, learning_rate=0.05)]}
    model = BNNRegressor("fg", **NETWORK, noise_variance=0.1)
    search = GridSearchCV(model, grid, cv=2).fit(X, Y)
    assert search.best_params_ == {"method": grid["method"][1]}
    assert search.best_estimator_.n_iter_ == 200


@pytest.mark.slow
@pytest.mark.parametrize("scale", [{}, {"target_mean": 40.0, "target_std": 12.0}])
def test_a_prior_without_targets_has_the_amplitude_that_is_believed(scale):
    belief = {"amplitude": 3.0, "lengthscale": {"column 0": 2.0, "column 1": 50.0}}
    model = BNNRegressor(**NETWORK, belief=belief, likelihood="gaussian").fit_prior(X, **scale)
    inputs = model.scaling_.inputs(X)
    functions = model.prior_.functions(jax.random.key(0), inputs, 1000)
    deviation = np.asarray(functions)[..., 0].std(axis=0) * model.scaling_.y_std
    assert model.scaling_.y_mean == scale.get("target_mean", 0.0)
    assert model.scaling_.y_std == scale.get("target_std", 3.0)
    assert deviation.mean() == pytest.approx(3.0, rel=0.15)


@pytest.mark.slow
def test_a_prior_is_the_same_with_targets_and_with_their_scale():
    settings = {**NETWORK, "belief": {"lengthscale": 1.5, "amplitude": 8.0}}
    fitted = BNNRegressor(**settings, method=MAP(epochs=1)).fit(X, Y)
    alone = BNNRegressor(**settings, method=MAP(epochs=1))
    alone.fit_prior(X, target_mean=Y.mean(), target_std=Y.std())
    assert alone.prior_.function.scales == fitted.prior_.function.scales
    np.testing.assert_array_equal(alone.history_.distance, fitted.history_.distance)


@pytest.mark.slow
def test_chains_and_draws_are_the_methods_own_unless_given():
    method = sghmc(burn_in=5, thinning=1)
    model = BNNRegressor("fg", **NETWORK, method=method).fit(X, Y)
    own = model.check_settings()
    assert (model.posterior_.chains, model.posterior_.draws_per_chain) == (own.chains, own.draws)
    model = BNNRegressor("fg", **NETWORK, method=method, chains=2, draws=3).fit(X, Y)
    assert (model.posterior_.chains, model.posterior_.draws_per_chain) == (2, 3)
