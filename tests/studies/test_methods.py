"""The methods' table: every one on a small problem, and what is tuned on what."""

from dataclasses import replace
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.inference import Prediction
from goodprior.matching import MatchSchedule
from goodprior.priors import FlowPrior, GaussianPrior, GibbsHierarchicalPrior
from goodprior.studies.engine.study import Choice
from goodprior.studies.protocols import data, methods, tables
from goodprior.studies.protocols.method_names import LABELS
from goodprior.studies.protocols.methods import METHODS, fit
from goodprior.studies.protocols.problems import (
    classification_problem,
    distance_of,
    regression_problem,
    schedule_of,
)
from tests.monte_carlo import assert_mean
from tests.studies.small import SMALL, FakePosterior

QUICK = ["map-fg"]
LONG = [
    "early-stopping",
    "ensemble",
    "fbnn",
    "la-ggn",
    "la-marglik",
    "fg+la",
    "gpi-g+la",
    "map-gpi-g",
]


def _settings(method, dataset="boston", **changes):
    choice = Choice("quick", distance="energy")
    settings = tables.table_settings(dataset, method, 1, 0, choice)
    return {**settings, **SMALL, "epochs": 30, **changes}


@pytest.mark.parametrize("method", QUICK + [pytest.param(m, marks=pytest.mark.slow) for m in LONG])
def test_every_baseline_explains_a_line(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = 3.0 + 10.0 * X[:, 0] + 0.5 * rng.normal(size=80)
    settings = _settings(method, burn_in=500, thinning=200)
    fitted = fit(regression_problem(X[:60], y[:60], 0.01, settings), settings)
    prediction = fitted.predict(X[60:])
    assert isinstance(prediction, Prediction)
    error = np.asarray(prediction.mean)[:, 0] - y[60:]
    assert np.sqrt(np.mean(error**2)) < 4.0  # the targets' deviation is about ten
    assert any(name.endswith("seconds") for name in fitted.facts)


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
def test_an_ensemble_tells_classes_apart(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.digitize(X[:, 0], np.linspace(-1, 1, classes + 1)[1:-1])
    settings = _settings("ensemble", "eeg")
    fitted = fit(classification_problem(X[:100], y[:100], classes, settings), settings)
    probabilities = np.asarray(fitted.predict(X[100:]).probabilities)
    assert probabilities.shape == (50, classes)
    assert (probabilities.argmax(1) == y[100:]).mean() > 0.8


@pytest.fixture
def chains(monkeypatch):
    """Splits of 50 rows whose inputs are the split's number, and chains that only take notes.

    What they predict is right for the temperature 0.01 alone.
    """
    asked = []

    def split(dataset, number):
        X = np.full((50, 2), float(number)) + 0.1 * np.arange(50)[:, None]
        return X, X[:, 0], X, X[:, 0]

    def sample(prior, likelihood, X, y, *, temperature, draws, **rest):
        asked.append((len(X), float(np.floor(X.mean() - 2.0)), temperature, draws))
        off = 0.0 if temperature == 0.01 else 3.0

        def predict(X):
            location = jnp.asarray(X[None, :, :1] + off)
            return Prediction(location, jnp.ones_like(location))

        return FakePosterior(predict)

    monkeypatch.setattr(data, "regression_split", split)
    monkeypatch.setattr("goodprior.pipeline.methods.sampled.sample_posterior", sample)
    monkeypatch.setattr(methods, "diagnose", lambda p: SimpleNamespace(summary={}))
    methods._tuned_temperature.cache_clear()
    yield asked
    methods._tuned_temperature.cache_clear()


@pytest.mark.parametrize(
    "make",
    [
        lambda network: GaussianPrior(network, 5.0),
        GibbsHierarchicalPrior,
        lambda network: jax.tree.map(
            lambda leaf: 3 * leaf if eqx.is_inexact_array(leaf) else leaf,
            FlowPrior(network, key=jax.random.key(0)),
        ),
    ],
    ids=["gaussian", "hierarchical", "flow"],
)
def test_chains_start_at_standard_weights_and_biases_of_zero(make, monkeypatch):
    """Whatever the prior (appendix, "Network architectures"); estimators start elsewhere."""
    asked = {}

    def sample(prior, *rows, start, **rest):
        asked.update(start=start)
        return FakePosterior(None)

    monkeypatch.setattr("goodprior.pipeline.methods.sampled.sample_posterior", sample)
    X = np.random.default_rng(0).normal(size=(40, 6))
    settings = _settings("fg", width=100, chains=8)
    problem = regression_problem(X, X[:, 0], 0.1, settings)
    prior = make(problem.build_network())
    methods.sample(replace(problem, prior=prior), settings, jax.random.key(1))
    start = asked["start"]
    assert start.draws_per_chain == 1
    networks = jax.vmap(lambda latent: prior.weights(latent))(
        jax.tree.map(lambda leaf: leaf[:, 0], start.draws)
    )
    for layer in networks.layers:
        np.testing.assert_allclose(layer.bias, 0, atol=2e-5)
        weights = np.asarray(layer.weight, np.float64).reshape(-1, 1)
        assert_mean(weights, 0.0)
        assert_mean(weights**2, 1.0)
        assert len(np.unique(weights)) > 0.99 * weights.size  # chains start apart
    if isinstance(prior, GibbsHierarchicalPrior):
        np.testing.assert_array_equal(start.draws.variances, 1)


def test_rows_made_before_can_be_made_again(monkeypatch):
    """Without `start` in its settings a job starts at draws of the prior."""
    settings = _settings("fg")
    assert settings.pop("start") == "standard"
    assert methods.chains_of(settings).start == "prior"


def test_the_temperature_is_tuned_on_the_training_rows_of_split_0(chains):
    settings = _settings("fg+ts", split=7)
    problem, _, _ = data.problem_and_test(settings)
    fit(problem, settings)
    *tuning, final = chains
    assert [(rows, split, t) for rows, split, t, _ in tuning] == [
        (40, 0.0, t) for t in (0.5, 0.1, 0.01, 0.001, 0.0001)
    ]
    assert {draws for *_, draws in tuning} == {tables.TUNING["quick"]["tuning_draws"]}
    assert final == (50, 7.0, 0.01, SMALL["draws"])


def test_a_worker_tunes_a_set_and_depth_once(chains):
    for split in (1, 2):
        settings = _settings("fg+ts", split=split)
        fit(data.problem_and_test(settings)[0], settings)
    assert len(chains) == 5 + 2
    deeper = _settings("fg+ts", split=2, depth=2)
    fit(data.problem_and_test(deeper)[0], deeper)
    assert len(chains) == 5 + 2 + 6


def test_every_method_has_the_papers_name():
    assert set(METHODS) == set(LABELS) - {"gp"}


def test_what_is_trained_says_for_how_long():
    choice = Choice("paper")
    epochs = {m: tables.table_settings("wine", m, 2, 0, choice).get("epochs") for m in METHODS}
    assert (epochs["ensemble"], epochs["map-fg"], epochs["early-stopping"]) == (50, 150, 150)
    assert {m for m, e in epochs.items() if e is None} == {
        "fg", "fh", "gpi-g", "gpi-h", "gpi-nf", "fg+ts",
    }  # fmt: skip
    assert tables.table_settings("protein", "fbnn", 1, 0, choice)["epochs"] == 15


def test_the_critic_of_studies_starts_anew_as_in_the_published_results():
    critic = distance_of({"distance": "wasserstein"})
    assert critic.restart
    assert distance_of({"distance": "energy"}) == "energy"


def test_settings_of_a_job_change_the_schedule_of_its_distance():
    settings = {"distance": "wasserstein", "match_rate": 0.01, "match_draws": 8}
    found = schedule_of(settings, "wasserstein", steps=7)
    assert found == MatchSchedule.published(learning_rate=0.01, draws=8, steps=7)
    assert schedule_of({**settings, "distance": "mmd"}, "mmd") == MatchSchedule(draws=8)
