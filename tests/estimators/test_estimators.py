import pickle
import warnings

import jax
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from goodprior import MAP, NUTS, BNNClassifier, BNNRegressor
from goodprior.inference import Gaussian
from goodprior.networks import MLP
from goodprior.pipeline import Sampled
from goodprior.priors import (
    GibbsHierarchicalPrior,
    MarginalHierarchicalPrior,
    NoncentredHierarchicalPrior,
)
from tests.estimators.small import LABELS, NETWORK, SMALL, X, Y, sghmc


@pytest.fixture(scope="module")
def regressor():
    frame = pd.DataFrame(X, columns=["wave", "grad", "nothing"])
    return BNNRegressor(**SMALL).fit(frame, Y)


@pytest.fixture(scope="module")
def classifier():
    return BNNClassifier(**SMALL).fit(X, LABELS)


def frame_of(rows):
    return pd.DataFrame(rows, columns=["wave", "grad", "nothing"])


def test_the_regressor_predicts_with_honest_error_bars(regressor):
    mean, std = regressor.predict(frame_of(X), return_std=True)
    assert mean.shape == std.shape == (60,)
    assert np.sqrt(np.mean((mean - Y) ** 2)) < 0.5 * Y.std()
    low, high = regressor.predict_interval(frame_of(X), level=0.9)
    assert 0.75 < np.mean((low < Y) & (high > Y)) <= 1
    quantiles = regressor.predict_quantiles(frame_of(X), [0.1, 0.5, 0.9])
    assert quantiles.shape == (3, 60)
    assert (np.diff(quantiles, axis=0) > 0).all()
    inner, outer = regressor.predict_interval(frame_of(X), of="function")
    assert (outer - inner < high - low).mean() > 0.9
    assert regressor.score(frame_of(X), Y) > 0.7


def test_all_figures_of_a_prediction_are_of_one_distribution(regressor):
    rows = frame_of(X)
    distribution = regressor.predict_distribution(rows)
    mean, std = regressor.predict(rows, return_std=True)
    np.testing.assert_allclose(np.asarray(distribution.mean)[:, 0], mean)
    np.testing.assert_allclose(np.asarray(distribution.std)[:, 0], std)
    low, high = regressor.predict_interval(rows, 0.9)
    np.testing.assert_allclose(regressor.predict_quantiles(rows, [0.05, 0.95]), [low, high])
    above = [regressor.predict_probability(rows[i : i + 1], above=float(high[i])) for i in range(5)]
    np.testing.assert_allclose(above, 0.05, atol=1e-3)
    share = regressor.predict_probability(rows, above=50.0, of="function")
    draws = regressor.sample_functions(rows, n=30)  # all there are
    np.testing.assert_allclose(share, (draws > 50).mean(axis=0))
    with pytest.raises(ValueError, match="say which event is meant"):
        regressor.predict_probability(rows)


def test_the_distribution_of_a_classifier_has_its_probabilities(classifier):
    found = classifier.predict_distribution(X)
    np.testing.assert_allclose(found.probabilities, classifier.predict_proba(X), atol=1e-6)


def test_function_draws_have_the_mean_that_is_predicted(regressor):
    functions = regressor.sample_functions(frame_of(X), n=30)
    assert functions.shape == (30, 60)
    np.testing.assert_allclose(
        functions.mean(axis=0), regressor.predict(frame_of(X)), rtol=1e-4
    )  # all draws there are
    assert regressor.sample_functions(frame_of(X), n=50).shape == (50, 60)


def test_the_belief_is_said_in_a_sentence(regressor):
    assert "Smooth functions" in repr(regressor.belief_)
    assert f"{1.05 * Y.std():.3g}" in repr(regressor.belief_)


