"""Comparing models on the same folds: what is scored, what is said, and what survives a stop."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from goodprior import BNNClassifier, BNNRegressor, ModelComparison, compare_models
from goodprior.comparison import compare
from goodprior.comparison.references import PROCESS, Process, gaussian, reference_models
from tests.estimators.small import sghmc

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(60, 2))
Y = 100 + 30 * X[:, 0] + RNG.normal(0, 3, 60)
LABELS = np.where(Y > 100, "high", "low")
LINE, MEAN = LinearRegression(), DummyRegressor()
TINY = {"prior": "fg", "hidden": (5,), "chains": 2, "draws": 4, "random_state": 0}
SAMPLER = sghmc(burn_in=20, thinning=5)


def models(**changes):
    return {"line": LINE, "mean": MEAN, **changes}


def test_scores_are_those_of_rows_that_were_not_fitted():
    found = compare_models(X, Y, models(), folds=3, peers=False)
    parts = compare.make_folds(Y, "regression", 3, 0)
    assert sorted(np.concatenate([part.test for part in parts])) == list(range(60))
    for part in parts:
        line = LinearRegression().fit(X[part.train], Y[part.train])
        expected = np.sqrt(np.mean((line.predict(X[part.test]) - Y[part.test]) ** 2))
        row = found.scores.query("model == 'line' and fold == @part.number").iloc[0]
        assert row["rmse"] == pytest.approx(expected, rel=1e-5)
    means = found.scores.query("model == 'line'")
    for score in ("rmse", "nll", "crps", "coverage_95", "seconds"):
        assert found.table.loc["line", score] == pytest.approx(means[score].mean())
    assert 0.85 < found.table.loc["line", "coverage_95"] <= 1
    assert list(found.table.index) == ["line", "mean"]


def test_a_clear_difference_is_said_with_its_interval():
    found = compare_models(X, Y, models(), folds=4, peers=False)
    first, second, *_ = found.recommendation.splitlines()
    assert found.best == "line"
    assert first.startswith("Take line: NLL 2.")
    assert second.startswith("  mean is worse: 1.")
    assert "(95 % interval " in second


def test_what_noise_may_have_done_is_undecided():
    """Two lines, one of which also sees a column of noise."""
    noisy = RNG.normal(size=(60, 1))
    both = np.concatenate([X, noisy], axis=1)

    class First(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X[:, :2], y)

        def predict(self, X):
            return super().predict(X[:, :2])

    pair = {"all": LinearRegression(), "first": First()}
    found = compare_models(both, Y, pair, folds=5, peers=False)
    assert found.recommendation.startswith("Undecided between ")
    difference = found.differences[0]
    assert difference.low < 0 < difference.high
    assert not difference.decided
    assert "quickest" in found.recommendation


@pytest.mark.slow
def test_references_stand_below_and_are_never_recommended():
    curve = np.sin(6 * X[:, 0]) + RNG.normal(0, 0.05, 60)
    found = compare_models(X, curve, {"mean": MEAN}, folds=3)
    assert found.best == "mean"
    assert set(found.table.index[1:]) == {"gp-ard", "boosting"}
    assert "Reference gp-ard, better than mean: NLL " in found.recommendation
    assert "inner cross-validation" in found.notes[1]
    assert found.table.loc["gp-ard", "rmse"] < 0.2


def test_a_reference_on_some_of_the_rows_says_so():
    _, words = reference_models("regression", 4000, 1, 0)[PROCESS]
    assert words.endswith("on 500 of 4000 rows")
    few = Process("regression", 12).fit(X, Y)
    assert len(few.model_[-1].X_train_) == 12
    labels = np.r_[np.zeros(58), np.ones(2)]
    few = Process("classification", 5).fit(X, labels)
    assert few.predict_distribution(X).probabilities.shape == (60, 2)


def test_references_take_text_and_gaps():
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")})
    frame.loc[3, "size"] = np.nan
    for model, _ in reference_models("regression", 60, 2, 0).values():
        both = np.stack([Y, -Y], axis=1)
        assert model.fit(frame, both).predict_distribution(frame).mean.shape == (60, 2)


def test_classes_are_scored_by_log_loss_accuracy_and_calibration():
    pair = {"line": LogisticRegression(), "mean": DummyClassifier()}
    found = compare_models(X, LABELS, pair, folds=3)
    assert list(found.table.columns[:3]) == ["nll", "accuracy", "ece"]
    assert found.table.loc["line", "accuracy"] > 0.8 > found.table.loc["mean", "accuracy"]
    assert "log loss" in found.recommendation
    assert found.task == "classification"


class Restless(RegressorMixin, BaseEstimator):
    """Predicts perfectly, with chains that did not converge."""

    def __init__(self, rhat=1.5, kind="bad"):
        self.rhat, self.kind = rhat, kind

    def fit(self, X, y):
        if self.kind == "fails":
            raise FloatingPointError("a chain left the finite numbers by step 7")
        self.posterior_ = type("Posterior", (), {"is_sampled": True})
        self.diagnostics_ = type("Diagnostics", (), {"summary": {"rhat_max": self.rhat}})
        self.stopped_ = "it was interrupted" if self.kind == "interrupted" else None
        return self

    def predict_distribution(self, X):
        if self.kind == "interrupts":
            raise KeyboardInterrupt
        return gaussian(100 + 30 * np.asarray(X)[:, 0], np.full(len(X), 3.0))


@pytest.mark.parametrize("rhat", [1.5, float("nan")])
def test_chains_that_did_not_converge_are_marked_and_not_recommended(rhat):
    found = compare_models(X, Y, {"mean": MEAN, "bad": Restless(rhat)}, folds=3, peers=False)
    assert found.table.index[0] == "bad"
    assert found.table.loc["bad", "converged"] == "no"
    assert found.table.loc["mean", "converged"] == ""
    assert found.best == "mean"
    assert "bad is not recommended: its chains did not converge" in found.recommendation
    assert "bad (not converged)" in str(
        [label.get_text() for label in found.plot().axes[0].get_yticklabels()]
    )
    alone = compare_models(X, Y, {"bad": Restless(rhat)}, folds=2, peers=False)
    assert alone.recommendation.startswith("Nothing is recommended")


def test_converged_chains_are_said_to_be_and_can_be_recommended():
    found = compare_models(X, Y, {"mean": MEAN, "good": Restless(1.01)}, folds=3, peers=False)
    assert found.table.loc["good", "converged"] == "yes"
    assert found.best == "good"


def test_a_model_that_fails_is_left_out_and_the_others_go_on():
    pair = {"mean": MEAN, "fails": Restless(kind="fails")}
    found = compare_models(X, Y, pair, folds=3, peers=False)
    assert list(found.table.index) == ["mean"]
    assert "fails failed in 3 of 3 folds and is left out: a chain left" in found.recommendation


@pytest.mark.parametrize("kind", ["interrupts", "interrupted"])
def test_a_stop_keeps_what_is_done_and_the_same_call_goes_on(kind, tmp_path, monkeypatch):
    """After Ctrl-C, whether the fit passes it on or ends early with some draws."""
    pair = {"line": LINE, "bad": Restless(kind=kind)}
    found = compare_models(X, Y, pair, folds=3, peers=False, checkpoint=tmp_path)
    assert found.stopped == "it was interrupted"
    assert found.scores[["model", "fold"]].values.tolist() == [["line", 1]]
    assert "bad was not reached" in found.recommendation
    assert "ended early because it was interrupted" in found.recommendation
    calls = []
    score = compare.score_fold
    monkeypatch.setattr(
        compare, "score_fold", lambda *a: calls.append((type(a[0]), a[3].number)) or score(*a)
    )
    pair = {"line": LINE, "bad": Restless(1.0)}
    whole = compare_models(X, Y, pair, folds=3, peers=False, checkpoint=tmp_path)
    assert (LinearRegression, 1) not in calls
    assert len(calls) == 5
    fresh = compare_models(X, Y, pair, folds=3, peers=False)
    drop = ["seconds"]
    pd.testing.assert_frame_equal(whole.scores.drop(columns=drop), fresh.scores.drop(columns=drop))


def test_a_stop_before_the_first_fit_is_a_stop():
    with pytest.raises(KeyboardInterrupt):
        compare_models(X, Y, {"bad": Restless(kind="interrupts")}, folds=3, peers=False)


def test_a_checkpoint_of_other_rows_or_settings_is_not_used(tmp_path):
    compare_models(X, Y, {"line": LINE}, folds=2, peers=False, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="other rows or folds"):
        compare_models(X, Y + 1, {"line": LINE}, folds=2, peers=False, checkpoint=tmp_path)
    flat = LinearRegression(fit_intercept=False)
    other = compare_models(X, Y, {"line": flat}, folds=2, peers=False, checkpoint=tmp_path)
    assert other.table.loc["line", "rmse"] > 50
    (tmp_path / "comparison.json").write_text("[]")
    with pytest.raises(ValueError, match="is no record of a comparison"):
        compare_models(X, Y, {"line": LINE}, folds=2, peers=False, checkpoint=tmp_path)


def test_the_budget_ends_it_and_is_shared(monkeypatch):
    seconds = []
    model = BNNRegressor(**TINY, method=SAMPLER)

    def score(model, X, y, fold, task):
        seconds.append(model.budget)
        compare.time.sleep(0.3)
        return {"nll": 0.0, "seconds": 0.3, "sampled": False}

    monkeypatch.setattr(compare, "score_fold", score)
    pair = {"a": model, "b": model}
    found = compare_models(X, Y, pair, folds=2, peers=False, budget=0.8)
    assert seconds[0] == pytest.approx(0.2, abs=0.01)
    assert seconds[2] == pytest.approx(0.1, abs=0.05)
    assert found.stopped == "its budget of seconds was spent"
    assert len(found.scores) == 3
    assert model.budget is None


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"models": {}}, "models must have one estimator"),
        ({"models": {"a": LINE, "b": LogisticRegression()}}, "all for numbers or all for classes"),
        ({"models": {"gp-ard": LINE}, "peers": True}, "must not be called as the references are"),
        ({"models": {"a": BNNRegressor(chains=0)}}, "a: chains must be a whole number"),
        ({"models": {"a": BNNRegressor(belief="wild")}}, "a: belief must be one of"),
        ({"folds": 1}, "folds must be a whole number of at least 2"),
        ({"folds": 61}, "folds must be at most the number of rows, 60"),
        ({"budget": 0.0}, "budget must be"),
        ({"y": Y[:-1]}, "X and y must have as many rows: 60 and 59"),
        ({"y": np.where(np.arange(60) < 2, "rare", "usual"), "models": {"a": DummyClassifier()}},
         "class rare has 2 rows, fewer than the 3 folds"),
    ],
)  # fmt: skip
def test_wrong_wishes_are_refused_before_any_fit(changes, complaint, monkeypatch):
    monkeypatch.setattr(compare, "score_fold", lambda *_: pytest.fail("it began"))
    given = {"y": Y, "models": models(), "folds": 3, "peers": False, **changes}
    with pytest.raises(ValueError, match=complaint):
        compare_models(X, given.pop("y"), given.pop("models"), **given)


def test_all_of_it_goes_to_json():
    found = compare_models(X, Y, models(bad=Restless()), folds=2, peers=False)
    content = json.loads(json.dumps(found.to_dict(), default=str))
    assert {row["model"] for row in content["table"]} == {"line", "mean", "bad"}
    assert content["best"] == found.best
    assert "converged" in str(found)


def test_intervals_allow_for_folds_that_share_rows():
    scores = pd.DataFrame({"model": ["a"] * 3 + ["b"] * 3, "fold": [1, 2, 3] * 2})
    scores["nll"] = [1.0, 2.0, 3.0, 2.0, 3.5, 4.5]
    difference = compare_difference(scores)
    each = np.array([1.0, 1.5, 1.5])
    half = 4.302653 * each.std(ddof=1) * np.sqrt(1 / 3 + 1 / 2)  # t with 2 degrees at 97.5 %
    assert difference.mean == pytest.approx(each.mean())
    assert difference.high - difference.mean == pytest.approx(half, rel=1e-6)
    one = compare_difference(scores[scores["fold"] == 1])
    assert not one.decided
    assert "one fold says nothing" in str(one)


def compare_difference(scores):
    full = scores.assign(
        problem=None, sampled=False, rhat=None, seconds=1.0, rmse=1.0, crps=1.0, coverage_95=0.95
    )
    names = ("a", "b")
    return ModelComparison(full, "regression", names, (), 3, 60, ()).difference("a", "b")


@pytest.mark.slow
def test_networks_are_compared_with_each_other(monkeypatch):
    monkeypatch.setattr("goodprior.devices.use_all_cores", lambda: None)
    pair = {name: BNNRegressor(**{**TINY, "prior": name}, method=SAMPLER) for name in ("fg", "fh")}
    found = compare_models(X, Y, pair, folds=2, peers=False)
    assert set(found.table["converged"]) <= {"yes", "no"}
    assert found.table["rhat"].notna().all()
    labelled = {"fg": BNNClassifier(**TINY, method=SAMPLER)}
    found = compare_models(X, LABELS, labelled, folds=2, peers=False)
    assert 0.5 < found.table.loc["fg", "accuracy"] <= 1


class Flat(ClassifierMixin, BaseEstimator):
    """Never right about the second class, and sure of it."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile([1.0, 0.0], (len(X), 1))


def test_a_probability_of_nil_has_a_finite_score():
    found = compare_models(X, LABELS, {"flat": Flat()}, folds=2, peers=False)
    assert np.isfinite(found.table.loc["flat", "nll"])
    assert found.table.loc["flat", "nll"] > 5
