"""What a comparison found: scores of each fold, a table, a picture and a recommendation."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from goodprior.comparison.differences import Difference, paired_difference
from goodprior.comparison.folds import SCORES
from goodprior.comparison.picture import plot_comparison
from goodprior.comparison.recommendation import recommend
from goodprior.comparison.references import Task
from goodprior.evaluation.diagnostics import MAX_RHAT


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Scores of several models on the same folds.

    Parameters
    ----------
    scores
        A row for each `model` and `fold`: its scores, seconds, R-hat and problem.
    task
        `regression` or `classification`.
    names, references
        The models, and those that only stand beside them.
    folds, rows
        Into how many folds how many rows were divided.
    notes
        What the references are.
    stopped
        Why it ended early (None: it did not).

    Examples
    --------
    >>> scores = pd.DataFrame({"model": ["a", "a", "b", "b"], "fold": [1, 2, 1, 2],
    ...     "rmse": [1.0, 1.2, 2.0, 2.2], "nll": [1.4, 1.5, 2.4, 2.5], "crps": [0.6, 0.7, 1.1, 1.2],
    ...     "coverage_95": 0.95, "seconds": 1.0, "rhat": None, "sampled": False, "stopped": None,
    ...     "problem": None})
    >>> found = ModelComparison(scores, "regression", ("a", "b"), (), 2, 100, ())
    >>> found.best, float(found.table.loc["a", "rmse"])
    ('a', 1.1)
    >>> print(found.recommendation.splitlines()[0])
    Take a: NLL 1.45 per row, the lowest, and no interval of a difference covers 0.
    """

    scores: pd.DataFrame
    task: Task
    names: tuple[str, ...]
    references: tuple[str, ...]
    folds: int
    rows: int
    notes: tuple[str, ...]
    stopped: str | None = None

    @cached_property
    def shared_folds(self) -> list[int]:
        """The folds that count: those that all models have which have any."""
        good = self.scores[self.scores["problem"].isna()]
        each = [set(part["fold"]) for _, part in good.groupby("model")]
        return sorted(set.intersection(*each)) if each else []

    @cached_property
    def table(self) -> pd.DataFrame:
        """Means over the shared folds for each model, best first, the references below."""
        good = self.scores[self.scores["problem"].isna()]
        shared = good[good["fold"].isin(self.shared_folds)]
        lines: list[dict[str, Any]] = []
        for name in (*self.names, *self.references):
            rows = shared[shared["model"] == name]
            if not len(rows):
                continue
            line: dict[str, Any] = {"model": name}
            line |= {score: float(rows[score].astype(float).mean()) for score in SCORES[self.task]}
            line |= {"seconds": float(rows["seconds"].mean()), "rhat": _worst(rows["rhat"])}
            line |= {"converged": self._converged(name), "folds": len(rows)}
            lines.append(line | {"reference": name in self.references})
        names = ["model", *SCORES[self.task], "seconds", "rhat", "converged", "folds", "reference"]
        found = pd.DataFrame(lines, columns=names).sort_values(["reference", "nll"], kind="stable")
        return found.drop(columns="reference").set_index("model")

    @cached_property
    def not_converged(self) -> tuple[str, ...]:
        """Models with chains whose R-hat is too high, or unknown, in some fold."""
        return tuple(name for name in self.names if self._converged(name) == "no")

    @property
    def trusted(self) -> tuple[str, ...]:
        """The models that can be recommended: converged, and without a failure, best first."""
        failed = set(self.scores.loc[self.scores["problem"].notna(), "model"])
        out = {*self.not_converged, *failed, *self.references}
        return tuple(name for name in self.table.index if name not in out)

    @property
    def best(self) -> str | None:
        """The trusted model with the lowest negative log density, which may be so by chance."""
        return self.trusted[0] if self.trusted else None

    def difference(self, first: str, second: str, score: str = "nll") -> Difference:
        """The second model's score minus the first's, paired over folds.

        Parameters
        ----------
        first, second
            Names of models.
        score
            A column of `scores`.
        """
        shared = self.scores[self.scores["fold"].isin(self.shared_folds)]
        return paired_difference(shared, score, first, second, self.folds)

    @property
    def differences(self) -> list[Difference]:
        """The negative log density of each other model minus that of the best."""
        if self.best is None:
            return []
        return [self.difference(self.best, name) for name in self.table.index if name != self.best]

    @property
    def recommendation(self) -> str:
        """Which model to take, and how sure that is."""
        return recommend(self)

    def plot(self) -> Figure:
        """A figure: differences to the best with intervals, and scores of each fold."""
        return plot_comparison(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dicts, lists, text and numbers, for JSON."""
        scores = self.scores.astype(object).where(self.scores.notna(), None)
        return {
            "task": self.task,
            "rows": self.rows,
            "folds": self.folds,
            "table": self.table.reset_index().to_dict("records"),
            "scores": scores.to_dict("records"),
            "differences": [d._asdict() | {"decided": d.decided} for d in self.differences],
            "best": self.best,
            "recommendation": self.recommendation,
            "notes": list(self.notes),
            "stopped": self.stopped,
        }

    def __str__(self) -> str:
        shown = self.table.assign(rhat=self.table["rhat"].map("{:.2f}".format)).map(_cell)
        shown["rhat"] = shown["rhat"].replace("nan", "")
        return "\n".join([shown.to_string(), *self.notes, "", self.recommendation])

    def _converged(self, name: str) -> str:
        """yes or no; nothing for what has no chains."""
        rows = self.scores[(self.scores["model"] == name) & self.scores["problem"].isna()]
        rows = rows[rows["sampled"].astype(bool)]
        if not len(rows):
            return ""
        return "yes" if bool((rows["rhat"].astype(float) <= MAX_RHAT).all()) else "no"


def _worst(rhat: "pd.Series[Any]") -> float:
    return float(rhat.astype(float).max()) if rhat.notna().any() else np.nan


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)
