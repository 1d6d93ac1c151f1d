"""Pictures: function draws, the course of a match, predictions with their intervals."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's colours, close to the paper's own and distinct also without colour vision; the
# marks, where there are any, are the paper's.
COLOURS = {
    "GP": "#000000",
    "FG": "#7f7f7f",
    "FG+TS": "#56b4e9",
    "FH": "#e69f00",
    "GPi-G": "#009e73",
    "GPi-H": "#d55e00",
    "GPi-NF": "#0072b2",
    "Deep Ensemble": "#cc79a7",
    "fBNN": "#cc79a7",
    "LA-GGN": "#e69f00",
    "LA-MargLik + SGHMC": "#56b4e9",
    "FG + LA-GGN": "#7f7f7f",
    "GPi-G + LA-GGN": "#009e73",
    "Early Stopping": "#e69f00",
    "MAP with FG": "#7f7f7f",
    "MAP with GPi-G": "#009e73",
}
MARKS = {
    "GP": "x",
    "FG": "o",
    "FG+TS": "D",
    "FH": "^",
    "GPi-G": "s",
    "GPi-H": "*",
    "GPi-NF": "p",
    "Deep Ensemble": "X",
    "fBNN": "D",
    "LA-GGN": "v",
    "LA-MargLik + SGHMC": "<",
    "FG + LA-GGN": "v",
    "GPi-G + LA-GGN": "v",
    "Early Stopping": "P",
    "MAP with FG": ">",
    "MAP with GPi-G": ">",
}
CLASS_STYLES = (("#e69f00", "o"), ("#0072b2", "^"))  # of two classes: colours and marks


def new_figure(rows: int, columns: int, *, panel: tuple[float, float] = (3.1, 2.3)) -> Figure:
    """A figure that belongs to no window system, so that it can be drawn anywhere."""
    size = (panel[0] * columns, panel[1] * rows)
    return Figure(figsize=size, layout="constrained", dpi=130)


def plot_functions(axes: Axes, x: np.ndarray, functions: np.ndarray, *, colour: str, n: int = 8):
    """Some function draws over their 95 % band; `functions` has shape (draws, points)."""
    low, high = np.quantile(functions, [0.025, 0.975], axis=0)
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(x, functions[:n].T, color=colour, linewidth=0.9, alpha=0.8)


def plot_posterior(
    axes: Axes,
    x: np.ndarray,
    mean: np.ndarray,
    interval: np.ndarray,
    data: tuple[np.ndarray, np.ndarray],
    *,
    colour: str,
    truth: np.ndarray | None = None,
):
    """Mean and 95 % interval of the function, with the data, and the truth where it is known."""
    axes.fill_between(x, *interval, color=colour, alpha=0.25, linewidth=0)
    axes.plot(x, mean, color=colour, linewidth=1.4)
    if truth is not None:
        axes.plot(x, truth, color="black", linewidth=0.8, linestyle=":")
    axes.plot(*data, "k.", markersize=3)


def plot_history(axes: Axes, distance: np.ndarray, *, colour: str):
    """The course of a match: the minimised value at every step."""
    axes.plot(np.arange(1, len(distance) + 1), distance, color=colour, linewidth=1.0)
    axes.axhline(0, color="black", linewidth=0.5)
    axes.set_xlabel("step")


def plot_classes(
    axes: Axes,
    grid: np.ndarray,
    probability: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    *,
    levels: tuple[float, ...],
):
    """Boundaries at several levels of confidence, and the points of two classes."""
    for label, (colour, mark) in enumerate(CLASS_STYLES):
        axes.scatter(*X[y == label].T, s=5, color=colour, marker=mark, alpha=0.8, linewidths=0)
    widths = [2.0 if level == 0.5 else 0.8 for level in levels]
    axes.contour(
        grid[..., 0], grid[..., 1], probability, levels=levels, colors="black", linewidths=widths
    )
    axes.set(xticks=[], yticks=[])