@pytest.mark.slow
def test_sampling_more_gives_the_draws_of_a_longer_fit(regressor):
    longer = BNNRegressor(**{**SMALL, "draws": 17}).fit(frame_of(X), Y)
    more = BNNRegressor(**SMALL).fit(frame_of(X), Y).sample_more(2)
    for one, other in zip(
        jax.tree.leaves(longer.posterior_.draws),
        jax.tree.leaves(more.posterior_.draws),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_far_away_rows_are_warned_about(regressor):
    away = frame_of([[0.0, 50.0, 7.0], [0.0, 900.0, 7.0]])
    with pytest.warns(UserWarning, match=r"1 of 2 rows .* grad"):
        regressor.predict(away)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regressor.predict(away[:1])


@pytest.mark.slow
def test_leaving_one_out_agrees_with_the_log_density_of_kept_rows():
    """With a known answer: for a linear truth PSIS-LOO is near ridge regression's own errors."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(80, 2))
    y = rows @ [1.0, -2.0] + 0.5 * rng.normal(size=80)
    model = BNNRegressor(**{**SMALL, "draws": 40}, likelihood="gaussian").fit(rows, y)
    errors = []
    for i in range(80):
        keep = np.arange(80) != i
        ridge = Ridge(1e-3).fit(rows[keep], y[keep])
        errors.append(y[i] - ridge.predict(rows[[i]])[0])
    exact = -0.5 * np.log(2 * np.pi * 0.25) * 80 - 0.5 * np.sum(np.square(errors)) / 0.25
    found = model.loo(rows, y)
    # The line knows the form and the noise; what the network has to learn beside costs it some.
    assert 0 < exact - found.elpd < found.p_loo / 2


def test_the_classifier_knows_its_labels(classifier):
    probabilities = classifier.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert classifier.classes_.tolist() == ["high", "low"]
    assert set(classifier.predict(X)) <= {"high", "low"}
    assert classifier.score(X, LABELS) > 0.8
    unsure = classifier.predict_uncertainty(X)
    assert (unsure["epistemic"] <= unsure["entropy"] + 1e-6).all()
    right = probabilities[np.arange(60), (LABELS == "low").astype(int)]
    shares = [np.mean(label == LABELS) for label in classifier.classes_]
    found = classifier.loo(X, LABELS)
    assert 60 * np.dot(shares, np.log(shares)) < found.elpd < np.log(right).sum()
    assert np.log(right).sum() - found.elpd == pytest.approx(found.p_loo, rel=0.1)
    with pytest.raises(ValueError, match="labels"):
        classifier.loo(X[:2], ["high", "middle"])


@pytest.mark.slow
def test_a_matched_prior_is_used_again_without_matching(regressor):
    again = BNNRegressor(**{**SMALL, "prior": regressor.prior_})
    again.fit(X, Y)
    assert not hasattr(again, "history_")
    assert again.prior_ is again.prior
    scores = cross_val_score(clone(again), X, Y, cv=2)
    assert len(scores) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "form"),
    [(SMALL, NoncentredHierarchicalPrior), ({"method": MAP()}, MarginalHierarchicalPrior)],
)
def test_a_hierarchical_prior_takes_the_form_that_the_method_needs(settings, form):
    given = GibbsHierarchicalPrior(MLP(3, (4,), 1, key=jax.random.key(0)), 2.0, 1.5)
    settings = {**NETWORK, **settings, "prior": given, "noise_variance": 0.1}
    model = BNNRegressor(**settings).fit(X, Y)
    assert type(model.prior_) is form
    np.testing.assert_array_equal(model.prior_.shapes, given.shapes)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.slow
def test_a_prior_can_be_fitted_without_targets():
    model = BNNRegressor(**SMALL).fit_prior(X)
    assert model.prior_.function.scales
    assert model.history_.distance[-1] < model.history_.distance[0]


@pytest.mark.slow
def test_it_works_in_a_pipeline_and_with_several_targets():
    both = np.column_stack([Y, -Y])
    model = make_pipeline(StandardScaler(), BNNRegressor(**SMALL)).fit(X, both)
    assert model.predict(X).shape == (60, 2)
    _, std = model.predict(X, return_std=True)
    assert std.shape == (60, 2)


SHORT = {"method": sghmc(thinning=10), "chains": 2, "draws": 15}


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {**SHORT, "likelihood": "gaussian"},
        {**SHORT, "likelihood": "gaussian", "noise_variance": 0.1},
        {**SHORT, "likelihood": "student-t", "noise_variance": 0.1},
        {
            **SHORT,
            "likelihood": Gaussian(0.1),
            "prior": "fh",
            "method": NUTS(burn_in=20, thinning=10),
            "draws": 4,
        },
        {"method": "map"},
        {
            **SHORT,
            "network": MLP(3, (4,), 2, key=jax.random.key(5)),
            "prior": "fg",
            "method": Sampled.by(sghmc(thinning=10), start="prior"),
        },
    ],
    ids=str,
)
def test_other_settings_fit_as_well(settings):
    model = BNNRegressor(**{**NETWORK, **settings}).fit(X, Y)
    assert model.score(X, Y) > 0
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


@pytest.mark.slow
def test_weights_count_rows_in_distribution():
    """A row of weight two acts like two rows: the predictive mean agrees within its error."""
    rows, y = X[:30, :2], Y[:30]
    weights = 1.0 + np.arange(30) % 2
    twice = np.repeat(np.arange(30), weights.astype(int))
    settings = {**SMALL, "prior": "fg", "likelihood": "gaussian", "draws": 60}
    one = BNNRegressor(**settings).fit(rows, y, sample_weight=weights)
    other = BNNRegressor(**settings).fit(rows[twice], y[twice])
    unweighted = BNNRegressor(**settings).fit(rows, y)
    spread = one.sample_functions(rows, 120).std(axis=0)
    apart = np.abs(one.predict(rows) - other.predict(rows)) / spread
    assert apart.mean() < 0.35
    assert np.abs(unweighted.predict(rows) - other.predict(rows)).mean() > 0


def _halved(rows):
    """A step of 0.02, and shorter ones where it is too long."""
    return tuple(sghmc(step_size=0.02 / by, burn_in=500, thinning=100) for by in (1, 2, 4, 8))


@pytest.mark.slow
def test_a_step_that_throws_chains_about_is_shortened():
    """Rows without noise, as simulations give them: as the learned noise falls, a step that was
    right becomes too long, and chains are flung to where the noise is a million and more."""
    rows = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    y = np.sin(3 * rows[:, 0]) * np.cos(2 * rows[:, 1])
    brief = {"hidden": (20, 20), "chains": 4, "draws": 10}
    settings = {**brief, "prior": "fg", "likelihood": "gaussian", "random_state": 0}
    fixed = BNNRegressor(**settings, method=_halved(0)[0]).fit(rows, y)
    assert any("kinetic temperature reached" in text for text in fixed.diagnostics_.warnings)
    own = BNNRegressor(**settings, method=Sampled(_halved)).fit(rows, y)
    assert own.posterior_.report.step_size < 0.02
    assert not any("kinetic temperature reached" in text for text in own.diagnostics_.warnings)
    assert own.predict(rows, return_std=True)[1].mean() < 0.2  # targets have a deviation of 0.6


@pytest.mark.slow
def test_a_budget_ends_the_run_with_what_there_is():
    with pytest.warns(UserWarning, match="budget"):
        model = BNNRegressor(**{**SMALL, "draws": 10_000}, budget=1.0).fit(X, Y)
    assert 1 <= model.posterior_.draws_per_chain < 10_000


@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (np.full((5, 2), np.nan), np.zeros(5), "NaN"),
        (np.full((5, 2), np.inf), np.zeros(5), "infinity"),
        (np.zeros((1, 2)), np.zeros(1), "minimum of 2"),
        (np.zeros((0, 2)), np.zeros(0), "0 sample"),
        (np.zeros((5, 2)), np.zeros(4), "inconsistent"),
        (np.full((5, 2), 1e300), np.arange(5.0), "X"),
        (np.array([["a", "b"]] * 5, object), np.arange(5.0), "convert"),
    ],
)
def test_bad_tables_meet_a_clear_error(rows, y, message):
    with pytest.raises(ValueError, match=message):
        BNNRegressor(**SMALL).fit(rows, y)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["red", "blue", "red", "blue"], r"text or dates in colour \('red'\).*encode=\"auto\""),
        ([1.0, np.nan, np.nan, 2.0], r"NaN in colour \(2 of 4\).*encode=\"impute\""),
        (pd.array([1, None, 2, 3], dtype="Int64"), r"NaN in colour \(1 of 4\)"),
        (pd.date_range("2024-01-01", periods=4), "text or dates in colour"),
    ],
)
def test_bad_columns_of_a_frame_are_named(column, message):
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": column})
    with pytest.raises(ValueError, match=message):
        BNNRegressor(**SMALL, encode=False).fit(frame, np.arange(4.0))


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["fg", "gpi-g"])
def test_ten_thousand_columns_fit(prior):
    """More columns than rows by far: matching, chains and the far-away check all cope."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 10_000))
    tiny = {
        "prior": prior,
        "hidden": (3,),
        "draws": 4,
        "method": Sampled.by(sghmc(burn_in=10, thinning=10), start="prior"),
    }
    model = BNNRegressor(**{**SMALL, **tiny}).fit(rows, rows[:, 0])
    mean, std = model.predict(rows[:5], return_std=True)
    assert np.isfinite(mean).all()
    assert (std > 0).all()


def test_arviz_reads_the_draws_and_agrees_on_leaving_one_out(regressor):
    pytest.importorskip("xarray")
    tree = regressor.to_datatree()
    np.testing.assert_array_equal(tree["observed_data"]["y"], Y)
    assert tree["posterior"]["function.layers.0.weight"].shape == (2, 15, 8, 3)
    arviz_stats = pytest.importorskip("arviz_stats")
    pytest.importorskip("arviz_base")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says as well that some Pareto k are high
        expected = arviz_stats.loo(tree, reff=1.0)
    found = regressor.loo(frame_of(X), Y)
    assert found.elpd == pytest.approx(expected.elpd, rel=1e-6)
    assert found.se == pytest.approx(expected.se, rel=1e-6)


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match="only one class"):
        BNNClassifier(**SMALL).fit(X, np.full(60, "same"))


