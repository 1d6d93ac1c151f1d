"""Beliefs from words and small tables in the columns' own units, and back to a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from goodprior import checks
from goodprior.beliefs.base import Belief
from goodprior.beliefs.gaussian_process import GaussianProcess
from goodprior.beliefs.hierarchical import HierarchicalGP
from goodprior.beliefs.kernels import KERNELS, periodic
from goodprior.data.scaling import Scaling

Task = Literal["regression", "classification"]
PRESETS = ("smooth", "rough", "periodic")
FIELDS = ("kernel", "lengthscale", "amplitude", "period")  # of a table
_ADJECTIVES = {
    "rbf": "Smooth",
    "matern52": "Fairly smooth",
    "matern32": "Rather rough",
    "matern12": "Rough",
    "rational_quadratic": "Smooth at several lengths",
    "periodic": "Periodic",
}


@dataclass(frozen=True)
class ParsedBelief:
    """A belief in standard units, and a sentence that says what it means in the user's.

    Attributes
    ----------
    belief : Belief
        About standardised inputs and targets.
    sentence : str
        What functions are like, in the units of the columns and the target.
    """

    belief: Belief
    sentence: str

    def __repr__(self) -> str:
        return self.sentence


class _Context(NamedTuple):
    """What a specification is read with."""

    scaling: Scaling
    names: Sequence[str]
    task: Task
    outputs: int

    @property
    def noun(self) -> str:
        return "functions" if self.task == "regression" else "logits"

    @property
    def target_std(self) -> float:
        """What an amplitude is divided by; logits have no units."""
        return float(np.mean(self.scaling.y_std)) if self.task == "regression" else 1.0


def parse_belief(
    spec: object,
    scaling: Scaling,
    names: Sequence[str],
    *,
    task: Task,
    outputs: int,
    images: bool = False,
) -> ParsedBelief:
    """The belief about standardised inputs and targets that a specification stands for.

    Parameters
    ----------
    spec : None, str, mapping or Belief
        None for the paper's default; a preset (`smooth`, `rough`, `periodic`); a belief object,
        taken as it is, in standard units; or a table of `lengthscale` (a number, or one per column,
        in the columns' units), `amplitude` (in the target's), `period` (of the only column) and
        `kernel`.
    scaling : Scaling
        Means and standard deviations of the columns and the target.
    names : sequence of str
        The columns' names.
    task : str
        `regression` or `classification`.
    outputs : int
        Of the network.
    images : bool
        Whether rows are images, about which only None and objects say anything.

    Returns
    -------
    ParsedBelief
        The belief, and what it means in a sentence.

    Raises
    ------
    ValueError
        If the specification is none of these.

    Examples
    --------
    >>> scaling = Scaling.fit(np.array([[0.0], [20.0]]), np.array([100.0, 300.0]))
    >>> parse_belief({"lengthscale": {"age": 5}, "amplitude": 50}, scaling, ["age"],
    ...              task="regression", outputs=1)
    Smooth functions that vary by about 50, over about 5 in age.
    """
    context = _Context(scaling, names, task, outputs)
    if isinstance(spec, Belief):
        return ParsedBelief(spec, f"The belief that was given, in standard units: {spec!r}")
    if images:
        return _image_belief(spec, context)
    if isinstance(spec, Mapping):
        return _from_table(spec, context)
    if spec is not None and not isinstance(spec, str):
        raise ValueError(
            f"belief must be one of {', '.join(PRESETS)}, a table such as "
            "{'lengthscale': 2.0, 'amplitude': 1.0}, or an object with sample(key, x, n); "
            f"got {spec!r}"
        )
    preset = "smooth" if spec is None else checks.one_of("belief", spec, PRESETS)
    if preset == "periodic":
        return _from_table({"kernel": "periodic"}, context)
    return _hierarchical("rbf" if preset == "smooth" else "matern32", context)


def fitted_to_rows(belief: Belief) -> ParsedBelief:
    """A belief that was fitted to the data (empirical Bayes), with a sentence that says so."""
    return ParsedBelief(
        belief, f"A Gaussian process fitted to the rows, in standard units: {belief}"
    )


def _image_belief(spec: object, context: _Context) -> ParsedBelief:
    if spec is not None or context.task == "regression":
        raise ValueError(
            "a belief about images must be an object with sample(key, x, n), or, for classes, None "
            f"for the paper's; got {spec!r} for {context.task}"
        )
    return ParsedBelief(
        HierarchicalGP.images(context.outputs),
        "Smooth logits that vary by about 2.8, over about 512 in the distance of standardised "
        "images, both uncertain by a factor of two.",
    )


def _hierarchical(kernel: str, context: _Context) -> ParsedBelief:
    """The paper's default with this kernel."""
    inputs = len(context.scaling.x_mean)
    default = HierarchicalGP.default(inputs, context.task, context.outputs)
    belief = HierarchicalGP(
        default.lengthscale, default.variance, kernel=kernel, outputs=context.outputs
    )
    amplitude = "3" if context.task == "classification" else _number(context.target_std * 1.05)
    return ParsedBelief(
        belief,
        f"{_ADJECTIVES[kernel]} {context.noun} that vary by about {amplitude}, over about "
        f"{_default_length(inputs):.2g} standard deviations of each column, both uncertain by a "
        "factor of three.",
    )


