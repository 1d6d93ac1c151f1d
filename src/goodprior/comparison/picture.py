"""The picture of a comparison."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goodprior import plots

if TYPE_CHECKING:
    from goodprior.comparison.result import ModelComparison

OURS, REFERENCE = "#009e73", "#7f7f7f"
TITLES = {
    "rmse": "RMSE",
    "coverage_95": "coverage of 95 % intervals",
    "accuracy": "accuracy",
    "ece": "calibration error",
}
PANELS = {"regression": ("rmse", "coverage_95"), "classification": ("accuracy", "ece")}


def plot_comparison(comparison: "ModelComparison") -> Figure:
    """Differences of the log score with their intervals; other scores fold by fold."""
    names = list(comparison.table.index)
    width = 1 + len(PANELS[comparison.task])
    figure = plots.new_figure(1, width, panel=(3.4, 1.0 + 0.35 * max(len(names), 2)))
    axes = figure.subplots(1, width, squeeze=False, sharey=True)[0]
    _plot_differences(axes[0], comparison, names)
    for axis, score in zip(axes[1:], PANELS[comparison.task], strict=True):
        _plot_folds(axis, comparison, names, score)
        axis.set_title(TITLES[score], fontsize="medium")
    if "coverage_95" in PANELS[comparison.task]:
        axes[-1].axvline(0.95, color="black", lw=0.8, ls=":")
    labels = [f"{n} (not converged)" if n in comparison.not_converged else n for n in names]
    axes[0].set_yticks(range(len(names)), labels)
    axes[0].invert_yaxis()
    return figure


def _style(comparison: "ModelComparison", name: str) -> dict[str, Any]:
    """Hollow where chains did not converge, grey for references."""
    colour = REFERENCE if name in comparison.references else OURS
    hollow = name in comparison.not_converged
    return {"color": colour, "markerfacecolor": "white" if hollow else colour}


def _plot_differences(axis: Axes, comparison: "ModelComparison", names: list[str]) -> None:
    best = comparison.best
    axis.axvline(0, color="black", lw=0.8, ls=":")
    score = "NLL" if comparison.task == "regression" else "log loss"
    if best is None:
        axis.set_title(f"{score}: nothing to compare with", fontsize="medium")
        return
    axis.plot(0, names.index(best), "o", **_style(comparison, best))
    for each in comparison.differences:
        if not each.folds:
            continue
        at, style = names.index(each.second), _style(comparison, each.second)
        if np.isfinite(each.low):
            axis.plot([each.low, each.high], [at, at], "-", color=style["color"])
        axis.plot(each.mean, at, "o", **style)
    axis.set_title(
        f"{score} minus that of {best}\n95 % intervals, less is better", fontsize="medium"
    )


def _plot_folds(axis: Axes, comparison: "ModelComparison", names: list[str], score: str) -> None:
    rows = comparison.scores[comparison.scores["fold"].isin(comparison.shared_folds)]
    for at, name in enumerate(names):
        values = rows.loc[rows["model"] == name, score].astype(float).to_numpy()
        style = _style(comparison, name)
        axis.plot(values, np.full(len(values), at), ".", color=style["color"], alpha=0.35, ms=5)
        mean: Any = comparison.table.loc[name, score]
        axis.plot(mean, at, "o", **style)
