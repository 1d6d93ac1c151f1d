"""Which columns of a table a picture shows, over which range, and in which rows."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from goodprior.data.splits import evenly_spread
from goodprior.data.table.column import Kind
from goodprior.estimators.relevance import Functions, Rows, mean_square_change
from goodprior.estimators.validation import column_name, input_count

MOST = 6  # columns in a picture
MOST_LEVELS = 10  # of a category
POINTS = 100  # along a column of numbers
RANKED = 100  # rows over which columns are ranked
FENCE = 3.0  # interquartile ranges beyond the quartiles: what lies farther out is an outlier
OUTLIERS = 0.05  # share of the rows, at most
SPREAD = 4.0  # standard deviations around the mean, where there are no rows to go by


class Panel(NamedTuple):
    """A column of the table: the inputs that it became, and how its values are written."""

    name: str
    inputs: tuple[int, ...]
    kind: Kind = "number"
    levels: tuple[str, ...] = ()  # of a category, or of a truth value
    origin: str = ""  # of dates, which are days since then

    @property
    def has_levels(self) -> bool:
        return bool(self.levels)

    def values(self, rows: Rows) -> Float[np.ndarray, " rows"]:
        """The column's values; of a category the number of each level, NaN for none of them."""
        if self.kind != "category":
            return rows[:, self.inputs[0]]
        found = rows[:, list(self.inputs)]
        return np.where(found.max(axis=1) > 0.5, found.argmax(axis=1), np.nan)

    def inputs_at(self, values: Float[np.ndarray, " points"]) -> Float[np.ndarray, "points _"]:
        """The inputs at values such as `values` returns."""
        if self.kind != "category":
            return values[:, None]
        return (values[:, None] == np.arange(len(self.levels))).astype(float)


def panels_of(model: Any) -> list[Panel]:
    """The table's columns that vary, numbers first, as far as the model knows the table."""
    low, high = model.box_
    if len(low) != input_count(model):
        raise ValueError("pictures go along the columns of a table, and these rows are images")
    if (about := model.columns_) is None:
        found = [Panel(column_name(model, i), (i,)) for i in range(len(low))]
    else:
        found, first = [], 0
        for column in about.columns:
            inputs = tuple(range(first, first + len(column.names)))
            first += len(inputs)
            levels = ("false", "true") if column.kind == "boolean" else column.categories
            found.append(Panel(column.name, inputs, column.kind, levels, column.origin))
    varying = [panel for panel in found if any(high[i] > low[i] for i in panel.inputs)]
    return sorted(varying or found[:1], key=lambda panel: panel.has_levels)


def chosen(
    panels: Sequence[Panel], rows: Rows, functions: Callable[[Rows], Functions]
) -> tuple[list[Panel], str]:
    """At most six panels, those along which functions vary most, and a note that says so."""
    if len(panels) <= MOST:
        return list(panels), ""
    rows = rows[evenly_spread(len(rows), RANKED)]
    values = functions(rows)
    changes = [mean_square_change(functions, rows, values, list(panel.inputs)) for panel in panels]
    best = np.argsort(changes)[::-1][:MOST]
    note = f"{MOST} of {len(panels)} columns: those with which functions vary most"
    return [panels[i] for i in best], note


def typical_row(model: Any, panels: Sequence[Panel]) -> Float[np.ndarray, " inputs"]:
    """Means of the numbers, and the most frequent level of each category."""
    row = np.array(model.scaling_.x_mean, np.float64)
    for panel in panels:
        at = list(panel.inputs)
        if panel.kind == "category":
            row[at] = np.arange(len(at)) == row[at].argmax()
        elif panel.kind == "boolean":
            row[at] = row[at].round()
    return row


def rows_in_box(model: Any, panels: Sequence[Panel]) -> Rows:
    """Rows at random that are like the training rows' means and deviations."""
    rng = np.random.default_rng(0)
    mean, std = np.asarray(model.scaling_.x_mean), np.asarray(model.scaling_.x_std)
    rows = np.clip(rng.normal(mean, std, (RANKED, len(mean))), *model.box_)
    for panel in panels:
        if panel.has_levels:
            rows[:, list(panel.inputs)] = panel.inputs_at(
                rng.integers(len(panel.levels), size=RANKED).astype(float)
            )
    return rows


def grid(model: Any, panel: Panel, rows: Rows | None) -> Float[np.ndarray, " points"]:
    """Values to go along: the levels, the most frequent first where not all are shown, or a range.

    The range leaves out outliers; dates and numbers are spaced evenly.
    """
    if panel.has_levels:
        if len(panel.levels) <= MOST_LEVELS or panel.kind != "category":
            return np.arange(float(len(panel.levels)))
        frequent = np.argsort(-np.asarray(model.scaling_.x_mean)[list(panel.inputs)], kind="stable")
        return np.sort(frequent[:MOST_LEVELS]).astype(float)
    at = panel.inputs[0]
    low, high = model.box_[:, at]
    if rows is not None:
        within = without_outliers(rows[:, at])
    else:
        middle, reach = model.scaling_.x_mean[at], SPREAD * model.scaling_.x_std[at]
        within = middle - reach, middle + reach
    if max(low, within[0]) < min(high, within[1]):
        low, high = max(low, within[0]), min(high, within[1])
    return np.linspace(low, high, POINTS)


def without_outliers(values: Float[np.ndarray, " rows"]) -> tuple[float, float]:
    """The range of the values but for a few that lie far away from the others.

    >>> without_outliers(np.array([1.0, 2.0, 3.0, 4.0] * 10 + [1000.0]))
    (1.0, 4.0)
    """
    first, third = np.quantile(values, [0.25, 0.75])
    reach = FENCE * (third - first)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    if reach == 0 or len(inside) < (1 - OUTLIERS) * len(values):
        inside = values
    return float(inside.min()), float(inside.max())


def along(
    row: Float[np.ndarray, " inputs"], panel: Panel, values: Float[np.ndarray, " points"]
) -> Rows:
    """The row at each of a column's values."""
    rows = np.tile(row, (len(values), 1))
    rows[:, list(panel.inputs)] = panel.inputs_at(values)
    return rows


def prior_functions(model: Any) -> Callable[[Rows], Functions]:
    """Some functions of the prior at given rows, in standard units."""
    draw, key = eqx.filter_jit(model.prior_.functions), jax.random.key(0)

    def at(rows: Rows) -> Functions:
        return np.asarray(draw(key, jnp.asarray(model.scaling_.inputs(rows), jnp.float32), 64))

    return at
