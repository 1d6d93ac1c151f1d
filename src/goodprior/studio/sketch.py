"""Beliefs from sketched curves and imagined rows: hyper-parameters that make them probable."""

from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from goodprior.beliefs import Belief, SumOfTerms, as_terms
from goodprior.beliefs.terms import About, Term
from goodprior.studio import draws
from goodprior.studio.settings import Settings, parse, spec_of
from goodprior.studio.space import Space

PEN = 0.02  # how exact a sketch is, relative to the target's range
CURVE_POINTS = 25
MOST_CURVES = 20
MOST_ROWS = 50
KERNELS = ("rbf", "matern52", "matern32")
WIDTH = 1.5  # of the normal prior on logarithms, around a third of the range and the present
STEP = 0.5  # how far "more like this" goes towards the draw's own best numbers
MOST_STEP = log(1.5)
TRIALS = 400  # draws among which a curve is ranked


class Curve(NamedTuple):
    """Values along a column: rows in standard units, and standardised values."""

    x: np.ndarray
    y: np.ndarray


def read_curve(space: Space, column: str, row: int | None, points: Any) -> Curve:
    """A sketched curve, as pairs of numbers in the units of column and target.

    Raises
    ------
    ValueError
        If it has not at least five points over a tenth of the range.
    """
    rule = "a curve is a list of at least five points, each two numbers"
    try:
        table = np.array(points, np.float64)
    except (TypeError, ValueError):
        raise ValueError(rule) from None
    if table.ndim != 2 or table.shape[1] != 2 or not 5 <= len(table) <= 2000:
        raise ValueError(rule)
    if not np.isfinite(table).all():
        raise ValueError(f"{rule}; some are not finite")
    table = table[np.argsort(table[:, 0], kind="stable")]
    known = space.column(column)
    if np.ptp(table[:, 0]) < 0.1 * (known.high - known.low):
        raise ValueError("the curve is too short: draw over at least a tenth of the range")
    at = np.linspace(table[0, 0], table[-1, 0], CURVE_POINTS)
    rows = np.tile(space.base_row(row), (CURVE_POINTS, 1))
    rows[:, space.number(column)] = at
    y = (np.interp(at, *table.T) - space.scaling.y_mean[0]) / space.scaling.y_std[0]
    return Curve(space.standard(rows), y)


def read_curves(space: Space, column: str, row: int | None, curves: Any) -> list[Curve]:
    """Several sketched curves."""
    if not isinstance(curves, list) or len(curves) > MOST_CURVES:
        raise ValueError(f"curves must be a list of at most {MOST_CURVES}")
    return [read_curve(space, column, row, points) for points in curves]


def fit_curves(
    space: Space,
    settings: Settings,
    column: str,
    curves: Sequence[Curve],
    kernels: Sequence[str] = KERNELS,
) -> Settings:
    """Settings with length, amplitude and smoothness under which the curves are most probable.

    Each curve counts as an independent draw. What is maximised is their likelihood with a weak
    prior on the logarithms of both numbers.

    Parameters
    ----------
    space, settings
        Where to start; all but the column's length, the amplitude and the smoothness is kept.
    column
        Along which the curves go.
    curves
        That could be true.
    kernels
        To choose from.
    """
    if not curves:
        raise ValueError("sketch at least one curve that could be true")
    settings = {**settings, "ignore": [n for n in settings["ignore"] if n != column]}
    noise = pen_noise(space)
    known = space.column(column)
    unit_x, unit_y = known.std, float(space.scaling.y_std[0])
    centre = np.log([(known.high - known.low) / 3 / unit_x, settings["amplitude"][0] / unit_y])
    best = (np.inf, settings)
    for kernel in kernels:
        trial = {**settings, "smoothness": kernel}
        terms = known_terms(parse(spec_of(trial, space), space).belief, len(space.names))
        number = space.number(column)

        def cost(theta: np.ndarray, terms: SumOfTerms = terms, number: int = number) -> float:
            hyper = _hyper(terms, {number: np.exp(theta[0])}, np.exp(theta[1]))
            lines = (draws.log_normal(terms, hyper, c.x, c.y[None], noise)[0] for c in curves)
            return 0.5 * float(np.sum(((theta - centre) / WIDTH) ** 2)) - float(sum(lines))

        bounds = [(centre[0] - 4, centre[0] + 4), (centre[1] - 5, centre[1] + 5)]
        found = optimize.minimize(cost, centre, method="L-BFGS-B", bounds=bounds)
        if found.fun < best[0]:
            length, amplitude = np.exp(found.x) * [unit_x, unit_y]
            best = (float(found.fun), _with(trial, {column: length}, amplitude))
    return best[1]


def move(space: Space, settings: Settings, column: str, curve: Curve, *, more: bool) -> Settings:
    """Settings moved towards the numbers that suit one draw best, or away from them."""
    kernel = settings["smoothness"]
    fitted = fit_curves(space, settings, column, [curve], [kernel])
    sign = STEP if more else -STEP

    def moved(now: float, best: float) -> float:
        return now * float(np.exp(np.clip(sign * log(best / now), -MOST_STEP, MOST_STEP)))

    length = moved(settings["lengthscale"][column][0], fitted["lengthscale"][column][0])
    amplitude = moved(settings["amplitude"][0], fitted["amplitude"][0])
    return _with(settings, {column: length}, amplitude)


