"""Partial dependence and relevance of fitted estimators."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence

from goodprior import BNNClassifier, BNNRegressor
from tests.estimators.small import LABELS, SMALL, X, Y

NAMES = ["wave", "grad", "nothing"]
FRAME = pd.DataFrame(X, columns=NAMES)
FIXED = {**SMALL, "prior": "fg"}


@pytest.fixture(scope="module")
def regressor():
    return BNNRegressor(**FIXED).fit(FRAME, Y)


@pytest.fixture(scope="module")
def classifier():
    return BNNClassifier(**FIXED).fit(X, LABELS)


def of_scikit_learn(model, rows, column):
    """Its averages over a grid of ten points."""
    found = partial_dependence(
        model, rows, [column], percentiles=(0, 1), grid_resolution=10, method="brute"
    )
    return found["grid_values"][0], found["average"][0]


def test_the_mean_is_scikit_learns_partial_dependence(regressor):
    found = regressor.partial_dependence(FRAME, "wave", points=10)
    grid, average = of_scikit_learn(regressor, FRAME, "wave")
    np.testing.assert_allclose(found.grid, grid)
    np.testing.assert_allclose(found.mean, average, rtol=1e-4)
    assert found.column == "wave"


def test_a_class_has_the_mean_of_its_probability(classifier):
    found = classifier.partial_dependence(X, 0, target="high", points=10)
    _, of_low = of_scikit_learn(classifier, X, 0)  # scikit-learn takes the second class
    np.testing.assert_allclose(found.mean, 1 - of_low, atol=1e-4)
    second = classifier.partial_dependence(X, 0, points=10)
    np.testing.assert_allclose(second.mean, of_low, atol=1e-4)
    assert (found.target, second.target) == ("high", "low")
    assert (found.lower >= 0).all()
    assert (found.upper <= 1).all()


def test_the_band_is_of_the_function_and_grows_with_its_level(regressor):
    wide = regressor.partial_dependence(FRAME, "wave", points=5, level=0.95)
    narrow = regressor.partial_dependence(FRAME, "wave", points=5, level=0.5)
    assert (wide.lower < narrow.lower).all()
    assert (wide.upper > narrow.upper).all()
    draws = np.stack(
        [
            regressor.sample_functions(FRAME.assign(wave=value), n=30).mean(axis=1)
            for value in wide.grid
        ],
        axis=1,
    )  # all draws there are
    np.testing.assert_allclose(np.quantile(draws, 0.975, axis=0), wide.upper, rtol=1e-4)


def test_few_different_values_are_their_own_grid(regressor):
    assert regressor.partial_dependence(FRAME, "nothing").grid.tolist() == [7.0]


def test_of_many_rows_some_are_used_and_the_answer_is_nearly_the_same(regressor):
    many = pd.concat([FRAME] * 20, ignore_index=True)
    few = regressor.partial_dependence(FRAME, "wave", points=5)
    more = regressor.partial_dependence(many, "wave", points=5)
    np.testing.assert_allclose(few.mean, more.mean, atol=0.2)


def test_the_irrelevant_column_is_last_and_said_to_be_so(regressor, classifier):
    found = regressor.relevance(FRAME)
    assert found[0].column == "wave"
    assert str(found[-1]) == "functions hardly vary with nothing: 0.0 % of their variance"
    assert found[0].share_lower <= found[0].share <= found[0].share_upper
    assert classifier.relevance(X)[-1].noun == "logits"


def test_columns_can_be_relevant_together(regressor):
    both = regressor.relevance(FRAME, groups={"both": ["wave", "grad"]})
    assert [each.column for each in both] == ["both", "nothing"]


def test_the_picture_has_an_axis_for_each_column(regressor, classifier, tmp_path):
    figure = regressor.plot_partial_dependence(FRAME)
    assert [axis.get_xlabel() for axis in figure.axes] == ["wave", "grad"]
    figure = classifier.plot_partial_dependence(X, [1], target="high", level=0.5)
    assert figure.axes[0].get_ylabel() == "mean probability of high\nand its 50 % band"
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"column": "age"}, "one of wave, grad, nothing, or a number from 0 to 2; got 'age'"),
        ({"column": 3}, "a number from 0 to 2; got 3"),
        ({"column": 0, "level": 1.5}, "level must lie between 0 and 1, got 1.5"),
        ({"column": 0, "points": 1}, "points must be a whole number of at least 2, got 1"),
        ({"column": 0, "target": 1}, "y had 1 target in training: .* got 1"),
        ({"column": 0, "X": FRAME[:1]}, "X must have two rows or more to average over, got 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(regressor, arguments, message):
    with pytest.raises(ValueError, match=message):
        regressor.partial_dependence(**{"X": FRAME, **arguments})


def test_a_class_must_be_one_of_training(classifier):
    with pytest.raises(ValueError, match=r"one of the classes \['high', 'low'\], got 'medium'"):
        classifier.partial_dependence(X, 0, target="medium")


@pytest.mark.slow
def test_several_targets_and_classes_are_told_apart():
    both = BNNRegressor(**FIXED).fit(FRAME, np.column_stack([Y, -3 * Y]))
    first, second = (both.partial_dependence(FRAME, "wave", target=i, points=5) for i in (0, 1))
    assert np.corrcoef(first.mean, second.mean)[0, 1] < -0.9
    assert len(both.relevance(FRAME)) == 3
    with pytest.raises(ValueError, match="y had 2 targets in training"):
        both.partial_dependence(FRAME, "wave")
    three = BNNClassifier(**FIXED).fit(X, np.digitize(Y, [45, 60]))
    shares = [three.partial_dependence(X, 0, target=label, points=4).mean for label in (0, 1, 2)]
    np.testing.assert_allclose(np.sum(shares, axis=0), 1, atol=1e-5)
    assert three.relevance(X)[-1].share == 0


@pytest.mark.slow
def test_relevance_and_band_are_those_of_the_function_behind_the_data():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "dose": rng.uniform(0, 10, 100),
            "age": rng.uniform(20, 80, 100),
            "site": rng.normal(size=100),
        }
    )
    weak = 0.6 * (rows["age"] - 50) / 17.3
    truth = 3 * np.sin(rows["dose"]) + weak
    model = BNNRegressor(belief="fit", method="mclmc", chains=2, draws=100, random_state=0)
    model.fit(rows, truth + 0.3 * rng.normal(size=100))
    strong, weakly, hardly = model.relevance(rows)
    assert [strong.column, weakly.column, hardly.column] == ["dose", "age", "site"]
    assert strong.share == pytest.approx(1 - weak.var() / truth.var(), abs=0.1)
    assert weakly.share == pytest.approx(weak.var() / truth.var(), abs=0.05)
    assert hardly.share < 0.01
    slope = np.sqrt(np.mean((3 * np.cos(rows["dose"])) ** 2))
    assert strong.lengthscale == pytest.approx(truth.std() / slope, rel=0.1)
    assert weakly.lengthscale == pytest.approx(truth.std() / (0.6 / 17.3), rel=0.2)
    found = model.partial_dependence(rows, "dose", points=25)
    expected = 3 * np.sin(found.grid) + weak.mean()
    covered = (found.lower < expected) & (expected < found.upper)
    assert covered.mean() > 0.7  # neighbouring points are covered together