def _from_table(spec: Mapping[str, Any], context: _Context) -> ParsedBelief:
    unknown = [name for name in spec if name not in FIELDS]
    if unknown:
        raise ValueError(f"a belief's table may have {', '.join(FIELDS)}; got {unknown}")
    kernel = checks.one_of("kernel", spec.get("kernel", "rbf"), KERNELS)
    unit = context.target_std
    default = unit if context.task == "regression" else 8**0.5
    amplitude = checks.positive("amplitude", spec.get("amplitude", default))
    variance = (amplitude / unit) ** 2
    sentence = f"{_ADJECTIVES[kernel]} {context.noun} that vary by about {_number(amplitude)}"
    if kernel == "periodic":
        return _periodic(spec, context, variance, sentence)
    if "period" in spec:
        raise ValueError(
            f"period is for the kernel periodic only, and the kernel is {kernel}: leave period "
            "out, or give 'kernel': 'periodic'"
        )
    lengths = _lengthscales(spec.get("lengthscale"), context)
    kernel_object = KERNELS[kernel](lengths / context.scaling.x_std, variance)
    over = ", ".join(f"{_number(v)} in {n}" for v, n in zip(lengths, context.names, strict=True))
    if spec.get("lengthscale") is None:
        over = f"{_default_length(len(context.names)):.2g} standard deviations of each column"
    belief = GaussianProcess(kernel_object, outputs=context.outputs)
    return ParsedBelief(belief, f"{sentence}, over about {over}.")


def _periodic(
    spec: Mapping[str, Any], context: _Context, variance: float, sentence: str
) -> ParsedBelief:
    if len(context.names) != 1:
        raise ValueError(
            f"a periodic belief is for one column, and there are {len(context.names)}; for more, "
            "give a belief object with a product of kernels"
        )
    (name,), unit = context.names, float(context.scaling.x_std[0])
    if "period" not in spec:
        raise ValueError(
            "a periodic belief needs kernel=periodic and a period in the column's units "
            f"({name} has a standard deviation of {_number(unit)})"
        )
    period = checks.positive("period", spec["period"])
    lengthscale = spec.get("lengthscale", 1.0)
    if np.ndim(lengthscale) or isinstance(lengthscale, Mapping):
        raise ValueError(
            "the lengthscale of a periodic belief must be one number, relative to the period; got "
            f"{lengthscale!r}"
        )
    kernel = periodic(checks.positive("lengthscale", lengthscale), variance, period / unit)
    return ParsedBelief(
        GaussianProcess(kernel, outputs=context.outputs),
        f"{sentence}, and repeat themselves every {_number(period)} in {name}.",
    )


def _lengthscales(spec: Any, context: _Context) -> np.ndarray:
    """One lengthscale per column, in the column's units."""
    names = context.names
    default = _default_length(len(names)) * context.scaling.x_std
    if spec is None:
        return default
    if isinstance(spec, Mapping):
        unknown = [name for name in spec if name not in names]
        if unknown:
            raise ValueError(f"lengthscale names {unknown}, but the columns are {list(names)}")
        found = [spec.get(name, usual) for name, usual in zip(names, default, strict=True)]
    else:
        found = list(spec) if np.ndim(spec) else [spec] * len(names)
        if len(found) != len(names):
            raise ValueError(
                f"lengthscale must be one number, or one for each of the {len(names)} columns; "
                f"got {len(found)}"
            )
    each = zip(names, found, strict=True)
    return np.array([checks.positive(f"lengthscale of {name}", value) for name, value in each])


def _default_length(inputs: int) -> float:
    """The paper's typical lengthscale, in standard deviations."""
    return (2 * inputs) ** 0.5


def _number(value: float) -> str:
    return f"{float(value):.3g}"


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
