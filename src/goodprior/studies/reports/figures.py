"""Pictures that several studies share. Filled marks are ours, hollow ones the paper's."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from goodprior import plots
from goodprior.studies.engine.study import Against
from goodprior.studies.protocols.method_names import LABELS
from goodprior.studies.reports.compare import beside, paired, ranks

STYLES = ("-", "--", ":", "-.", (0, (1, 4)), (0, (8, 2)))
COLUMNS = 4  # panels in a line
LINEAR_BELOW = 1e-3  # where logarithmic axes turn linear
NETWORKS = {"lenet5": "LeNet5", "preresnet20": "PreResNet20", "vgg16": "VGG16"}


def dots(
    rows: pd.DataFrame, against: Sequence[Against], keys: Sequence[str] = ("dataset", "method")
) -> Figure:
    """For each metric a panel per data set, with mean and standard error by method; average ranks.

    The first of the keys has the panels: data sets, or networks.
    """
    tables = [beside(rows, one, keys) for one in against]
    datasets = list(dict.fromkeys(rows[keys[0]]))
    shown = _methods(pd.concat(tables))
    panel = (2.0, 0.8 + 0.25 * len(shown))
    figure, axes = panels(len(datasets) + 1, panel, repeat=len(against))
    for one, table, block in zip(against, tables, axes, strict=True):
        for ax, dataset in zip(block, datasets, strict=False):
            _dot_panel(ax, table[table[keys[0]] == dataset], shown, one.paper_runs(dataset))
            ax.set_title(str(NETWORKS.get(dataset, dataset)), fontsize="small")
        average = ranks(rows, one, keys)
        last, like = block[len(datasets)], "ours" if "ours" in average else "ours_among_all"
        for y, method in enumerate(shown):
            for column, shift in ((like, 0.0), ("paper", 0.25)):
                if column in average:
                    rank = float(average[column].get(method, np.nan))
                    _mark(last, rank, y + shift, 0.0, method, ours=column != "paper")
        title = "average rank\n(paper's methods)" if like == "ours" else "average rank"
        last.set_title(title, fontsize="small")
        errors = "± standard error" if (table["n"] > 1).any() else "one run"
        for i, ax in enumerate(block[: len(datasets) + 1]):
            first = i % COLUMNS == 0
            ax.set_yticks(range(len(shown)), shown if first else [], fontsize="small")
            ax.set_ylim(len(shown) - 0.4, -0.6)
            if first:
                ax.set_ylabel(f"{one.axis}\n{errors}", fontsize="small")
    marks_legend(figure)
    return figure


def by_depth(rows: pd.DataFrame, one: Against, pairs: Sequence[tuple[str, str]]) -> Figure:
    """A panel per data set: paired differences against the hidden layers, with their intervals.

    Over the splits that all depths of a data set have; crosses have not converged.
    """
    datasets = list(dict.fromkeys(rows["dataset"]))
    figure, (axes,) = panels(len(datasets), (2.6, 2.6))
    for ax, dataset in zip(axes, datasets, strict=False):
        part = rows[rows["dataset"] == dataset]
        ax.axhline(0, color="#999999", linewidth=0.8)
        for shift, pair in zip(np.linspace(-0.1, 0.1, len(pairs)), pairs, strict=True):
            both = part[part["method"].isin(pair)]
            jobs = both.groupby(["depth", "method"])["split"].agg(set)
            common = both[both["split"].isin(set.intersection(*jobs))] if len(jobs) else both
            table = paired(common, one, [pair])
            if table.empty:
                continue
            label, colour = str(table["pair"].iloc[0]), _colour(LABELS[pair[0]])
            x = np.log2(table["depth"].to_numpy(float)) + shift
            ends = (table["difference"] - table["low"]).fillna(0)
            mark = plots.MARKS.get(LABELS[pair[0]], "o")
            ax.errorbar(x, table["difference"], ends, color=colour, marker=mark, label=label)
            bad = ~table["converged"].to_numpy(bool)
            ax.plot(x[bad], table["difference"][bad], "kx", markersize=8, label="not converged")
            style: dict[str, Any] = {
                "color": colour,
                "marker": mark,
                "fillstyle": "none",
                "linestyle": ":",
            }
            ax.plot(x + 0.05, table["paper"], label=f"{label}, the paper's", **style)
        depths = sorted(set(part["depth"]))
        ax.set_xticks(np.log2(depths), [str(int(d)) for d in depths])
        ax.set_title(dataset, fontsize="small")
        ax.set_xlabel("hidden layers", fontsize="small")
        ax.tick_params(labelsize="small")
    axes[0].set_ylabel(f"difference in {one.axis}\nwith 95 % interval", fontsize="small")
    common_legend(figure, *axes)
    return figure


def panels(
    count: int, panel: tuple[float, float], repeat: int = 1
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with blocks of so many panels, four in a line."""
    columns = min(COLUMNS, count)
    lines = -(-count // columns)
    figure = plots.new_figure(repeat * lines, columns, panel=panel)
    axes = figure.subplots(repeat * lines, columns, squeeze=False).reshape(repeat, -1)
    for ax in axes[:, count:].ravel():
        ax.set_axis_off()
    return figure, [list(block) for block in axes]


def curves(
    rows: pd.DataFrame,
    column: str,
    by: str,
    *,
    x: str,
    y: str,
    labels: dict[str, str],
    log: bool,
    band: tuple[str, str, str] | None = None,
) -> Figure:
    """A panel per data set: a list-valued column, averaged over splits, a line per `by`.

    `band` names two columns between which to shade, and what that means.
    """
    datasets = list(dict.fromkeys(rows["dataset"]))
    figure, (axes,) = panels(len(datasets), (2.8, 2.9))
    styles = dict(
        zip(labels, cycle(("-", "--", ":", "-.", (0, (1, 4)), (0, (8, 2)))), strict=False)
    )
    palette = dict(zip(labels, cycle(("#cc79a7", "#d55e00", "#0072b2", "#7f7f7f")), strict=False))
    for ax, dataset in zip(axes, datasets, strict=False):
        for name, label in labels.items():
            part = rows[(rows["dataset"] == dataset) & (rows[by] == name)]
            if part.empty:
                continue
            length = min(map(len, part[column]))
            values = np.array([np.asarray(v[:length], float) for v in part[column]])
            at = np.asarray(part[x].iloc[0][:length], float)
            colour = plots.COLOURS.get(label, palette[name])
            ax.plot(at, values.mean(0), color=colour, linestyle=styles[name], label=label)
            if len(values) > 1:
                error = values.std(0, ddof=1) / len(values) ** 0.5
                low, high = values.mean(0) - error, values.mean(0) + error
                ax.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
        if band is not None:
            low, high = rows.loc[rows["dataset"] == dataset, list(band[:2])].mean()
            ax.axhspan(low, high, color="#999999", alpha=0.25, linewidth=0, label=band[2])
        if log:  # an estimate may be below zero
            ax.set_yscale("symlog", linthresh=LINEAR_BELOW, linscale=0.5)
            ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
        ax.set_title(dataset, fontsize="small")
        ax.set_xlabel(x.removeprefix("posterior_").replace("_", " "), fontsize="small")
    for ax in axes[::COLUMNS]:
        ax.set_ylabel(f"{y}\n(linear below {LINEAR_BELOW:g})" if log else y, fontsize="small")
    common_legend(figure, *axes)
    return figure


def common_legend(figure: Figure, *axes: Axes) -> None:
    """One legend below all panels, of what is in these."""
    named: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    names, handles = list(named), list(named.values())
    columns = max(1, int(figure.get_figwidth() / 2.0))
    figure.legend(
        handles,
        names,
        loc="outside lower center",
        ncols=min(columns, len(names) or 1),
        frameon=False,
        fontsize="small",
    )


def _methods(table: pd.DataFrame) -> list[str]:
    found = set(table["method"])
    return [label for label in LABELS.values() if label in found]


def _colour(method: str) -> str:
    return plots.COLOURS.get(method, "#444444")


def _dot_panel(ax: Axes, table: pd.DataFrame, shown: list[str], runs: int) -> None:
    for y, method in enumerate(shown):
        for _, cell in table[table["method"] == method].iterrows():
            error = cell["spread"] / max(cell["n"], 1) ** 0.5
            _mark(ax, cell["ours"], float(y), error, method, ours=True)
            _mark(ax, cell["paper"], y + 0.25, cell["paper_spread"] / runs**0.5, method, ours=False)
    ax.tick_params(labelsize="small")
    ax.locator_params(axis="x", nbins=3)


def _mark(ax: Axes, value: float, y: float, error: float, method: str, *, ours: bool) -> None:
    if not np.isfinite(value):
        return
    ax.errorbar(
        value,
        y,
        xerr=error if np.isfinite(error) else 0.0,
        marker=plots.MARKS.get(method, "o"),
        markersize=5,
        color=_colour(method),
        fillstyle="full" if ours else "none",
        linewidth=1.0,
    )


def marks_legend(figure: Figure) -> None:
    """Which marks are ours, below all panels."""
    grey: dict[str, Any] = {"color": "#444444", "marker": "o", "linestyle": ""}
    handles = [
        Line2D([], [], label="filled: ours", **grey),
        Line2D([], [], label="hollow: the paper's", fillstyle="none", **grey),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
