"""What a fitted estimator says of each column: partial dependence and relevance.

Both are computed for every posterior draw of the function, so their intervals are of the
function's uncertainty, without noise.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from sklearn.utils.validation import check_is_fitted

from goodprior import checks
from goodprior.data.splits import evenly_spread
from goodprior.estimators.figures import plot_partial_dependence
from goodprior.estimators.posterior_draws import PosteriorDraws
from goodprior.estimators.relevance import Functions, Relevance, relevance_of, with_values
from goodprior.estimators.validation import column_name, column_numbers

ROWS = 300  # rows over which functions are averaged, at most


class PartialDependence(NamedTuple):
    """The function along one column, averaged over the rows' other columns.

    Parameters
    ----------
    column
        Its name.
    target
        Of a classifier the class whose probability this is; of several targets, which.
    grid
        Values of the column; of a category its levels.
    mean, lower, upper
        Mean over draws and central interval of the averaged function at each of them, in the
        target's units (of a classifier: probabilities).
    level
        How often the interval holds the averaged function.
    """

    column: str
    target: Any
    grid: np.ndarray
    mean: Float[np.ndarray, " points"]
    lower: Float[np.ndarray, " points"]
    upper: Float[np.ndarray, " points"]
    level: float


class Explanations(PosteriorDraws):
    """Questions to a fitted estimator about its columns."""

    classes_: np.ndarray

    @abstractmethod
    def _target_number(self, target: Any) -> int:
        """Which target, or class, is meant."""

    @abstractmethod
    def _target_draws(self, X: np.ndarray, number: int) -> np.ndarray:
        """Draws of one target's function, or of one class's probability: (draws, rows)."""

    def partial_dependence(
        self,
        X: Any,
        column: str | int,
        *,
        target: Any = None,
        points: int = 40,
        level: float = 0.95,
    ) -> PartialDependence:
        """The function along one column, averaged over the other columns of the rows.

        For every posterior draw, the column is set to each value of a grid in all rows and the
        function is averaged over them; the interval is over draws.

        Parameters
        ----------
        X
            Rows that stand for those of interest, such as the training rows. Of more than 300,
            that many are used, evenly spread.
        column
            Name or number.
        target
            A classifier's class (None: the second of two); of several targets, the number of one.
        points
            How many values of the column, evenly spaced over its range in the rows; where it has
            fewer different ones, these are taken.
        level
            Of the interval.

        Returns
        -------
        PartialDependence
            With `grid`, `mean`, `lower` and `upper`.
        """
        rows = self._explained_rows(X)
        numbers = column_numbers(self, column)
        wanted = self._target_number(target)
        level = checks.fraction("level", level)
        points = checks.whole("points", points, least=2)
        if self._is_category(column):
            name, values = str(column), np.eye(len(numbers))
            grid = np.array([column_name(self, n).removeprefix(f"{name}=") for n in numbers])
        else:
            name, grid = column_name(self, numbers[0]), _grid(rows[:, numbers[0]], points)
            values = grid
        each = (self._target_draws(with_values(rows, numbers, value), wanted) for value in values)
        draws = np.stack([values.mean(axis=1) for values in each], axis=1)
        lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        mean = draws.mean(axis=0)
        if self.TASK == "classification":
            target = self.classes_[wanted]
        return PartialDependence(name, target, grid, mean, lower, upper, level)

    def plot_partial_dependence(
        self,
        X: Any,
        columns: Sequence[str | int] | None = None,
        *,
        target: Any = None,
        level: float = 0.95,
    ) -> Figure:
        """A figure of `partial_dependence` along columns, with a mark at each row's value.

        Parameters
        ----------
        X, target, level
            As of `partial_dependence`.
        columns
            Names or numbers (None: the first six that vary).
        """
        check_is_fitted(self, "posterior_")
        return plot_partial_dependence(self, X, columns, target=target, level=level)

    def relevance(
        self,
        X: Any,
        *,
        groups: Mapping[str, Sequence[str | int]] | None = None,
        level: float = 0.95,
        most: int | None = None,
    ) -> list[Relevance]:
        """How much functions vary with each column and over which length, most relevant first.

        Of the posterior functions without noise, over the given rows; of several targets or
        classes, over all of them together. Rows are made by exchanging a column's values among
        them, so where columns depend on each other some are unlike any in the data.

        Parameters
        ----------
        X
            Rows that stand for those of interest, such as the training rows. Of more than 300,
            that many are used, evenly spread.
        groups
            Columns that belong together and are exchanged together, by the group's name, beside
            those of each category of the table that the model was fitted to.
        level
            Of the intervals over posterior draws.
        most
            How many columns (and groups), where there are more: those with which functions vary
            most at a glance, which takes a fraction of the time (None: all).

        Returns
        -------
        list of Relevance
            Each prints as a sentence; `pandas.DataFrame` makes a table of them.
        """
        rows = self._explained_rows(X)
        level = checks.fraction("level", level)
        most = None if most is None else checks.whole("most", most)
        known = {} if self.columns_ is None else self.columns_.groups
        asked = {
            name: [number for column in columns for number in column_numbers(self, column)]
            for name, columns in (groups or {}).items()
        }
        taken = {number for numbers in asked.values() for number in numbers}
        categories = {name: column_numbers(self, name) for name in known}
        together = asked | {n: c for n, c in categories.items() if not taken.intersection(c)}
        grouped = {number for numbers in together.values() for number in numbers}
        alone = {
            column_name(self, number): [number]
            for number in range(rows.shape[1])
            if number not in grouped
        }
        noun = "functions" if self.TASK == "regression" else "logits"
        return relevance_of(self._standard_functions, rows, alone | together, level, noun, most)

    def _is_category(self, column: str | int) -> bool:
        return self.columns_ is not None and column in self.columns_.groups

    def _standard_functions(self, X: np.ndarray) -> Functions:
        """Function draws with an axis of outputs, all on one scale."""
        values = self._functions(X)
        if self.TASK == "regression":
            values = values.reshape(*values.shape[:2], -1) / self.scaling_.y_std
        elif values.shape[-1] > 1:  # one number added to all logits changes no probability
            values = values - values.mean(axis=-1, keepdims=True)
        return values

    def _explained_rows(self, X: Any) -> Float[np.ndarray, "rows columns"]:
        check_is_fitted(self, "posterior_")
        rows = self._check_new(X)
        if rows.ndim != 2:
            raise ValueError("columns are explained of a table, and these rows are images")
        if len(rows) < 2:
            raise ValueError(f"X must have two rows or more to average over, got {len(rows)}")
        return rows[evenly_spread(len(rows), ROWS)]


def _grid(values: Float[np.ndarray, " rows"], points: int) -> Float[np.ndarray, " points"]:
    different = np.unique(values)
    if len(different) <= points:
        return different
    return np.linspace(different[0], different[-1], points)
