"""What a specification of a belief is read with, and how its numbers are read and written."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from math import inf, log
from typing import Any, Literal, NamedTuple

import numpy as np

from goodprior import checks
from goodprior.beliefs.terms import About
from goodprior.data.scaling import Scaling

PERIODS = {"day": 1.0, "week": 7.0, "month": 30.4375, "quarter": 91.3125, "year": 365.25}  # days

Task = Literal["regression", "classification"]


class Context(NamedTuple):
    """What a specification is read with."""

    scaling: Scaling
    names: Sequence[str]
    task: Task
    outputs: int
    dates: Collection[str] = ()  # names of columns that are dates, in days

    @property
    def noun(self) -> str:
        """What the belief is about."""
        return "functions" if self.task == "regression" else "logits"

    @property
    def target_stds(self) -> np.ndarray:
        """What amplitudes are divided by; logits have no units."""
        known = self.scaling.y_std if self.task == "regression" else np.ones(1)
        return np.broadcast_to(known, self.outputs) if len(known) == 1 else np.asarray(known)

    @property
    def target_std(self) -> float:
        """The mean of them."""
        return float(np.mean(self.target_stds))

    def column(self, name: str, what: str) -> int:
        """The number of a column; an unknown one is an error that names the nearest."""
        found = self.columns(name, what)
        if len(found) > 1:
            levels = [self.names[i] for i in found]
            raise ValueError(f"{what} names the category {name!r}: name one of its levels {levels}")
        return found[0]

    def columns(self, name: str, what: str) -> list[int]:
        """The number of a column, or of all levels of a category: `color=blue`, `color=red`."""
        if name in self.names:
            return [list(self.names).index(name)]
        levels = [i for i, each in enumerate(self.names) if str(each).startswith(f"{name}=")]
        if levels:
            return levels
        near = get_close_matches(str(name), [str(n) for n in self.names], 1)
        hint = f"did you mean {near[0]!r}? T" if near else "t"
        raise ValueError(f"{what} names {name!r}; {hint}he columns are {list(self.names)}")

    def period(self, value: Any, column: int) -> float:
        """A period in the column's units; a word such as `year` where the column is dates."""
        if not isinstance(value, str):
            return checks.positive("period", value)
        name = self.names[column]
        if value not in PERIODS:
            raise ValueError(
                f"period of {name} must be a number or one of {', '.join(PERIODS)}; got {value!r}"
            )
        if name not in self.dates:
            raise ValueError(
                f"period of {name} is {value!r}, which is for columns of dates, and {name} has "
                "numbers: give the period as a number in its units"
            )
        return PERIODS[value]


def about(name: str, value: Any) -> About:
    """A number, or one with an uncertainty: `"40 x/ 2"` is 40, give or take a factor of 2."""
    if not isinstance(value, str):
        return About(positive(name, value))
    middle, _, factor = (part.strip() for part in value.partition("x/"))
    try:
        numbers = float(middle), float(factor)
    except ValueError:
        raise ValueError(
            f"{name} must be a number, or a text such as '40 x/ 2' (40, give or take a factor of "
            f"2); got {value!r}"
        ) from None
    if not 1 < numbers[1] < inf:
        raise ValueError(f"the factor of {name} must be above 1, got {value!r}")
    return About(positive(name, numbers[0]), log(numbers[1]))


def positive(name: str, value: Any) -> float:
    """A number whose square single precision still holds, nearly whatever it is divided by."""
    number = checks.positive(name, value)
    if not 1e-30 < number < 1e30:
        raise ValueError(f"{name} must lie between 1e-30 and 1e30, got {value!r}")
    return number


def number(value: float) -> str:
    """Three digits."""
    return f"{float(value):.3g}"


def default_length(inputs: int) -> float:
    """The paper's typical lengthscale, in standard deviations."""
    return (2 * inputs) ** 0.5


def in_words(value: About, several: np.ndarray | None = None) -> str:
    """A number with its uncertainty, or one for each target."""
    if several is not None:
        return ", ".join(map(number, several))
    factor = f" (give or take a factor of {np.exp(value.log_std):.3g})" if value.log_std else ""
    return f"{number(value.median)}{factor}"
