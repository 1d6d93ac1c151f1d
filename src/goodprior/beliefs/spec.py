"""Beliefs in plain words: presets and small tables in the columns' own units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Literal

import numpy as np

from goodprior import checks
from goodprior.beliefs import (
    KERNELS,
    Belief,
    GaussianProcess,
    HierarchicalGP,
    periodic,
)
from goodprior.data.scaling import Scaling
from goodprior.distributions import LogNormal

Task = Literal["regression", "classification"]
PRESETS = ("smooth", "rough", "periodic")
NOISE = LogNormal(log(0.1), 4.0)  # the noise variance of standardised targets
LEAST_VARIANCE = 1e-4  # a noise that is learned stays above 1 %
_TABLE = ("kernel", "lengthscale", "amplitude", "period")
_MANNERS = {
    "rbf": "smooth",
    "matern52": "fairly smooth",
    "matern32": "rather rough",
    "matern12": "rough",
    "rational_quadratic": "smooth at several lengths",
    "periodic": "periodic",
}


@dataclass(frozen=True)
class ParsedBelief:
    """A belief in standard units, and the sentence that says what was understood."""

    belief: Belief
    sentence: str

    def __repr__(self) -> str:
        return self.sentence


def parse_belief(
    said: object,
    scaling: Scaling,
    names: Sequence[str],
    *,
    task: Task,
    outputs: int,
    images: bool = False,
) -> ParsedBelief:
    """What someone believes, as a belief about standardised inputs and targets.

    `said` is None for the paper's default, a preset (`smooth`, `rough`, `periodic`), a belief
    object (taken as it is, in standard units), or a table: `lengthscale`, a number or one per
    column, in the columns' units; `amplitude`, in the target's; `period` of the only column; and
    `kernel`.

    >>> scaling = Scaling.fit(np.array([[0.0], [20.0]]), np.array([100.0, 300.0]))
    >>> parse_belief({"lengthscale": {"age": 5}, "amplitude": 50}, scaling, ["age"],
    ...            task="regression", outputs=1)
    Smooth functions that vary by about 50, over about 5 in age.
    """
    if images and not isinstance(said, Belief):
        return _about_images(said, task, outputs)
    if said is None or said == "smooth":
        return _preset("rbf", scaling, task, outputs)
    if isinstance(said, str):
        if checks.one_of("belief", said, PRESETS) == "rough":
            return _preset("matern32", scaling, task, outputs)
        return _table({"kernel": "periodic"}, scaling, names, task, outputs)
    if isinstance(said, Mapping):
        return _table(said, scaling, names, task, outputs)
    if not isinstance(said, Belief):
        raise ValueError(
            f"belief must be one of {', '.join(PRESETS)}, a table such as "
            "{'lengthscale': 2.0, 'amplitude': 1.0}, or an object with sample(key, x, n); "
            f"got {said!r}"
        )
    return ParsedBelief(said, f"The belief that was given, in standard units: {said!r}")


def fitted_to_rows(belief: Belief) -> ParsedBelief:
    """A belief that was not said but found in the data."""
    return ParsedBelief(
        belief, f"A Gaussian process fitted to the rows, in standard units: {belief}"
    )


def _about_images(said: object, task: Task, outputs: int) -> ParsedBelief:
    if said is not None or task == "regression":
        raise ValueError(
            "a belief about images is an object with sample(key, x, n); for classes it may also be "
            f"None, for the paper's: got {said!r}"
        )
    return ParsedBelief(
        HierarchicalGP.images(outputs),
        "Smooth logits that vary by about 2.8, over about 512 in the distance of standardised "
        "images, both uncertain by a factor of two.",
    )


def _preset(kernel: str, scaling: Scaling, task: Task, outputs: int) -> ParsedBelief:
    inputs = len(scaling.x_mean)
    default = HierarchicalGP.default(inputs, task, outputs)
    belief = HierarchicalGP(default.lengthscale, default.variance, kernel=kernel, outputs=outputs)
    width = f"about {(2 * inputs) ** 0.5:.2g} standard deviations of each column"
    by = "logits that vary by about 3" if task == "classification" else "functions that vary"
    by += "" if task == "classification" else f" by about {_say(_spread(scaling) * 1.05)}"
    manner = _MANNERS[kernel].capitalize()
    return ParsedBelief(
        belief, f"{manner} {by}, over {width}, both uncertain by a factor of three."
    )


def _table(
    said: Mapping[str, Any], scaling: Scaling, names: Sequence[str], task: Task, outputs: int
) -> ParsedBelief:
    unknown = [name for name in said if name not in _TABLE]
    if unknown:
        raise ValueError(f"a belief's table may have {', '.join(_TABLE)}; got {unknown}")
    kernel = checks.one_of("kernel", said.get("kernel", "rbf"), KERNELS)
    y_unit = _spread(scaling) if task == "regression" else 1.0
    amplitude = checks.positive(
        "amplitude", said.get("amplitude", y_unit if task == "regression" else 8**0.5)
    )
    variance = (amplitude / y_unit) ** 2
    how = f"{'functions' if task == 'regression' else 'logits'} that vary by about "
    how += _say(amplitude)
    if kernel == "periodic":
        return _periodic(said, scaling, names, variance, how, outputs)
    lengths = _lengthscales(said.get("lengthscale"), scaling, names)
    belief = GaussianProcess(KERNELS[kernel](lengths / scaling.x_std, variance), outputs=outputs)
    over = ", ".join(f"{_say(v)} in {n}" for v, n in zip(lengths, names, strict=True))
    if said.get("lengthscale") is None:
        over = f"{(2 * len(names)) ** 0.5:.2g} standard deviations of each column"
    return ParsedBelief(belief, f"{_MANNERS[kernel].capitalize()} {how}, over about {over}.")


def _periodic(
    said: Mapping[str, Any],
    scaling: Scaling,
    names: Sequence[str],
    variance: float,
    how: str,
    outputs: int,
) -> ParsedBelief:
    if len(names) != 1:
        raise ValueError(
            f"a periodic belief is for one column, and there are {len(names)}; for more, give a "
            "belief object with a product of kernels"
        )
    unit = float(scaling.x_std[0])
    if "period" not in said:
        raise ValueError(
            "a periodic belief needs kernel=periodic and a period in the column's units "
            f"({names[0]} has a standard deviation of {_say(unit)})"
        )
    period = checks.positive("period", said["period"])
    if np.ndim(said.get("lengthscale", 1.0)):
        raise ValueError("the lengthscale of a periodic belief is one number, in periods")
    length = checks.positive("lengthscale", said.get("lengthscale", 1.0))
    belief = GaussianProcess(periodic(length, variance, period / unit), outputs=outputs)
    return ParsedBelief(
        belief, f"Periodic {how}, and repeat themselves every {_say(period)} in {names[0]}."
    )


def _lengthscales(said: Any, scaling: Scaling, names: Sequence[str]) -> np.ndarray:
    """One lengthscale per column, in the column's units."""
    usual = (2 * len(names)) ** 0.5 * scaling.x_std
    if said is None:
        return usual
    if isinstance(said, Mapping):
        unknown = [name for name in said if name not in names]
        if unknown:
            raise ValueError(f"lengthscale names {unknown}, but the columns are {list(names)}")
        found = [said.get(name, default) for name, default in zip(names, usual, strict=True)]
    else:
        found = list(said) if np.ndim(said) else [said] * len(names)
        if len(found) != len(names):
            raise ValueError(
                f"lengthscale must be one number, or one for each of the {len(names)} columns"
            )
    each = zip(names, found, strict=True)
    return np.array([checks.positive(f"lengthscale of {name}", value) for name, value in each])


