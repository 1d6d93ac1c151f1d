"""Mixtures from tables such as `{"mixture": ["smooth", "rough"], "weights": [2, 1]}`."""

from collections.abc import Callable, Mapping
from typing import Any

from goodprior import checks
from goodprior.beliefs.mixture import Mixture


def parse_mixture(spec: Mapping[str, Any], parse: Callable[[object], Any]) -> tuple[Mixture, str]:
    """The mixture that a table stands for, and a sentence that says it.

    Parameters
    ----------
    spec
        With `mixture`, a list of specifications, and `weights` or without.
    parse
        From a specification to a `ParsedBelief`.
    """
    specs, weights = spec["mixture"], spec.get("weights", [])
    lists = isinstance(specs, list | tuple) and isinstance(weights, list | tuple)
    if not lists or {*spec} - {"mixture", "weights"}:
        raise ValueError(
            "a mixture is a list of beliefs, with or without as many weights, such as "
            f"{{'mixture': ['smooth', 'rough'], 'weights': [2, 1]}}; got {spec!r}"
        )
    parts = [parse(one) for one in specs]
    shares = tuple(checks.positive("a weight of a mixture", weight) for weight in weights)
    belief = Mixture(tuple(part.belief for part in parts), shares)
    each = zip(belief.shares, parts, strict=True)
    return belief, "By chance " + " Or ".join(f"({share:.0%}) {part}" for share, part in each)
