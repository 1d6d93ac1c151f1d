"""What is said about the levels of a category: how alike functions are at two of them.

A category is several columns of zeros and ones, `color=red` and `color=blue`. Two of its levels are
`sqrt(2)` apart, so that one lengthscale of all its columns gives the correlation between functions
at any two levels.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy import optimize

from goodprior.beliefs.context import Context, number
from goodprior.beliefs.kernels import PROFILES

CORRELATIONS = {"similar": 0.9, "unrelated": 0.01}


class Levels(NamedTuple):
    """Lengthscales of the columns of categories, in their own units, and a phrase about them."""

    lengthscales: dict[int, float]
    phrase: str


def parse_levels(spec: Any, context: Context, kernel: str) -> Levels:
    """The lengthscales that stand for what is said about categories.

    Parameters
    ----------
    spec : mapping or None
        For each category `similar`, `unrelated`, or a correlation between 0 and 1.
    context : Context
        Scaling and names.
    kernel : str
        Of the term: `rbf` or a Matern.

    Examples
    --------
    >>> import numpy as np
    >>> from goodprior.data.scaling import Scaling
    >>> names = ["color=blue", "color=red"]
    >>> context = Context(Scaling.fit(np.eye(2), np.arange(2.0)), names, "regression", 1)
    >>> parse_levels({"color": 0.5}, context, "rbf").phrase
    'with a correlation of 0.5 between levels of color'
    """
    if spec is None:
        return Levels({}, "")
    if not isinstance(spec, Mapping):
        raise ValueError(
            "levels must name categories, as in levels.color=similar or "
            f"{{'levels': {{'color': 'similar'}}}}; got {spec!r}"
        )
    if kernel not in PROFILES:
        raise ValueError(f"levels are for the kernels {', '.join(PROFILES)}, not {kernel}")
    lengthscales, phrases = {}, []
    for name, value in spec.items():
        correlation = _correlation(name, value)
        length = _lengthscale(kernel, correlation)
        lengthscales |= dict.fromkeys(_columns(name, context), length)
        word = value if isinstance(value, str) else f"with a correlation of {number(value)}"
        phrases.append(f"{word} between levels of {name}")
    return Levels(lengthscales, ", ".join(phrases))


def _correlation(name: str, value: Any) -> float:
    found = CORRELATIONS.get(value, value) if isinstance(value, str) else value
    if not isinstance(found, int | float | np.number) or not 0 < found < 1:
        raise ValueError(
            f"levels of {name} must be {', '.join(CORRELATIONS)}, or a correlation between 0 and "
            f"1; got {value!r}"
        )
    return float(found)


def _lengthscale(kernel: str, correlation: float) -> float:
    """At which two levels have this correlation."""

    def excess(square: float) -> float:
        return float(PROFILES[kernel](jnp.asarray(square))) - correlation

    square: Any = optimize.brentq(excess, 1e-12, 1e4)
    return (2 / square) ** 0.5


def _columns(name: str, context: Context) -> list[int]:
    names = [str(n) for n in context.names]
    found = [i for i, column in enumerate(names) if column.startswith(f"{name}=")]
    if found:
        return found
    if name in names:
        raise ValueError(
            f"levels names {name!r}, which is a column of numbers: give it a lengthscale instead"
        )
    categories = sorted({column.partition("=")[0] for column in names if "=" in column})
    near = get_close_matches(str(name), categories, 1)
    hint = f"did you mean {near[0]!r}? T" if near else "t"
    raise ValueError(
        f"levels names {name!r}; {hint}he categories are {categories} (columns such as color=red)"
    )
