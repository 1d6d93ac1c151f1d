"""DataFrames with text, dates, gaps and all types of columns, given to the estimators directly."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score

import goodprior
from goodprior import SGHMC, BNNClassifier, BNNRegressor, storage
from goodprior.data.table.encode import Columns
from goodprior.estimators import rows

TINY = {
    "prior": "fg",
    "hidden": (5,),
    "method": SGHMC(burn_in=20, thinning=5, batch_size=None),
    "chains": 2,
    "draws": 4,
    "random_state": 0,
}
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.uniform(0, 10, 40),
        "colour": RNG.choice(["red", "blue", "green"], 40),
        "day": pd.date_range("2022-01-01", periods=40, freq="20D"),
        "wait": pd.to_timedelta(RNG.uniform(0, 100, 40), "h"),
        "ok": pd.array(RNG.choice([True, False], 40), "boolean"),
        "level": pd.Categorical(RNG.choice([1, 2], 40)),
        "same": 7,
    }
)
TARGET = 2 * FRAME["size"] + 5 * (FRAME["colour"] == "red")
GAPS = FRAME.assign(
    size=FRAME["size"].mask(FRAME.index % 5 == 1), colour=FRAME["colour"].mask(FRAME.index == 7)
)


@pytest.fixture(scope="module")
def model():
    return BNNRegressor(**TINY).fit(FRAME, TARGET)


def test_a_table_is_encoded_as_the_command_line_does(model):
    columns, matrix = Columns.fit_transform(FRAME)
    assert model.columns_ == columns
    assert model.feature_names_in_.tolist() == [*FRAME.columns]
    assert model.n_features_in_ == 7
    plain = BNNRegressor(**TINY, encode=False)
    plain.fit(pd.DataFrame(matrix, columns=columns.names), TARGET)
    np.testing.assert_array_equal(model.predict(FRAME), plain.predict(matrix_of(model)))


def matrix_of(model):
    return pd.DataFrame(model.columns_.matrix(FRAME), columns=model.columns_.names)


@pytest.mark.parametrize(
    "given",
    [
        lambda model: FRAME[FRAME.columns[::-1]].assign(more="x"),
        lambda model: FRAME.drop(columns="same"),
        lambda model: FRAME.astype(object),
        lambda model: FRAME.assign(day=FRAME["day"].astype(str)),
        matrix_of,
        lambda model: matrix_of(model).to_numpy(),
    ],
    ids=["other order", "without a constant", "objects", "dates as text", "numbers", "an array"],
)
def test_rows_may_come_in_other_forms(model, given):
    np.testing.assert_array_equal(model.predict(given(model)), model.predict(FRAME))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (FRAME.drop(columns="size"), "there is no column 'size'; the table has colour, day"),
        (GAPS, r"'size' 8 \(rows 1, 6, .*, 'colour' 1 \(row 7\); fill .* with encode=\"impute\""),
        (FRAME.assign(size="big"), r"'size' must hold numbers, found 'big' \(rows 0, 1"),
        (FRAME.assign(day="soon"), r"'day' must hold dates as in training, found 'soon'"),
        (np.zeros((3, 2)), r"X has the shape \(3, 2\); .* columns size, colour, day, wait"),
    ],
)
def test_rows_that_do_not_fit_are_refused(model, given, message):
    with pytest.raises(ValueError, match=message):
        model.predict(given)


def test_a_colour_that_was_not_seen_is_warned_of(model):
    with pytest.warns(
        UserWarning, match="'colour' has values that were not seen in training, 'pin"
    ):
        model.predict(FRAME.assign(colour="pink"))


def test_gaps_are_an_error_unless_they_are_to_be_filled():
    with pytest.raises(ValueError, match=r"values are missing: 'size' 8 .*encode=\"impute\""):
        BNNRegressor(**TINY).fit(GAPS, TARGET)
    model = BNNRegressor(**TINY, encode="impute").fit(GAPS, TARGET)
    filled = GAPS.fillna({"size": GAPS["size"].median(), "colour": GAPS["colour"].mode()[0]})
    np.testing.assert_array_equal(model.predict(GAPS), model.predict(filled))


@pytest.mark.slow
def test_gaps_of_numbers_alone_are_filled_too():
    numbers = GAPS[["size", "same"]].assign(size_2=FRAME["size"] ** 2)
    with pytest.raises(ValueError, match=r"NaN in size \(8 of 40\).*encode=\"impute\""):
        BNNRegressor(**TINY).fit(numbers, TARGET)
    named = BNNRegressor(**TINY, encode="impute").fit(numbers, TARGET)
    nameless = BNNRegressor(**TINY, encode="impute").fit(numbers.to_numpy(), TARGET)
    assert not hasattr(nameless, "feature_names_in_")
    np.testing.assert_array_equal(named.predict(numbers), nameless.predict(numbers.to_numpy()))


@pytest.mark.slow
def test_numbers_are_taken_as_they_are():
    numbers = pd.DataFrame({"size": FRAME["size"], "ok": FRAME["ok"].astype(bool), "same": 7})
    model = BNNRegressor(**TINY).fit(numbers, TARGET)
    assert model.columns_ is None
    expected = BNNRegressor(**TINY).fit(numbers.to_numpy(float), TARGET)
    np.testing.assert_array_equal(model.predict(numbers), expected.predict(numbers.to_numpy(float)))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(numbers[numbers.columns[::-1]])
    always = BNNRegressor(**TINY, encode=True).fit(numbers, TARGET)
    assert always.columns_.constant == ("same",)


def test_polars_gives_the_same_model(model):
    polars = pytest.importorskip("polars")
    cells = {name: FRAME[name].tolist() for name in FRAME.columns if name != "level"}
    frame = polars.DataFrame(cells).with_columns(
        level=polars.Series(FRAME["level"].astype(str).tolist(), dtype=polars.Categorical)
    )
    same = BNNRegressor(**TINY).fit(frame.select([*FRAME.columns]), polars.Series(TARGET.tolist()))
    assert same.columns_.names == model.columns_.names
    np.testing.assert_allclose(same.predict(frame), model.predict(FRAME), rtol=1e-5)


def test_the_encoder_is_kept_by_files_pickles_and_clones(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    for again in (
        goodprior.load(tmp_path / "model.safetensors"),
        pickle.loads(pickle.dumps(model)),
        clone(model).fit(FRAME, TARGET),
    ):
        assert again.columns_ == model.columns_
        assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()
        np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))


def test_a_file_of_version_0_2_is_read(model, tmp_path):
    """Its columns said what `table_` says now, and its names were those of the numbers."""
    path = tmp_path / "model.safetensors"
    model.save(path, table={"targets": ["y"], "rows": 40})
    content = storage.read(path, kind="model", network=None)
    fitted = content["fitted"]
    about = fitted.pop("table_")
    fitted["columns_"] = {**fitted["columns_"], **about}
    for column in fitted["columns_"]["columns"]:
        for new in ("grouped", "unit", "seasons"):
            if column["kind"] != "duration":
                del column[new]
    del fitted["columns_"]["constant"]
    fitted["feature_names_in_"] = np.array(model.columns_.names)
    fitted["n_features_in_"] = len(model.columns_.names)
    storage.write(path, content, kind="model")
    again = goodprior.load(path)
    assert again.table_ == {"targets": ["y"], "rows": 40}
    assert again.feature_names_in_.tolist() == [*FRAME.columns[:-1]]
    np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* lie far outside the training data")  # later days
def test_scikit_learn_takes_its_way_through_tables():
    model = BNNRegressor(**TINY, encode="impute")
    scores = cross_val_score(model, GAPS, TARGET, cv=2)
    assert np.isfinite(scores).all()
    search = GridSearchCV(model, {"encode": ["impute", True]}, cv=2, error_score="raise")
    search.fit(FRAME, TARGET)
    found = permutation_importance(search.best_estimator_, FRAME, TARGET, n_repeats=1)
    assert found.importances_mean.shape == (7,)


def test_columns_are_called_as_the_user_calls_them(model):
    found = {each.column: each for each in model.relevance(FRAME)}
    assert set(found) == {"size", "colour", "day", "wait", "ok", "level"}
    assert found["size"].share > found["wait"].share
    along = model.partial_dependence(FRAME, "colour")
    assert along.column == "colour"
    assert along.grid.tolist() == ["blue", "green", "red"]
    assert along.mean[2] > along.mean[:2].max()
    expected = model.predict(FRAME.assign(colour="red")).mean()
    assert along.mean[2] == pytest.approx(expected, rel=1e-3)
    assert model.partial_dependence(FRAME, "day").grid.max() == 39 * 20
    with pytest.raises(ValueError, match="one of size, colour, day, wait, ok, level, or a number"):
        model.partial_dependence(FRAME, "color")


def test_pictures_take_tables(model):
    figure = model.plot_partial_dependence(FRAME, ["colour", "size"])
    labels = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert labels == ["blue", "green", "red"]
    model.plot_posterior(FRAME, TARGET)


@pytest.mark.parametrize(
    ("belief", "words"),
    [
        ({"ignore": "colour"}, "whatever colour=blue, colour=green, colour=red may be"),
        ({"lengthscale": {"colour": 3}}, "3 in colour=blue, 3 in colour=green"),
        ({"levels": {"colour": "similar"}}, "similar between levels of colour"),
        ({"period": {"day": "year"}}, "repeat themselves every 365 in day"),
        ({"period": {"day": 7}}, "repeat themselves every 7 in day"),
        (["smooth", {"kernel": "periodic", "period": {"day": "week"}}], "every 7 in day"),
    ],
)
def test_beliefs_name_the_columns_of_the_table(belief, words):
    model = BNNRegressor(belief=belief, random_state=0).fit_prior(FRAME)
    assert words in str(model.belief_)


@pytest.mark.parametrize(
    ("belief", "message"),
    [
        (
            {"period": {"size": "year"}},
            "'year', which is for columns of dates, and size has numbers",
        ),
        (
            {"period": {"day": "decade"}},
            "period of day must be a number or one of day, week, month",
        ),
        ({"period": {"colour": 3}}, "period names the category 'colour': name one of its levels"),
    ],
)
def test_beliefs_that_do_not_fit_the_columns_are_refused(belief, message):
    with pytest.raises(ValueError, match=message):
        BNNRegressor(belief=belief, random_state=0).fit_prior(FRAME)


@pytest.mark.slow
def test_a_classifier_takes_tables():
    labels = np.where(FRAME["size"] > 5, "large", "small")
    model = BNNClassifier(**TINY).fit(FRAME, labels)
    assert model.predict_proba(FRAME).shape == (40, 2)


def test_what_encode_may_be():
    with pytest.raises(ValueError, match="encode must be auto, impute, True or False; got 'yes'"):
        BNNRegressor(**TINY, encode="yes").fit(FRAME, TARGET)


def test_sparse_matrices_are_made_dense_up_to_a_limit(monkeypatch):
    X = sparse.random(40, 3, 0.5, random_state=0, format="csr")
    model = BNNRegressor(**TINY).fit(X, TARGET)
    np.testing.assert_array_equal(model.predict(X), model.predict(X.toarray()))
    monkeypatch.setattr(rows, "MOST_DENSE", 100)
    with pytest.raises(
        ValueError, match=r"40 rows and 3 columns: 120 numbers, and at most 100 are"
    ):
        model.predict(X)
