"""Parts of a picture along a table's column: its axis, curves, bands, and rows as dots."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import MaxNLocator, ScalarFormatter

CYCLE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
MOST_DOTS = 2000  # more of them hide what is drawn with them
DOTS = "rows"  # marks the dots among the lines of an axis
LONGEST = 12  # letters of a tick's label
WORLD = (  # fonts with letters that matplotlib's own does not have
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans SC", "Noto Sans JP", "Source Han Sans"),
    *("WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Arial Unicode MS", "Microsoft YaHei"),
    *("PingFang SC", "Hiragino Sans", "Yu Gothic", "Malgun Gothic", "Droid Sans Fallback"),
)


@cache
def fonts() -> list[str]:
    """Fonts for names in any script: matplotlib's own, then what there is for other letters.

    >>> fonts()[0]
    'DejaVu Sans'
    """
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return ["DejaVu Sans", *(name for name in WORLD if name in installed)]


def column_axis(
    axes: Axes, values: np.ndarray, levels: Sequence[str] = (), origin: str = ""
) -> np.ndarray:
    """Make the horizontal axis one of numbers, dates or levels; returns where the values stand.

    Parameters
    ----------
    axes
        Where to plot.
    values
        Numbers, days since the origin, or numbers of levels.
    levels
        Names of all levels (none: these are numbers or dates).
    origin
        Of dates.

    Examples
    --------
    >>> from goodprior.plots import new_figure
    >>> axes = new_figure(1, 1).subplots()
    >>> column_axis(axes, np.array([0.0, 2.0]), ["red", "green", "blue"]).tolist()
    [0.0, 1.0]
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['red', 'blue']
    """
    if len(levels):
        names = [_shortened(str(levels[int(value)])) for value in values]
        tilt = {"rotation": 40, "ha": "right"} if sum(map(len, names)) > 22 else {}
        axes.set_xticks(range(len(values)), names, fontsize="small", fontfamily=fonts(), **tilt)
        axes.set_xlim(-0.6, len(values) - 0.4)
        return np.arange(len(values), dtype=float)
    at = dates(values, origin)
    margin = 0.02 * (at[-1] - at[0]) or 0.5
    axes.set_xlim(at[0] - margin, at[-1] + margin)
    if origin:
        locator = AutoDateLocator(minticks=3, maxticks=7)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    else:
        few_ticks(axes)
    return at


def few_ticks(axes: Axes) -> None:
    """At most five ticks on the horizontal axis, with short numbers."""
    axes.xaxis.set_major_locator(MaxNLocator(5))
    formatter = ScalarFormatter()
    formatter.set_powerlimits((-3, 5))
    axes.xaxis.set_major_formatter(formatter)


def dates(days: np.ndarray, origin: str) -> np.ndarray:
    """Days since the origin as matplotlib counts them; without an origin they stay numbers.

    >>> dates(np.array([0.0, 1.5]), "1970-01-02").tolist(), dates(np.ones(1), "").tolist()
    ([1.0, 2.5], [1.0])
    """
    return days + date2num(np.datetime64(origin[:19])) if origin else days


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _on_levels(axes: Axes, x: np.ndarray) -> bool:
    """Whether the axis has levels, between which there is nothing to draw."""
    return len(x) < 12 and np.array_equal(x, np.arange(len(x)))


def band(
    axes: Axes, x: np.ndarray, low: np.ndarray, high: np.ndarray, *, colour: str, alpha: float
) -> None:
    """Fill an interval along the axis; on levels, a bar at each."""
    if _on_levels(axes, x):
        axes.bar(x, high - low, 0.7, low, color=colour, alpha=alpha, linewidth=0, zorder=2)
    else:
        axes.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0, zorder=2)


def curve(axes: Axes, x: np.ndarray, y: np.ndarray, *, colour: str, label: str = "") -> None:
    """Plot a curve above all dots; on levels, a short line at each."""
    if _on_levels(axes, x):
        axes.hlines(y, x - 0.35, x + 0.35, color=colour, linewidth=1.8, label=label, zorder=4)
        return
    edge = [Stroke(linewidth=3.2, foreground="white"), Normal()]
    axes.plot(x, y, color=colour, linewidth=1.6, label=label, zorder=4, path_effects=edge)


def level_functions(
    axes: Axes, x: np.ndarray, functions: np.ndarray, *, colour: str, n: int = 8
) -> None:
    """Plot some function draws at levels as dots over their 95 % intervals."""
    low, high = np.quantile(functions, [0.025, 0.975], axis=0)
    band(axes, x, low, high, colour=colour, alpha=0.15)
    style = {"ms": 4, "alpha": 0.8, "mew": 0}
    for draw, shift in zip(functions[:n], np.linspace(-0.25, 0.25, n), strict=False):
        axes.plot(x + shift, draw, "o", color=colour, **style)


def thinned(rows: int) -> np.ndarray:
    """Numbers of the rows that are drawn: all, or 2,000 at random.

    >>> len(thinned(100)), len(thinned(40_000))
    (100, 2000)
    """
    if rows <= MOST_DOTS:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, MOST_DOTS, replace=False))


def _alpha(count: int) -> float:
    """Many dots are transparent."""
    return float(np.clip(8 / max(count, 1) ** 0.5, 0.12, 0.6))


def dots(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Plot rows as dots behind curves, the more transparent the more they are."""
    style = {"ms": 3, "mew": 0, "alpha": _alpha(len(x)), "zorder": 1.5, "scalex": False}
    axes.plot(x, y, "o", color="black", gid=DOTS, **style)


