"""What scikit-learn's users expect beside its own checks: pages, pipelines, routing, DataFrames."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from goodprior import BNNClassifier, BNNRegressor
from goodprior.estimators.base import BNN
from tests.estimators.small import LABELS, SMALL, X, Y

NAMES = ["wave", "grad", "nothing"]
FIXED = {**SMALL, "prior": "fg"}
MODELS = pytest.mark.parametrize("model", [BNNRegressor, BNNClassifier], ids=lambda m: m.__name__)


@pytest.fixture
def given(monkeypatch):
    """What `fit` is called with, instead of a fit."""
    found = []

    def fit(self, X, y, sample_weight=None, *, checkpoint=None):
        found.append((sample_weight, checkpoint))
        self.classes_ = np.unique(y)
        return self

    monkeypatch.setattr(BNN, "fit", fit)
    return found


@MODELS
def test_an_estimator_is_shown_as_a_page_with_its_settings(model):
    page = make_pipeline(StandardScaler(), model(hidden=(7, 9)))._repr_html_()
    assert model.__name__ in page
    assert "StandardScaler" in page
    alone = model(belief="rough", hidden=(7, 9))._repr_html_()
    assert "rough" in alone
    assert "(7, 9)" in alone


@MODELS
def test_weights_and_checkpoints_are_routed_to_fit(model, given):
    weights = np.ones(60)
    with config_context(enable_metadata_routing=True):
        routed = model(**FIXED).set_fit_request(sample_weight=True, checkpoint=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), routed)
        pipeline.fit(X, LABELS, sample_weight=weights, checkpoint="folder")
        assert given[-1][0] is weights
        assert given[-1][1] == "folder"
        unset = make_pipeline(StandardScaler(), model(**FIXED))
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            unset.fit(X, LABELS, sample_weight=weights)


def test_a_search_routes_the_weights_of_each_fold(given, monkeypatch):
    monkeypatch.setattr(BNNRegressor, "predict", lambda self, X: np.zeros(len(X)))
    with config_context(enable_metadata_routing=True):
        model = BNNRegressor(**FIXED).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"hidden": [(4,), (8,)]}, cv=2, refit=False)
        search.fit(X, Y, sample_weight=np.arange(60.0))
    assert [len(weights) for weights, _ in given] == [30] * 4


def test_the_error_bars_of_a_prediction_are_routed():
    with config_context(enable_metadata_routing=True):
        model = BNNRegressor(**FIXED).set_predict_request(return_std=True)
        mean, std = make_pipeline(StandardScaler(), model).fit(X, Y).predict(X, return_std=True)
    assert mean.shape == std.shape == (60,)


def test_a_predictor_has_no_outputs_of_columns_to_name():
    assert not hasattr(BNNRegressor(), "set_output")
    assert not hasattr(BNNRegressor(), "get_feature_names_out")


def test_text_becomes_columns_in_a_pipeline():
    kind = np.where(X[:, 1] > 50, "new", "old")
    table = pd.DataFrame({"wave": X[:, 0], "kind": kind})
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["kind"]),
        remainder=StandardScaler(),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = make_pipeline(encode, BNNRegressor(**FIXED))
    model = clone(model).fit(table, Y + 20 * (kind == "new"))
    assert model[-1].feature_names_in_.tolist() == ["kind_new", "kind_old", "wave"]
    by_kind = [model.predict(table.assign(kind=name)).mean() for name in ("new", "old")]
    assert by_kind[0] - by_kind[1] > 10
    encoded = model[:-1].transform(table)
    groups = {"kind": ["kind_new", "kind_old"]}
    assert str(model[-1].relevance(encoded, groups=groups)[0]).startswith(
        "functions vary with kind"
    )


def test_polars_frames_are_fitted_predicted_and_checked_like_those_of_pandas():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=NAMES)
    model = BNNRegressor(**FIXED).fit(frame, polars.Series(Y))
    same = BNNRegressor(**FIXED).fit(pd.DataFrame(X, columns=NAMES), Y)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(
        model.predict(frame), same.predict(pd.DataFrame(X, columns=NAMES))
    )
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.select(NAMES[::-1]))
    with pytest.raises(ValueError, match=r"NaN in grad \(60 of 60\)"):
        model.predict(frame.with_columns(polars.lit(None).cast(polars.Float64).alias("grad")))
    with pytest.raises(ValueError, match=r"text or dates in wave \('a'\)"):
        clone(model).set_params(encode=False).fit(frame.with_columns(wave=polars.lit("a")), Y)
