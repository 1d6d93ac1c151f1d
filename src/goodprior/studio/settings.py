"""The page's sliders as a belief's table, and back."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from goodprior.beliefs.context import about
from goodprior.beliefs.spec import ParsedBelief, parse_belief
from goodprior.beliefs.terms import SMOOTHNESS
from goodprior.studio.space import Space

Settings = dict[str, Any]
MOST_FACTOR = 10.0


def default_settings(space: Space) -> Settings:
    """Smooth functions that vary over a third of each column's range, as much as the target."""
    amplitude = float(space.scaling.y_std[0])
    numbers = [column for column in space.columns if column.kind != "category"]
    return {
        "amplitude": [_round(amplitude), 1.0],
        "smoothness": "rbf",
        "lengthscale": {c.name: [_round((c.high - c.low) / 3), 1.0] for c in numbers},
        "ignore": [],
        "trend": None,
        "season": None,
        "noise": None,
    }


def spec_of(settings: Any, space: Space) -> dict[str, Any] | list[Any]:
    """The belief's table, or the sum of tables, that the sliders stand for.

    Parameters
    ----------
    settings
        `amplitude` and `lengthscale` (by column) as pairs of a number and the factor by which it is
        uncertain; `smoothness`, a kernel; `ignore`, columns; `trend`, an amplitude or None;
        `season`, a table with column, period and amplitude, or None.
    space
        The columns.
    """
    if not isinstance(settings, Mapping):
        raise ValueError("the settings must be a table")
    smoothness = settings.get("smoothness", "rbf")
    if smoothness not in SMOOTHNESS:
        raise ValueError(f"smoothness must be one of {', '.join(SMOOTHNESS)}")
    ignored = [space.column(name).name for name in settings.get("ignore") or []]
    lengths = {
        name: _about(f"the length of {name}", pair)
        for name, pair in (settings.get("lengthscale") or {}).items()
        if space.number(name) >= 0 and name not in ignored
    }
    spec: dict[str, Any] = {"kernel": smoothness}
    spec["amplitude"] = _about("the amplitude", settings.get("amplitude"))
    if lengths:
        spec["lengthscale"] = lengths
    left_out = {"ignore": space.inputs_of(ignored)} if ignored else {}
    terms = [spec | left_out]
    if (trend := settings.get("trend")) is not None:
        amplitude = _positive("the trend", trend)
        terms.append({"kernel": "linear", "amplitude": amplitude, **left_out})
    if (season := settings.get("season")) is not None:
        column = space.names[space.number(season.get("column"))]
        period = {column: _positive("the period", season.get("period"))}
        amplitude = _positive("the season's amplitude", season.get("amplitude"))
        terms.append({"kernel": "periodic", "period": period, "amplitude": amplitude})
    return terms if len(terms) > 1 else terms[0]


def settings_of(spec: Any, space: Space) -> Settings | None:
    """The sliders that stand for a belief, or None if they cannot."""
    terms = spec if isinstance(spec, list) else [spec]
    found = default_settings(space)
    kinds = [term.get("kernel", "rbf") if isinstance(term, Mapping) else None for term in terms]
    if (
        not kinds
        or kinds[0] not in SMOOTHNESS
        or sorted({*kinds[1:]}, key=str) != sorted(kinds[1:], key=str)
    ):
        return None
    main = terms[0]
    if {*main} - {"kernel", "amplitude", "lengthscale", "ignore"}:
        return None
    try:
        found["smoothness"] = kinds[0]
        if "amplitude" in main:
            found["amplitude"] = _pair(main["amplitude"])
        given = main.get("lengthscale") or {}
        if not isinstance(given, Mapping):
            return None
        found["lengthscale"] |= {name: _pair(value) for name, value in given.items()}
        ignored = main.get("ignore") or []
        ignored = [ignored] if isinstance(ignored, str) else ignored
        found["ignore"] = [c.name for c in space.columns if {*c.inputs} <= {*ignored}]
        for term, kind in zip(terms[1:], kinds[1:], strict=True):
            if kind == "linear":
                found["trend"] = _pair(term["amplitude"])[0]
            elif kind == "periodic":
                ((column, period),) = term["period"].items()
                amplitude = _pair(term["amplitude"])[0]
                found["season"] = {"column": column, "period": period, "amplitude": amplitude}
            else:
                return None
        spec_of(found, space)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return found


def parse(spec: Any, space: Space) -> ParsedBelief:
    """The belief in standard units, with its sentence."""
    return parse_belief(spec, space.scaling, space.names, task="regression", outputs=1)


def noise_of(settings: Any) -> float | None:
    """The noise in the target's units (None: it is learned)."""
    noise = settings.get("noise") if isinstance(settings, Mapping) else None
    return None if noise is None else _positive("the noise", noise)


def _pair(value: Any) -> list[float]:
    found = about("value", value)
    factor = float(str(value).partition("x/")[2]) if found.log_std else 1.0
    return [found.median, factor]


def _about(what: str, pair: Any) -> float | str:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise ValueError(f"{what} must be a number and a factor, got {str(pair)[:60]}")
    value, factor = _positive(what, pair[0]), _positive(f"the factor of {what}", pair[1])
    if not 1 <= factor <= MOST_FACTOR:
        raise ValueError(f"the factor of {what} must lie between 1 and {MOST_FACTOR:g}")
    return value if factor < 1.005 else f"{value:g} x/ {factor:.3g}"


def _positive(what: str, value: Any) -> float:
    good = not isinstance(value, bool) and isinstance(value, int | float) and isfinite(value)
    if not good or not 0 < value < 1e15:
        raise ValueError(f"{what} must be a number above zero, got {str(value)[:60]!r}")
    return _round(float(value))


def _round(value: float) -> float:
    """Four digits: what a slider can say."""
    return float(f"{value:.4g}")
