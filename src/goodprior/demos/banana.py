"""The paper's two-dimensional classification example (section 5.2): what a belief does.

Rows are amplitudes of the belief, columns lengthscales; the last column is the hierarchical belief.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from goodprior import plots
from goodprior.beliefs import Belief, GaussianProcess, HierarchicalGP, rbf
from goodprior.data.registry import data_folder, load
from goodprior.data.scaling import Scaling
from goodprior.demos.data import crescents
from goodprior.inference import SGHMC, Binary, ClassPrediction
from goodprior.matching import Distance
from goodprior.pipeline import NetworkSpec, ObservationModel, Problem, Sampled, fit_posterior
from goodprior.progress import tracking

AMPLITUDES = (1.0, 4.0, 8.0)
LENGTHSCALES = (0.25, 1.0, 4.0)
FROM_PRIOR = partial(Sampled.by, start="prior")
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True)
class Panel:
    """The predictive probability of class 1 on a grid, under one belief."""

    title: str
    probability: Float[np.ndarray, "rows columns"]
    row: dict[str, float | str]


def points_and_labels() -> tuple[np.ndarray, np.ndarray, str]:
    """The banana set where `GOODPRIOR_DATA` has it; two crescents of our own otherwise."""
    if data_folder() is not None:
        banana = load("banana")
        return banana.X, banana.y, "banana"
    X, y = crescents()
    return np.asarray(X), np.asarray(y), "two crescents"


def run(
    *,
    distance: str = "energy",
    seed: int = 0,
    burn_in: int = 2000,
    draws: int = 20,
    thinning: int = 200,
    quiet: bool = False,
) -> tuple[np.ndarray, np.ndarray, list[list[Panel]]]:
    """The posterior of a two-layer network under each belief, row by row of the picture."""
    X, y, _ = points_and_labels()
    table = beliefs()
    count, total, panels = 0, sum(map(len, table)), []
    with tracking("banana", quiet=quiet) as track:
        for i, row in enumerate(table):
            panels.append([])
            for title, belief in row:
                key = jax.random.fold_in(jax.random.key(seed), count)
                panels[i].append(
                    panel(X, y, title, belief, distance, key, (burn_in, draws, thinning))
                )
                count += 1
                track(count, total, title)
    return X, y, panels


def beliefs() -> list[list[tuple[str, Belief]]]:
    """Titles and beliefs, row by row of the picture."""
    table: list[list[tuple[str, Belief]]] = [
        [
            (f"amplitude {a:g}, lengthscale {l:g}", GaussianProcess(rbf(l, a**2)))
            for l in LENGTHSCALES
        ]
        for a in AMPLITUDES
    ]
    hierarchical = HierarchicalGP.default(inputs=2, task="classification")
    table[0].append(("hierarchical belief", hierarchical))
    return table


def panel(
    X: np.ndarray,
    y: np.ndarray,
    title: str,
    belief: Belief,
    distance: str | Distance,
    key: jax.Array,
    lengths: tuple[int, int, int],
    sampled: Callable[[SGHMC], Sampled] = FROM_PRIOR,
) -> Panel:
    """The posterior under one belief."""
    started = time.perf_counter()
    problem = Problem(
        X,
        y,
        ObservationModel(Binary(), 1),
        belief,
        network=NetworkSpec((100, 100)),
        scaling=Scaling.fit(X),
        distance=distance,
        held_out=512,
    )
    burn_in, draws, thinning = lengths
    sampler = SGHMC(burn_in=burn_in, thinning=thinning, batch_size=64)
    fit = fit_posterior(problem, sampled(sampler), chains=4, draws=draws, key=key)
    prediction = fit.posterior.predict(_grid(X).reshape(-1, 2))
    assert isinstance(prediction, ClassPrediction)
    probability = np.asarray(prediction.probabilities[:, 1]).reshape(80, 80)
    after = None if fit.history is None else fit.history.after
    row: dict[str, float | str] = {
        "belief": title,
        "distance to the belief": after.energy_distance if after else float("nan"),
        "boundary length": boundary_length(probability),
        "mean certainty": float(np.abs(2 * probability - 1).mean()),
        "seconds": time.perf_counter() - started,
    }
    return Panel(title, probability, row)


def _grid(X: np.ndarray) -> Float[np.ndarray, "rows columns 2"]:
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.1 * (high - low)
    axes = [np.linspace(low[i] - margin[i], high[i] + margin[i], 80) for i in range(2)]
    return np.stack(np.meshgrid(*axes), axis=-1)


def boundary_length(probability: Float[np.ndarray, "rows columns"]) -> float:
    """How long the boundary at 0.5 is, in widths of the picture: changes of side between cells."""
    side = probability > 0.5
    changes = (side[1:] != side[:-1]).sum() + (side[:, 1:] != side[:, :-1]).sum()
    return float(changes) / len(probability)


def picture(X: np.ndarray, y: np.ndarray, panels: list[list[Panel]]) -> Figure:
    """Decision boundaries at several levels of confidence over the data."""
    rows, columns = len(panels), max(map(len, panels))
    figure = plots.new_figure(rows, columns, panel=(2.7, 2.6))
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    grid = _grid(X)
    for ax in axes.flat:
        ax.set_axis_off()
    for i, row in enumerate(panels):
        for j, panel in enumerate(row):
            ax = axes[i, j]
            ax.set_axis_on()
            plots.plot_classes(ax, grid, panel.probability, X, y, levels=LEVELS)
            ax.set_title(panel.title, fontsize="small")
    _legend(figure)
    return figure


def _legend(figure: Figure) -> None:
    """Classes and lines, below all panels."""
    handles = [
        Line2D([], [], color=colour, marker=mark, linestyle="", label=f"class {label}")
        for label, (colour, mark) in enumerate(plots.CLASS_STYLES)
    ]
    others = ", ".join(str(level) for level in LEVELS if level != 0.5)
    for width, words in ((2.0, "0.5"), (0.8, others)):
        label = f"probability of class 1: {words}"
        handles.append(Line2D([], [], color="black", linewidth=width, label=label))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
