"""Pictures of a fitted estimator: its prior and its posterior along each column."""

import textwrap
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goodprior import plots
from goodprior.estimators import drawing
from goodprior.estimators import panels as columns_of
from goodprior.estimators.panels import Panel
from goodprior.estimators.relevance import Rows
from goodprior.estimators.validation import column_number, column_numbers
from goodprior.inference import Binary
from goodprior.matching.report import Column, MatchReport

OURS, BELIEF = "#009e73", "#000000"
BANDED = 4  # classes up to which each has a band
LEVEL = 0.95
LETTERS = 15  # of a note, in an inch


def plot_prior(model: Any, n: int, report: MatchReport | None = None) -> Figure:
    """Functions of the belief above, of the prior below, with what the report says of columns."""
    every = columns_of.panels_of(model)
    rows = columns_of.rows_in_box(model, every)
    panels, note = columns_of.chosen(every, rows, _functions(model))
    row = columns_of.typical_row(model, every)
    figure = plots.new_figure(2, len(panels))
    axes = figure.subplots(2, len(panels), squeeze=False, sharey=True)
    key = jax.random.key(0)
    draw = eqx.filter_jit(model.prior_.functions)
    for k, panel in enumerate(panels):
        values = columns_of.grid(model, panel, None)
        x = model.scaling_.inputs(columns_of.along(row, panel, values))
        believed = np.asarray(model.belief_.belief.sample(key, x, 500))[..., 0]
        ours = np.asarray(draw(key, jnp.asarray(x), 500))[..., 0]
        at = drawing.column_axis(axes[0, k], values, panel.levels, panel.origin)
        drawing.column_axis(axes[1, k], values, panel.levels, panel.origin)
        draw_functions = drawing.level_functions if panel.has_levels else plots.plot_functions
        draw_functions(axes[0, k], at, believed, colour=BELIEF, n=n)
        draw_functions(axes[1, k], at, ours, colour=OURS, n=n)
        axes[1, k].set_xlabel(panel.name, fontfamily=drawing.fonts())
        if report is not None and (found := _of(report, panel.name)):
            for axis, along in zip(axes[:, k], (found.belief, found.prior), strict=True):
                words = f"roughness {along.roughness:.2g}, crossings {along.crossings:.1f}"
                axis.set_title(words, fontsize="small")
    if report is not None:
        figure.suptitle(str(report), fontsize="small")
    _note(figure, note)
    axes[0, 0].set_ylabel("belief\n(standard units)")
    axes[1, 0].set_ylabel("prior\n(standard units)")
    return figure


def _functions(model: Any) -> Any:
    """Functions by whose variation columns are ranked: the posterior's, or else the prior's."""
    if hasattr(model, "posterior_"):
        return model._standard_functions
    return columns_of.prior_functions(model)


def _of(report: MatchReport, name: str) -> Column | None:
    return next((column for column in report.columns if column.name == name), None)


def _note(figure: Figure, *notes: str) -> None:
    """What the picture leaves out, below it."""
    if text := "; ".join(note for note in notes if note):
        width = max(40, int(LETTERS * figure.get_figwidth()))
        figure.supxlabel(textwrap.fill(text, width), fontsize="small", color="0.35")


def plot_posterior(model: Any, X: Any, y: Any) -> Figure:
    """Means and 95 % intervals along the columns; for classes, their probabilities."""
    every = columns_of.panels_of(model)
    data = None if X is None else np.asarray(X, float)
    rows = columns_of.rows_in_box(model, every) if data is None else data
    panels, note = columns_of.chosen(every, rows, _functions(model))
    row = columns_of.typical_row(model, every)
    figure, axes = _one_axis_each(panels)
    shown = None if data is None or y is None else drawing.thinned(len(data))
    thin = (
        ""
        if shown is None or len(shown) == len(rows)
        else f"{len(shown):,} of {len(rows):,} rows are drawn"
    )
    draw = _numbers if model.TASK == "regression" else _classes
    for axis, panel in zip(axes, panels, strict=False):
        values = columns_of.grid(model, panel, data)
        at = drawing.column_axis(axis, values, panel.levels, panel.origin)
        draw(axis, model, at, columns_of.along(row, panel, values))
        axis.set_xlabel(panel.name, fontfamily=drawing.fonts())
        if shown is not None:
            where = _where(panel, values, rows[shown])
            _dots(axis, model, where, np.asarray(y)[shown])
    levels = [panel.name for panel in panels if len(panel.levels) > columns_of.MOST_LEVELS]
    some = f"of {', '.join(levels)} the {columns_of.MOST_LEVELS} most frequent" if levels else ""
    _note(figure, note, thin, some, *_frame(figure, axes, model, y))
    return figure


def _where(panel: Panel, values: np.ndarray, rows: Rows) -> np.ndarray:
    """Where rows stand on the axis; NaN outside it. Those of a level are spread around it."""
    found = panel.values(rows)
    if not panel.has_levels:
        return drawing.dates(found, panel.origin)
    places = {value: place for place, value in enumerate(values)}
    at = np.array([places.get(value, np.nan) for value in found])
    return at + np.random.default_rng(0).uniform(-0.25, 0.25, len(at))


