"""Which columns a picture shows, over which range, and how."""

from itertools import pairwise
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from goodprior.data.scaling import Scaling
from goodprior.data.table.encode import Columns
from goodprior.estimators import drawing, figures, panels
from goodprior.estimators.panels import Panel
from goodprior.inference import Binary, Categorical, ClassPrediction, Prediction
from goodprior.plots import new_figure

ROWS = 200
rng = np.random.default_rng(0)
FRAME = pd.DataFrame({f"idle {i}": rng.normal(size=ROWS) for i in range(7)})
FRAME["size"] = rng.uniform(0, 10, ROWS)
FRAME["town"] = rng.choice(["Bonn", "Kiel", "Ulm"], ROWS, p=[0.2, 0.7, 0.1])
FRAME["new"] = rng.choice([True, False], ROWS)
FRAME["day"] = pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.integers(0, 900, ROWS), unit="D")
COLUMNS = Columns.fit(FRAME)
X = COLUMNS.matrix(FRAME)
NAMES = COLUMNS.names


def _function(rows):
    """Of size, town and day alone."""
    rows = np.asarray(rows)
    at = {name: rows[:, i] for i, name in enumerate(NAMES)}
    return 3 * at["size"] + 20 * at["town=Ulm"] + 0.02 * at["day"]


def _model(classes=0, known=True):
    """What pictures need of an estimator, with a function that is known."""
    draws = np.linspace(0.9, 1.1, 12)[:, None]

    def predict(rows):
        values = draws * _function(rows)
        if not classes:
            values = jnp.asarray(values[..., None], jnp.float32)
            return Prediction(values, jnp.ones_like(values))
        return ClassPrediction(jnp.log(jnp.asarray(_probabilities(rows))))

    def _probabilities(rows):
        logits = np.stack([draws * _function(rows) * i / 20 for i in range(classes)], axis=-1)
        raw = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return raw / raw.sum(axis=-1, keepdims=True)

    likelihood = Binary() if classes == 2 else Categorical(max(classes, 2))
    model = SimpleNamespace(
        TASK="classification" if classes else "regression",
        box_=np.stack([X.min(axis=0), X.max(axis=0)]),
        n_features_in_=X.shape[1],
        feature_names_in_=np.array(NAMES),
        scaling_=Scaling.fit(X, _function(X)),
        posterior_=SimpleNamespace(predict=predict, likelihood=likelihood),
        classes_=np.array(["low", "middle", "high"][:classes]),
        _standard_functions=lambda rows: (draws * _function(rows))[..., None],
        _target_draws=lambda rows, i: _probabilities(rows)[..., i],
    )
    model.columns_ = COLUMNS if known else None
    return model


def _by_name(figure):
    return {axis.get_xlabel(): axis for axis in figure.axes if axis.get_xlabel()}


def test_columns_are_those_of_the_table_and_not_their_codes():
    found = panels.panels_of(_model())
    assert [panel.name for panel in found] == [*FRAME.columns[:8], "day", "town", "new"]
    assert found[-2].levels == ("Bonn", "Kiel", "Ulm")
    assert [panel.name for panel in panels.panels_of(_model(known=False))] == NAMES


def test_the_columns_that_matter_are_shown_and_that_is_said():
    figure = figures.plot_posterior(_model(), X, _function(X))
    assert {"size", "town", "day"} <= set(_by_name(figure))
    assert len(_by_name(figure)) == 6
    words = figure.get_supxlabel()
    assert words.startswith("6 of 11 columns: those with which functions vary most")


def test_categories_are_levels_with_their_names():
    axis = _by_name(figures.plot_posterior(_model(), X, _function(X)))["town"]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["Bonn", "Kiel", "Ulm"]
    assert len(axis.patches) == 6  # two bands at each, and no curve from one to the other


def test_dates_are_dates():
    figure = figures.plot_posterior(_model(), X, _function(X))
    figure.canvas.draw()
    words = " ".join(label.get_text() for label in _by_name(figure)["day"].get_xticklabels())
    assert "2021" in words


def test_other_columns_are_at_their_means_and_most_frequent_levels():
    row = dict(zip(NAMES, panels.typical_row(_model(), panels.panels_of(_model())), strict=True))
    assert (row["town=Bonn"], row["town=Kiel"], row["town=Ulm"]) == (0, 1, 0)
    assert row["new"] in (0, 1)
    assert row["size"] == pytest.approx(FRAME["size"].mean())


def test_one_outlier_does_not_flatten_the_panels():
    y, rows = _function(X), X.copy()
    y[3], rows[4, NAMES.index("size")] = 9000.0, 5000.0
    model = _model()
    model.box_ = np.stack([rows.min(axis=0), rows.max(axis=0)])
    figure = figures.plot_posterior(model, rows, y)
    axis = _by_name(figure)["size"]
    assert axis.get_ylim()[1] < 200
    assert axis.get_xlim()[1] < 20
    assert "1 row beyond the axis" in figure.get_supxlabel()


def test_many_rows_are_thinned_and_transparent():
    axes = new_figure(1, 1).subplots()
    x = np.arange(40_000.0)
    shown = drawing.thinned(len(x))
    drawing.dots(axes, x[shown], x[shown])
    assert len(axes.lines[0].get_xdata()) == 2000
    assert axes.lines[0].get_alpha() < 0.25
    few = new_figure(1, 1).subplots()
    drawing.dots(few, x[:50], x[:50])
    assert few.lines[0].get_alpha() == 0.6


@pytest.mark.parametrize(("classes", "curves", "legends"), [(2, 1, 0), (3, 3, 1)])
def test_classes_have_bands_and_rows_and_a_legend_that_covers_nothing(classes, curves, legends):
    y = np.array(["low", "middle", "high"])[:classes][rng.integers(0, classes, ROWS)]
    figure = figures.plot_posterior(_model(classes), X, y)
    axis = _by_name(figure)["size"]
    assert len(axis.collections) == curves  # bands
    lines = [line for line in axis.lines if line.get_marker() == "|"]
    assert sum(len(line.get_xdata()) for line in lines) == ROWS
    assert all(not 0 < line.get_ydata()[0] < 1 for line in lines)  # beside the curves
    assert len(figure.legends) == legends
    assert not any(axis.get_legend() for axis in figure.axes)


def test_of_many_levels_the_most_frequent_are_shown():
    names = tuple(f"level {i}" for i in range(30))
    panel = Panel("site", tuple(range(30)), "category", names)
    means = np.linspace(0, 1, 30)
    model = SimpleNamespace(scaling_=SimpleNamespace(x_mean=means))
    assert panels.grid(model, panel, None).tolist() == list(range(20, 30))


@pytest.mark.parametrize(
    ("low", "high", "origin"), [(0, 1e6, ""), (-1e-5, 1e-5, ""), (0, 1250, "2019-01-01T00:00:00")]
)
def test_ticks_do_not_overlap(low, high, origin):
    figure = new_figure(1, 3)
    for axes in figure.subplots(1, 3):
        drawing.column_axis(axes, np.linspace(low, high, 100), origin=origin)
    figure.canvas.draw()
    for axes in figure.axes:
        boxes = [t.get_window_extent() for t in axes.get_xticklabels() if t.get_text()]
        inside = sorted(
            (box for box in boxes if axes.bbox.x0 - 5 <= box.x0 <= axes.bbox.x1), key=lambda b: b.x0
        )
        assert all(a.x1 < b.x0 for a, b in pairwise(inside))
