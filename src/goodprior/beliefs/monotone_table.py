"""Monotone beliefs from a table in the columns' own units."""

from collections.abc import Mapping
from typing import Any

from goodprior import checks
from goodprior.beliefs.context import Context
from goodprior.beliefs.table import ParsedTerm, parse_term

DIRECTIONS = ("increasing", "decreasing")


def parse_monotone(spec: Mapping[str, Any], context: Context) -> tuple[ParsedTerm, int, bool]:
    """The term, the column along which functions are monotone, and whether they fall.

    Parameters
    ----------
    spec : mapping
        A table with `monotone`: a column, or one with `increasing` or `decreasing`.
    context : Context
        Scaling and names.
    """
    name, falling = _direction(spec["monotone"])
    column = context.column(name, "monotone")
    if context.task == "classification" and context.outputs > 1:
        raise ValueError(
            f"monotone is for numbers and two classes; there are {context.outputs} logits, and "
            "those of several classes cannot all rise"
        )
    found = parse_term({key: value for key, value in spec.items() if key != "monotone"}, context)
    term, *more = found.terms
    certain = not (term.amplitude.log_std or any(f.lengthscale.log_std for f in term.factors))
    if found.kernel != "rbf" or more or not certain:
        raise ValueError(
            "a monotone belief is smooth (kernel rbf), with known amplitude and lengthscales: "
            f"leave kernel, smoothness and 'x/' out; got {dict(spec)!r}"
        )
    if column not in [factor.column for factor in term.factors]:
        raise ValueError(f"monotone names {name!r}, which is ignored: leave one of them out")
    phrase = f"{found.phrase}, only {'falling' if falling else 'rising'} with {name}"
    return found._replace(phrase=phrase), column, falling


def _direction(given: Any) -> tuple[str, bool]:
    named = {given: DIRECTIONS[0]} if isinstance(given, str) else given
    if not isinstance(named, Mapping) or len(named) != 1:
        raise ValueError(
            "monotone must name one column, as in monotone.age=increasing or "
            f"{{'monotone': {{'age': 'increasing'}}}}; got {given!r}"
        )
    ((name, direction),) = named.items()
    checks.one_of(f"monotone in {name}", direction, DIRECTIONS)
    return name, direction == DIRECTIONS[1]