def test_settings_stand_in_the_signature_and_only_where_they_belong():
    with pytest.raises(TypeError, match="noise_variance"):
        BNNClassifier(noise_variance=0.1)
    with pytest.raises(TypeError, match="positional"):
        BNNRegressor("fg", "smooth")
    model = BNNRegressor("fg", noise_variance=0.1, hidden=(3,))
    assert repr(model) == "BNNRegressor(hidden=(3,), noise_variance=0.1, prior='fg')"
    assert clone(model).get_params() == model.get_params()
    assert BNNRegressor(method="nuts").chains is None  # the method's own
    assert set(model.get_params()) - set(BNNClassifier().get_params()) == {"noise_variance"}
    assert model != clone(model)
    assert len({model, clone(model)}) == 2  # they can be members of sets, as any estimator


def test_other_columns_at_prediction_are_refused(regressor):
    with pytest.raises(ValueError, match="feature names"):
        regressor.predict(frame_of(X).rename(columns={"wave": "tide"}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "magic"}, "method"),
        ({"prior": "gpi-x"}, "prior"),
        ({"likelihood": "heteroscedastic", "noise_variance": 0.1}, "noise_variance"),
        ({"likelihood": "heteroscedastic-t", "noise_variance": 0.1}, "noise_variance"),
        ({"noise_variance": -1.0}, "noise_variance"),
        ({"belief": "strange"}, "belief"),
        ({"prior": "gpi-g", "distance": "nonsense"}, "distance"),
        ({"method": sghmc(batch_size=61)}, "batch_size is 61, but there are only 60 rows"),
    ],
)
def test_bad_settings_meet_a_clear_error(settings, message):
    with pytest.raises(ValueError, match=message):
        BNNRegressor(**{**SMALL, **settings}).fit(X, Y)


