"""Mean ranks of methods over data sets, and the critical-difference diagram (Demsar, 2006)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

METRICS = ("rmse", "nll", "nll_moment", "crps")


def complete(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Means over splits, data sets by methods: the data sets that every method has finished.

    A method that has no result on most of the data sets is left out, so that one slow method does
    not take the others' data sets away.

    Parameters
    ----------
    rows
        With the columns `data`, `split`, `method` and the metric.
    metric
        Its column.
    """
    wide = rows.pivot_table(index="data", columns="method", values=metric, aggfunc="mean")
    common = wide.notna().sum() >= 0.5 * len(wide)
    return wide.loc[:, common].dropna()


def mean_ranks(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean ranks by method and metric; 1 is best.

    Parameters
    ----------
    rows
        With the columns `data`, `split`, `method` and the metrics.

    Examples
    --------
    >>> rows = pd.DataFrame({"data": ["a", "a", "b", "b"], "split": 0, "method": ["x", "y"] * 2,
    ...                      "rmse": [1, 2, 1, 2], "nll": [1, 2, 2, 1]})
    >>> mean_ranks(rows)["nll"].tolist()
    [1.5, 1.5]
    """
    found = {}
    tables = 0
    for metric in (m for m in METRICS if m in rows):
        wide = complete(rows, metric)
        found[metric] = wide.rank(axis=1).mean()
        tables = len(wide)
    ranks = pd.DataFrame(found)
    ranks = ranks.sort_values("nll" if "nll" in ranks else ranks.columns[0])
    ranks.attrs["tables"] = tables
    return ranks


def critical_difference(methods: int, sets: int, level: float = 0.05) -> float:
    """How far mean ranks must be apart to differ, by the test of Nemenyi.

    Parameters
    ----------
    methods, sets
        How many there are.
    level
        Of the test.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demsar (2006), his example
    1.25
    """
    quantile = stats.studentized_range.ppf(1 - level, methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6 * sets)))


def groups(ranks: np.ndarray, distance: float) -> list[tuple[float, float]]:
    """Stretches of ranks that lie within the critical difference, the longest ones.

    Parameters
    ----------
    ranks
        Mean ranks.
    distance
        The critical difference.

    Examples
    --------
    >>> groups(np.array([1.0, 1.5, 2.0, 4.0]), 1.0)
    [(1.0, 2.0)]
    """
    ordered = np.sort(ranks)
    found: list[tuple[float, float]] = []
    for low in ordered:
        high = ordered[ordered <= low + distance].max()
        if high > low and not (found and high <= found[-1][1]):
            found.append((float(low), float(high)))
    return found


def diagram(rows: pd.DataFrame, metrics: tuple[str, ...] = ("nll", "rmse", "crps")) -> Figure:
    """One axis of mean ranks for each metric, with bars over methods that do not differ.

    Parameters
    ----------
    rows
        With the columns `data`, `split`, `method` and the metrics.
    metrics
        Which.
    """
    metrics = tuple(metric for metric in metrics if metric in rows)
    methods = rows.method.nunique()
    height = 1.0 + 0.2 * methods
    figure = Figure(figsize=(7, height * len(metrics)), layout="constrained")
    axes = figure.subplots(len(metrics), 1, squeeze=False)[:, 0]
    for ax, metric in zip(axes, metrics, strict=True):
        wide = complete(rows, metric)
        _draw(ax, wide.rank(axis=1).mean().sort_values(), len(wide), metric)
    return figure


def _draw(ax: Any, ranks: pd.Series, sets: int, metric: str) -> None:
    methods = len(ranks)
    beside = 0.27 * methods  # labels stand outside of all ranks
    limits = {"xlim": (0.4 - beside, methods + 0.6 + beside), "ylim": (-1.2 - 0.45 * methods, 1.2)}
    ax.set(**limits, yticks=[])
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.xaxis.tick_top()
    ax.set_xticks(range(1, methods + 1))
    half = (methods + 1) // 2
    for i, (name, rank) in enumerate(ranks.items()):
        left = i < half
        depth = -1.0 - 0.8 * (i if left else methods - 1 - i)
        edge = 0.7 if left else methods + 0.3
        ax.plot([rank, rank, edge], [1.2, depth, depth], color="0.2", lw=1)
        label = f"{name} ({rank:.1f})"
        ax.annotate(
            label, (edge, depth), (-4 if left else 4, 0), textcoords="offset points",
            va="center", ha="right" if left else "left", fontsize=8,
        )  # fmt: skip
    title = f"{metric}: mean rank over {sets} tables (1 is best)"
    if methods > 1 and sets > 1:
        distance = critical_difference(methods, sets)
        for i, (low, high) in enumerate(groups(ranks.to_numpy(), distance)):
            ax.plot([low - 0.05, high + 0.05], [0.7 - 0.35 * i] * 2, color="C0", lw=4, alpha=0.8)
        title += f"; critical difference {distance:.2f}"
    ax.set_title(title, fontsize=9)
