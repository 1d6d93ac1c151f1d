"""Pictures of the studies with images."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from goodprior import plots
from goodprior.studies.engine.study import Against
from goodprior.studies.protocols.method_names import LABELS
from goodprior.studies.reports.figures import NETWORKS


def class_bars(rows: pd.DataFrame) -> Figure:
    """A row per prior: class probabilities of the mean over all draws, and of single draws."""
    shown = [name for name in LABELS if name in set(rows["method"])]
    shown.sort(key=lambda name: name != "gp")  # the belief first
    draws = len(rows["shares"].iloc[0])
    figure = plots.new_figure(len(shown), 1 + draws, panel=(2.3, 1.4))
    axes = figure.subplots(len(shown), 1 + draws, squeeze=False, sharex=True, sharey=True)
    for line, name in zip(axes, shown, strict=True):
        row = rows[rows["method"] == name].iloc[0]
        label = LABELS[name]
        for ax, shares in zip(line, [row["mean_shares"], *row["shares"]], strict=True):
            ax.bar(range(len(shares)), shares, color=plots.COLOURS[label])
            ax.axhline(1 / len(shares), color="black", linewidth=0.5, linestyle=":")
        whose = "GP (belief)" if name == "gp" else label
        line[0].set_ylabel(f"{whose}\nprobability", fontsize="small")
    axes[0, 0].set_title(f"mean of {int(rows['draws'].iloc[0])} draws", fontsize="small")
    for k in range(draws):
        axes[0, 1 + k].set_title(f"draw {k + 1}", fontsize="small")
    for ax in axes[-1]:
        ax.set_xticks(range(10))
        ax.set_xlabel("class", fontsize="small")
    return figure


def boxes(rows: pd.DataFrame, metrics: Sequence[Against]) -> Figure:
    """A row per metric, a column per network: quartiles over corruptions, severity by severity.

    Whiskers end at the least and the largest; at severity 0 stand the clean images.
    """
    networks = list(dict.fromkeys(rows["network"]))
    figure = plots.new_figure(len(metrics), len(networks), panel=(5.5, 2.6))
    axes = figure.subplots(len(metrics), len(networks), squeeze=False)
    shown = _methods(rows)
    wide = 0.8 / len(shown)
    for line, metric in zip(axes, metrics, strict=True):
        for ax, network in zip(line, networks, strict=True):
            for k, name in enumerate(shown):
                part = rows[(rows["network"] == network) & (rows["method"] == name)]
                if part.empty:
                    continue
                off, colour = wide * (k - (len(shown) - 1) / 2), plots.COLOURS[LABELS[name]]
                values = _mean_over_runs(part, f"corrupted_{metric.metric}") * metric.scale
                ax.boxplot(
                    list(values.T),
                    positions=np.arange(1, values.shape[1] + 1) + off,
                    widths=0.8 * wide,
                    whis=(0, 100),
                    patch_artist=True,
                    manage_ticks=False,
                    boxprops={"facecolor": colour, "linewidth": 0.6},
                    medianprops={"color": "black", "linewidth": 0.8},
                    whiskerprops={"linewidth": 0.6},
                    capprops={"linewidth": 0.6},
                )
                clean = metric.scale * part[metric.metric].mean()
                ax.plot([off - wide / 2, off + wide / 2], [clean, clean], color=colour, linewidth=3)
            ax.set_xticks(range(6), ["clean", *map(str, range(1, 6))])
            ax.set_xlabel("severity", fontsize="small")
            ax.set_title(NETWORKS.get(network, network), fontsize="small")
        line[0].set_ylabel(metric.axis, fontsize="small")
    patches = [Patch(color=plots.COLOURS[LABELS[n]], label=LABELS[n]) for n in shown]
    figure.legend(handles=patches, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _methods(rows: pd.DataFrame) -> list[str]:
    return [name for name in LABELS if name in set(rows["method"])]


def _mean_over_runs(rows: pd.DataFrame, column: str) -> np.ndarray:
    return np.mean([np.asarray(value, float) for value in rows[column]], axis=0)