@pytest.mark.slow
def test_pictures_of_prior_and_posterior(regressor, classifier, tmp_path):
    for i, figure in enumerate(
        (
            regressor.plot_prior(),
            regressor.plot_posterior(frame_of(X), Y),
            classifier.plot_posterior(),
        )
    ):
        figure.savefig(tmp_path / f"{i}.png")
        assert (tmp_path / f"{i}.png").stat().st_size > 10_000
    assert [axis.get_xlabel() for axis in regressor.plot_posterior().axes[:2]] == ["wave", "grad"]


TABLE = {"lengthscale": {"column 0": 0.5, "column 1": 200.0}, "amplitude": 30.0}


@pytest.mark.slow
@pytest.mark.parametrize("targets", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_draws_of_prior_and_belief_are_in_the_units_of_the_targets(targets):
    y = Y if targets == 1 else np.stack([Y, 10 * Y, 100 - Y], axis=1)
    model = BNNRegressor(belief=TABLE, method="map", random_state=0).fit(X, y)
    for draw in (model.sample_prior, model.sample_belief):
        values = draw(X, 1500)
        assert values.shape == ((1500, 60) if targets == 1 else (1500, 60, 3))
        spread = (values - y.mean(axis=0)).std(axis=(0, 1))
        np.testing.assert_allclose(spread, 30.0, rtol=0.1)


@pytest.mark.slow
def test_a_matched_prior_has_a_report_and_says_it_in_the_picture():
    model = BNNRegressor(belief=TABLE, random_state=0).fit_prior(X)
    report = model.match_report_
    assert [column.name for column in report.columns] == ["column 0", "column 1"]
    assert report.warnings == ()
    assert model.match_report_ is report
    figure = model.plot_prior()
    assert figure.get_suptitle() == str(report)
    assert not hasattr(pickle.loads(pickle.dumps(BNNRegressor().fit_prior(X))), "match_report_")


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 10.0])
def test_fit_prior_has_the_amplitude_that_was_asked_for(amplitude):
    model = BNNRegressor(belief={**TABLE, "amplitude": amplitude}, random_state=0).fit_prior(X)
    assert model.sample_prior(X, 1500).std() == pytest.approx(amplitude, rel=0.1)