def _spread(scaling: Scaling) -> float:
    return float(np.mean(scaling.y_std))


def _say(value: float) -> str:
    return f"{float(value):.3g}"


def noise_belief(inputs: int, outputs: int) -> GaussianProcess:
    """What is believed about a noise that depends on the inputs.

    It is about the log variance in units of a typical one, and changes over the same lengths as
    the functions.
    """
    kernel = KERNELS["rbf"]((2 * inputs) ** 0.5, NOISE.variance)
    return GaussianProcess(kernel, outputs=outputs)


def belief_from_text(text: str) -> str | dict[str, Any]:
    """Return the preset's name or the table that a text such as `lengthscale.age=10` stands for.

    Parameters
    ----------
    text
        A word, or `NAME=VALUE` parts separated by commas; `lengthscale.COLUMN=VALUE` is the
        lengthscale of one column.

    Returns
    -------
    str | dict
        What `parse_belief` and the estimators take.

    Raises
    ------
    ValueError
        If a part is not understood or given twice.

    Examples
    --------
    >>> belief_from_text("rough")
    'rough'
    >>> belief_from_text("lengthscale.age=10, lengthscale.dose=0.5, kernel=matern32")
    {'lengthscale': {'age': 10.0, 'dose': 0.5}, 'kernel': 'matern32'}
    """
    if "=" not in text:
        return text.strip()
    table: dict[str, Any] = {}
    for part in map(str.strip, text.split(",")):
        name, equals, value = (piece.strip() for piece in part.rpartition("="))
        if not (name and equals and value):
            raise ValueError(f"{part!r} is not NAME=VALUE; {_TEXT_RULE}")
        name, dot, column = name.partition(".")
        number = value if name == "kernel" and not dot else _number_in(part, value)
        place = table
        if dot:
            place = table.setdefault(name, {})
            if name != "lengthscale" or not isinstance(place, dict):
                raise ValueError(
                    f"{part!r}: only lengthscale can be given per column, and then for columns "
                    "alone"
                )
            name = column
        if name in place:
            raise ValueError(f"{name} is given twice")
        place[name] = number
    return table


_TEXT_RULE = (
    'a belief is a word such as smooth, or a table such as "lengthscale.age=10, amplitude=3"'
)


def _number_in(part: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"{part!r} needs a number after the =; {_TEXT_RULE}") from None