def marks(axes: Axes, x: np.ndarray, height: float, *, colour: str, **where: Any) -> None:
    """Plot a short line for each row at one height."""
    style = {"ms": 5, "alpha": _alpha(len(x)), "zorder": 3, "scalex": False, "clip_on": True}
    axes.plot(x, np.full(len(x), height), "|", color=colour, **style, **where)


def limit_to(axes: Sequence[Axes], within: tuple[float, float], targets: np.ndarray) -> int:
    """Limit the vertical axis to targets without outliers and what the curves need.

    Returns how many targets lie beyond it; those that are drawn are shown at the edge.
    """
    reach = within[1] - within[0] or 1.0
    needed = np.concatenate([_heights(panel) for panel in axes])
    bottom = max(min(within[0], needed.min()), within[0] - reach) - 0.05 * reach
    top = min(max(within[1], needed.max()), within[1] + reach) + 0.05 * reach
    for panel in axes:
        for line in [line for line in panel.lines if line.get_gid() == DOTS]:
            values = np.asarray(line.get_ydata(), float)
            beyond = (values < bottom) | (values > top)
            at = np.asarray(line.get_xdata(), float)[beyond]
            edge = np.where(values[beyond] > top, 0.98, 0.02)
            where = {"transform": panel.get_xaxis_transform(), "scalex": False}
            panel.plot(at, edge, "d", color="black", ms=4, **where)
            line.set_ydata(np.where(beyond, np.nan, values))
    axes[0].set_ylim(bottom, top)
    return int(((targets < bottom) | (targets > top)).sum())


def _heights(axes: Axes) -> np.ndarray:
    """All heights of curves and bands, but not of dots."""
    found = [np.asarray(line.get_ydata()) for line in axes.lines if line.get_gid() != DOTS]
    found += [
        np.asarray(path.vertices)[:, 1] for each in axes.collections for path in each.get_paths()
    ]
    bars: Any = axes.patches
    found += [np.array([bar.get_y(), bar.get_y() + bar.get_height()]) for bar in bars]
    return np.concatenate([np.ravel(each) for each in found])


def legend_outside(figure: Figure, axes: Axes) -> None:
    """A legend above the panels, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    names = [_shortened(label) for label in labels]
    figure.legend(
        handles,
        names,
        loc="outside upper center",
        ncols=min(len(names), 6),
        prop={"family": fonts(), "size": "small"},
    )