@pytest.mark.slow
def test_targets_have_the_amplitudes_that_were_asked_for_by_fit_and_fit_prior():
    y = np.stack([Y, 10 * Y, 100 - Y], axis=1)
    asked = np.array([0.1, 1.0, 10.0]) * y.std(axis=0)
    model = BNNRegressor(belief={**TABLE, "amplitude": asked.tolist()}, method="map")
    fitted, alone = clone(model).fit(X, y), clone(model).fit_prior(X)
    scaled = clone(model).fit_prior(X, target_mean=y.mean(axis=0), target_std=y.std(axis=0))
    for model, mean in ((fitted, y.mean(axis=0)), (alone, 0.0), (scaled, y.mean(axis=0))):
        values = model.sample_prior(X, 4000, random_state=0)
        np.testing.assert_allclose(np.sqrt(np.mean((values - mean) ** 2, (0, 1))), asked, rtol=0.1)


@pytest.mark.slow
def test_a_belief_can_be_fitted_to_the_rows():
    model = BNNRegressor(belief="fit", method="map", random_state=0).fit(X, Y)
    assert str(model.belief_).startswith("Fitted to 60 rows, so that it has seen the targets: ")
    assert np.corrcoef(model.predict(X), Y)[0, 1] > 0.95
    with pytest.raises(ValueError, match="fit_prior, which sees no targets"):
        BNNRegressor(belief="fit").fit_prior(X)
    with pytest.raises(ValueError, match="classifiers"):
        BNNClassifier(belief="fit").fit(X, LABELS)