def _numbers(axis: Axes, model: Any, at: np.ndarray, rows: Rows) -> None:
    """The mean, the band of the function (dark) and that of an observation (light)."""
    prediction = model.posterior_.predict(rows)
    mean = np.asarray(prediction.mean)[:, 0]
    for of, alpha in (("observation", 0.18), ("function", 0.35)):
        low, high = (np.asarray(side)[:, 0] for side in prediction.interval(LEVEL, of))
        drawing.band(axis, at, low, high, colour=OURS, alpha=alpha)
    drawing.curve(axis, at, mean, colour=OURS)


def _classes(axis: Axes, model: Any, at: np.ndarray, rows: Rows) -> None:
    """The probability of each class, or of the second of two, with its band over draws."""
    for i, colour in _class_colours(model):
        draws = model._target_draws(rows, i)
        if len(model.classes_) <= BANDED and len(draws) > 1:
            low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
            drawing.band(axis, at, low, high, colour=colour, alpha=0.2)
        label = str(model.classes_[i])
        drawing.curve(axis, at, draws.mean(axis=0), colour=colour, label=label)


def _class_colours(model: Any) -> list[tuple[int, str]]:
    """The classes that have a curve, each with its colour."""
    binary = isinstance(model.posterior_.likelihood, Binary)
    count = 2 if binary else len(model.classes_)
    found = [(i, drawing.CYCLE[i % len(drawing.CYCLE)]) for i in range(count)]
    return found[1:] if binary else found


def _dots(axis: Axes, model: Any, at: np.ndarray, y: np.ndarray) -> None:
    """The rows: targets as dots, classes as marks above and below."""
    if model.TASK == "regression":
        drawing.dots(axis, at, y.astype(float).reshape(len(at), -1)[:, 0])
        return
    if len(model.classes_) == 2:
        drawing.marks(axis, at[y == model.classes_[1]], 1.05, colour=drawing.CYCLE[1])
        drawing.marks(axis, at[y == model.classes_[0]], -0.05, colour=drawing.CYCLE[0])
        return
    for i, colour in _class_colours(model):
        drawing.marks(axis, at[y == model.classes_[i]], -0.05 * (i + 1), colour=colour)


def _frame(figure: Figure, axes: np.ndarray, model: Any, y: Any) -> list[str]:
    """Limits, labels and a legend that covers nothing; returns what is to be noted."""
    if model.TASK == "classification":
        count = len(model.classes_)
        many = y is not None and count > 2
        axes[0].set_ylim(-0.05 * (count + 1) if many else -0.1, 1.1)
        colours = _class_colours(model)
        what = f"probability of {model.classes_[1]}" if len(colours) == 1 else "probability"
        axes[0].set_ylabel(what, fontfamily=drawing.fonts())
        if len(colours) > 1:
            drawing.legend_outside(figure, axes[0])
        if y is None:
            return []
        if len(colours) > 1:
            return ["marks below: rows of each class"]
        return [f"marks above: rows that are {model.classes_[1]}; below: {model.classes_[0]}"]
    several = "first target, " * (np.asarray(model.scaling_.y_std).size > 1)
    axes[0].set_ylabel(f"{several}prediction, 95 % bands")
    if y is None:
        return []
    targets = np.asarray(y, float).reshape(len(y), -1)[:, 0]
    outside = drawing.limit_to(
        [a for a in axes if a.lines], columns_of.without_outliers(targets), targets
    )
    return [f"{outside} row{'s' * (outside > 1)} beyond the axis, at its edge"] if outside else []


def plot_partial_dependence(
    model: Any, X: Any, columns: Sequence[str | int] | None, *, target: Any, level: float
) -> Figure:
    """Means and bands of the function along columns, averaged over the rows' other columns."""
    data, of, note = model._check_new(X), "prediction", ""
    if columns is None:
        every = columns_of.panels_of(model)
        found, note = columns_of.chosen(every, data, _functions(model))
        shown: Sequence[str | int] = [panel.name for panel in found]
    else:
        shown = list(columns)
    if not shown:
        raise ValueError("columns must name one column or more")
    for column in shown:
        column_numbers(model, column)  # one that is not there is said before any work
    figure, axes = _one_axis_each(shown)
    for axis, column in zip(axes, shown, strict=False):
        found = model.partial_dependence(X, column, target=target, level=level)
        levels = found.grid.dtype.kind not in "fiu"
        at = np.arange(len(found.grid)) if levels else found.grid
        style = "-" if len(at) > 2 and not levels else "o--"  # points: a category
        axis.fill_between(at, found.lower, found.upper, color=OURS, alpha=0.3, lw=0)
        axis.plot(at, found.mean, style, color=OURS)
        if levels:
            axis.set_xticks(at, found.grid)
        else:
            values = data[:, column_number(model, column)]
            rows = values[drawing.thinned(len(data))]
            drawing.marks(axis, rows, 0.0, colour="black", transform=axis.get_xaxis_transform())
            axis.set_xlim(*columns_of.without_outliers(values))
            drawing.few_ticks(axis)
        axis.set_xlabel(found.column, fontfamily=drawing.fonts())
        if model.TASK == "classification":
            of = f"probability of {found.target}"
    axes[0].set_ylabel(f"mean {of}\nand its {100 * level:g} % band")
    _note(figure, note)
    return figure


def _one_axis_each(columns: Sequence[Any]) -> tuple[Figure, np.ndarray]:
    """A figure with an axis for each column, three in a row."""
    width = min(3, len(columns))
    height = -(-len(columns) // width)
    figure = plots.new_figure(height, width)
    axes = figure.subplots(height, width, squeeze=False, sharey=True).ravel()
    for axis in axes[len(columns) :]:
        axis.set_axis_off()
    return figure, axes
