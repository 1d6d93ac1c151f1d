"""Plots: function draws, the history of a match, predictions with intervals, calibration."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goodprior.evaluation.calibration import P_VALUE, Calibration
from goodprior.evaluation.uniformity import Ranks

# Okabe and Ito's colours, close to the paper's and distinct for colour-blind readers; the paper's
# markers where it has any.
STYLES = {  # of priors and methods: colour and marker
    "GP": ("#000000", "x"),
    "FG": ("#7f7f7f", "o"),
    "FG+TS": ("#56b4e9", "D"),
    "FH": ("#e69f00", "^"),
    "GPi-G": ("#009e73", "s"),
    "GPi-H": ("#d55e00", "*"),
    "GPi-NF": ("#0072b2", "p"),
    "Deep Ensemble": ("#cc79a7", "X"),
    "fBNN": ("#cc79a7", "D"),
    "LA-GGN": ("#e69f00", "v"),
    "LA-MargLik + SGHMC": ("#56b4e9", "<"),
    "FG + LA-GGN": ("#7f7f7f", "v"),
    "GPi-G + LA-GGN": ("#009e73", "v"),
    "Early Stopping": ("#e69f00", "P"),
    "MAP with FG": ("#7f7f7f", ">"),
    "MAP with GPi-G": ("#009e73", ">"),
}
COLOURS = {name: colour for name, (colour, _) in STYLES.items()}
MARKS = {name: marker for name, (_, marker) in STYLES.items()}
CLASS_STYLES = (("#e69f00", "o"), ("#0072b2", "^"))  # of two classes: colour and marker


def new_figure(rows: int, columns: int, *, panel: tuple[float, float] = (3.1, 2.3)) -> Figure:
    """A figure without a window, sized by its panels.

    Parameters
    ----------
    rows, columns
        Of panels; they are not made yet (`figure.subplots`).
    panel
        Width and height of each, in inches.

    Returns
    -------
    Figure
        With constrained layout.

    Examples
    --------
    >>> new_figure(1, 2, panel=(3.0, 2.0)).get_size_inches().tolist()
    [6.0, 2.0]
    """
    size = (panel[0] * columns, panel[1] * rows)
    return Figure(figsize=size, layout="constrained", dpi=130)


def plot_functions(
    axes: Axes, x: np.ndarray, functions: np.ndarray, *, colour: str, n: int = 8
) -> None:
    """Plot some function draws over their pointwise 95 % band.

    Parameters
    ----------
    axes
        Where to plot.
    x
        The points.
    functions
        Draws, of shape (draws, points).
    colour
        Of band and lines.
    n
        How many draws are shown as lines.
    """
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
) -> None:
    """Plot the mean and the interval of the function, with the data.

    Parameters
    ----------
    axes
        Where to plot.
    x
        The points.
    mean, interval
        Of the function at the points; the interval is (low, high).
    data
        Inputs and targets of the training rows.
    colour
        Of band and line.
    truth
        The true function at the points, dotted; None where it is not known.
    """
    axes.fill_between(x, *interval, color=colour, alpha=0.25, linewidth=0)
    axes.plot(x, mean, color=colour, linewidth=1.4)
    if truth is not None:
        axes.plot(x, truth, color="black", linewidth=0.8, linestyle=":")
    axes.plot(*data, "k.", markersize=3)


def plot_history(axes: Axes, distance: np.ndarray, *, colour: str) -> None:
    """Plot the distance at every step of a match.

    Parameters
    ----------
    axes
        Where to plot.
    distance
        One value per step.
    colour
        Of the line.
    """
    axes.plot(np.arange(1, len(distance) + 1), distance, color=colour, linewidth=1.0)
    axes.axhline(0, color="black", linewidth=0.5)
    axes.set_xlabel("step")


def plot_ranks(axes: Axes, ranks: Ranks, *, colour: str, level: float = 0.95) -> None:
    """Plot how far the distribution function of ranks is from that of uniform ones, and its band.

    Parameters
    ----------
    axes
        Where to plot.
    ranks
        Of a test quantity.
    colour
        Of the line.
    level
        How often uniform ranks stay within the band, everywhere.
    """
    band = ranks.band(level)
    at = np.concatenate([[0.0], band.points, [1.0]])
    low, high, found = (
        np.concatenate([[0.0], values - band.points, [0.0]])
        for values in (band.low, band.high, ranks.shares)
    )
    axes.fill_between(at, low, high, color="#7f7f7f", alpha=0.25, linewidth=0)
    axes.axhline(0, color="black", linewidth=0.5)
    axes.plot(at, found, color=colour, linewidth=1.2)
    axes.set_title(f"{ranks.name}: p = {ranks.p_value:.2g}", fontsize=8)


def plot_calibration(calibration: Calibration, *, level: float = 0.95) -> Figure:
    """A panel for each test quantity: ranks are as they should be where the line is in the band.

    Parameters
    ----------
    calibration
        What simulations have come to.
    level
        How often uniform ranks stay within the band, everywhere.

    Examples
    --------
    >>> ranks = np.random.default_rng(0).integers(0, 10, 50)
    >>> figure = plot_calibration(Calibration((Ranks("function", ranks, 9),), 50))
    >>> figure.axes[0].get_title().startswith("function: p = 0.")
    True
    """
    quantities = calibration.quantities
    columns = min(3, len(quantities))
    rows = -(-len(quantities) // columns)
    figure = new_figure(rows, columns)
    panels = np.asarray(figure.subplots(rows, columns, sharex=True)).reshape(-1)
    for axes, ranks in zip(panels, quantities, strict=False):
        right = ranks.p_value * len(quantities) > P_VALUE
        plot_ranks(axes, ranks, colour=COLOURS["GPi-G" if right else "GPi-H"], level=level)
    for axes in panels[len(quantities) :]:
        axes.set_axis_off()
    figure.supxlabel("rank of the truth among draws, as a share", fontsize=8)
    figure.supylabel("share of ranks below, minus that share", fontsize=8)
    return figure


def plot_classes(
    axes: Axes,
    grid: np.ndarray,
    probability: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    *,
    levels: tuple[float, ...],
) -> None:
    """Plot contours of the predictive probability, and the points of two classes.

    Parameters
    ----------
    axes
        Where to plot.
    grid
        Points, of shape (height, width, 2).
    probability
        Of class 1 at each of them.
    X, y
        The training rows and their labels, 0 or 1.
    levels
        Of the contours; that of 0.5, the decision boundary, is drawn thicker.
    """
    for label, (colour, marker) in enumerate(CLASS_STYLES):
        axes.scatter(*X[y == label].T, s=5, color=colour, marker=marker, alpha=0.8, linewidths=0)
    widths = [2.0 if level == 0.5 else 0.8 for level in levels]
    axes.contour(
        grid[..., 0], grid[..., 1], probability, levels=levels, colors="black", linewidths=widths
    )
    axes.set(xticks=[], yticks=[])
