"""Pictures of a fitted estimator: its prior and its posterior along each column."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from goodprior import plots
from goodprior.estimators.validation import (
    column_name,
    column_number,
    column_numbers,
    input_count,
)
from goodprior.inference import Binary
from goodprior.matching.report import Column, MatchReport

MOST = 6  # columns in a picture
POINTS = 100
OURS, BELIEF = "#009e73", "#000000"


def _columns(model: Any) -> list[int]:
    low, high = model.box_
    if len(low) != input_count(model):
        raise ValueError("pictures go along the columns of a table, and these rows are images")
    varying = [i for i in range(len(low)) if high[i] > low[i]]
    return sorted(varying, key=lambda i: "=" in column_name(model, i))[:MOST] or [
        0
    ]  # categories last


def _along(model: Any, column: int) -> np.ndarray:
    """Rows that go through one column's range, the others at their means."""
    rows = np.tile(model.scaling_.x_mean, (POINTS, 1))
    rows[:, column] = np.linspace(model.box_[0, column], model.box_[1, column], POINTS)
    return rows


def plot_prior(model: Any, n: int, report: MatchReport | None = None) -> Figure:
    """Functions of the belief above, of the prior below, with what the report says of columns."""
    columns = _columns(model)
    figure = plots.new_figure(2, len(columns))
    axes = figure.subplots(2, len(columns), squeeze=False, sharey=True)
    key = jax.random.key(0)
    draw = eqx.filter_jit(model.prior_.functions)
    for k, column in enumerate(columns):
        rows = _along(model, column)
        x = model.scaling_.inputs(rows)
        believed = np.asarray(model.belief_.belief.sample(key, x, 500))[..., 0]
        ours = np.asarray(draw(key, jnp.asarray(x), 500))[..., 0]
        plots.plot_functions(axes[0, k], rows[:, column], believed, colour=BELIEF, n=n)
        plots.plot_functions(axes[1, k], rows[:, column], ours, colour=OURS, n=n)
        axes[1, k].set_xlabel(column_name(model, column))
        if report is not None and (found := _of(report, column_name(model, column))):
            for axis, along in zip(axes[:, k], (found.belief, found.prior), strict=True):
                words = f"roughness {along.roughness:.2g}, crossings {along.crossings:.1f}"
                axis.set_title(words, fontsize="small")
    if report is not None:
        figure.suptitle(str(report), fontsize="small")
    axes[0, 0].set_ylabel("belief\n(standard units)")
    axes[1, 0].set_ylabel("prior\n(standard units)")
    return figure


def _of(report: MatchReport, name: str) -> Column | None:
    return next((column for column in report.columns if column.name == name), None)


def plot_posterior(model: Any, X: Any, y: Any) -> Figure:
    """Means and 95 % intervals along the columns; for classes, their probabilities."""
    columns = _columns(model)
    figure, axes = _one_axis_each(columns)
    data = None if X is None else np.asarray(X, float)
    for axis, column in zip(axes, columns, strict=False):
        rows = _along(model, column)
        x = rows[:, column]
        prediction = model.posterior_.predict(rows)
        if model.TASK == "regression":
            mean, std = np.asarray(prediction.mean)[:, 0], np.asarray(prediction.std)[:, 0]
            sure = np.asarray(prediction.function_std)[:, 0]
            for spread, alpha in ((std, 0.15), (sure, 0.3)):
                axis.fill_between(
                    x, mean - 1.96 * spread, mean + 1.96 * spread, color=OURS, alpha=alpha, lw=0
                )
            axis.plot(x, mean, color=OURS)
            if data is not None and y is not None:
                targets = np.asarray(y, float).reshape(len(data), -1)[:, 0]
                axis.plot(data[:, column], targets, ".", color="black", ms=2, alpha=0.4)
        else:
            probabilities = np.asarray(prediction.probabilities)
            shown = (
                [1]
                if isinstance(model.posterior_.likelihood, Binary)
                else range(probabilities.shape[1])
            )
            for i in shown:
                axis.plot(x, probabilities[:, i], label=str(model.classes_[i]))
            axis.set_ylim(0, 1)
        axis.set_xlabel(column_name(model, column))
    if model.TASK == "classification":
        axes[0].legend(fontsize="small")
        axes[0].set_ylabel("probability")
    else:
        axes[0].set_ylabel("prediction, 95 % bands")
    return figure


def plot_partial_dependence(
    model: Any, X: Any, columns: Sequence[str | int] | None, *, target: Any, level: float
) -> Figure:
    """Means and bands of the function along columns, averaged over the rows' other columns."""
    shown = _columns(model) if columns is None else list(columns)
    if not shown:
        raise ValueError("columns must name one column or more")
    for column in shown:
        column_numbers(model, column)  # one that is not there is said before any work
    figure, axes = _one_axis_each(shown)
    data, of = model._check_new(X), "prediction"
    for axis, column in zip(axes, shown, strict=False):
        found = model.partial_dependence(X, column, target=target, level=level)
        at = found.grid if found.grid.dtype.kind in "fiu" else np.arange(len(found.grid))
        style = "-" if len(at) > 2 and at is found.grid else "o--"  # points: a category
        axis.fill_between(at, found.lower, found.upper, color=OURS, alpha=0.3, lw=0)
        axis.plot(at, found.mean, style, color=OURS)
        if at is found.grid:
            values = data[:, column_number(model, column)]
            across = axis.get_xaxis_transform()
            marks = np.zeros(len(data))
            axis.plot(values, marks, "|", color="black", ms=8, alpha=0.4, transform=across)
        else:
            axis.set_xticks(at, found.grid)
        axis.set_xlabel(found.column)
        if model.TASK == "classification":
            of = f"probability of {found.target}"
    axes[0].set_ylabel(f"mean {of}\nand its {100 * level:g} % band")
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