def fit_rows(space: Space, settings: Settings, rows: Any) -> tuple[Settings, list[dict[str, Any]]]:
    """Settings that make imagined rows most probable, near the present ones; and what of each row.

    Parameters
    ----------
    space, settings
        Where to start.
    rows
        Tables with `at` (a value for each column of numbers, the median where it is left out),
        `expect` and `give` (or take).
    """
    x, y, give = _read_rows(space, rows)
    columns = [n for n in settings["lengthscale"] if n not in settings["ignore"]]
    numbers = [space.number(name) for name in columns]
    terms = known_terms(parse(spec_of(settings, space), space).belief, len(space.names))
    stds = np.array([space.column(name).std for name in columns])
    unit_y = float(space.scaling.y_std[0])
    lengths = np.array([settings["lengthscale"][name][0] for name in columns])
    centre = np.log(np.r_[lengths / stds, settings["amplitude"][0] / unit_y])

    def cost(theta: np.ndarray) -> float:
        values = np.exp(theta)
        hyper = _hyper(terms, dict(zip(numbers, values, strict=False)), values[-1])
        fit = draws.log_normal(terms, hyper, x, y[None], give)[0]
        return 0.5 * float(np.sum((theta - centre) ** 2)) - float(fit)

    bounds = [(value - 4, value + 4) for value in centre]
    found = np.exp(optimize.minimize(cost, centre, method="L-BFGS-B", bounds=bounds).x)
    lengths = dict(zip(columns, found[:-1] * stds, strict=True))
    fitted = _with(settings, lengths, found[-1] * unit_y)
    return fitted, _judge_rows(space, fitted, x, y, give)


def _judge_rows(
    space: Space, settings: Settings, x: np.ndarray, y: np.ndarray, give: np.ndarray
) -> list[dict[str, Any]]:
    """Where each row's value lies among the belief's draws there."""
    belief = parse(spec_of(settings, space), space).belief
    functions = draws.sample(belief, x, TRIALS)
    functions = functions + give * np.random.default_rng(1).standard_normal(functions.shape)
    below = (functions < y).mean(axis=0)
    return [{"below": float(share)} for share in below]


def _read_rows(space: Space, rows: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not isinstance(rows, list) or not 2 <= len(rows) <= MOST_ROWS:
        raise ValueError(f"imagine from 2 to {MOST_ROWS} rows")
    table, expect, give = [], [], []
    for row in rows:
        values = space.base_row(None).copy()
        for name, value in row["at"].items():
            values[space.number(name)] = _finite(name, value)
        table.append(values)
        expect.append(_finite("the expected value", row["expect"]))
        give.append(_finite("give or take", row["give"]))
    if min(give) <= 0:
        raise ValueError("give or take must be above zero")
    mean, std = space.scaling.y_mean[0], space.scaling.y_std[0]
    return space.standard(np.array(table)), (np.array(expect) - mean) / std, np.array(give) / std


def _finite(what: str, value: Any) -> float:
    good = not isinstance(value, bool) and isinstance(value, int | float)
    if not good or not abs(value) < 1e15:
        raise ValueError(f"{what} must be a number, got {str(value)[:40]!r}")
    return float(value)


def rank(belief: Belief, curve: Curve, noise: float) -> float:
    """The share of the belief's own draws that are less probable than the curve.

    Near 0, the curve is wilder than the belief's draws; near 1, it is tamer.
    """
    functions = draws.sample(belief, curve.x, TRIALS, seed=3)
    values = draws.log_density(belief, curve.x, np.vstack([curve.y, functions]), noise)
    return float(np.mean(values[1:] < values[0]))


def pen_noise(space: Space) -> float:
    """How exact sketches are, in standard units."""
    return PEN * (space.target.high - space.target.low) / float(space.scaling.y_std[0])


def known_terms(belief: Belief, inputs: int) -> SumOfTerms:
    """The belief as a sum of terms, with all hyper-parameters at their medians."""
    terms = as_terms(belief, inputs)
    if terms is None:
        raise ValueError("only the sliders' belief can be fitted")
    known = tuple(
        Term(
            About(term.amplitude.median),
            tuple(f._replace(lengthscale=About(f.lengthscale.median)) for f in term.factors),
            term.times,
        )
        for term in terms.terms
    )
    return SumOfTerms(known, terms.output_scales)


def _hyper(terms: SumOfTerms, lengths: dict[int, float], amplitude: float) -> np.ndarray:
    """Hyper-parameters with other numbers for the first term."""
    main = terms.terms[0]
    values = [amplitude]
    values += [lengths.get(f.column, f.lengthscale.median) for f in main.factors]
    rest = SumOfTerms(terms.terms[1:]) if terms.terms[1:] else None
    if rest is not None:
        values += draws.draw_hyper(rest, 1, np.random.default_rng(0))[0].tolist()
    return np.array(values)


def _with(settings: Settings, lengths: dict[str, float], amplitude: float) -> Settings:
    old = settings["lengthscale"]
    new = {name: [float(f"{value:.4g}"), old[name][1]] for name, value in lengths.items()}
    number = float(f"{amplitude:.4g}")
    return {
        **settings,
        "lengthscale": {**old, **new},
        "amplitude": [number, settings["amplitude"][1]],
    }
