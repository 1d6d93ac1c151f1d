"""Beliefs from words and small tables in the columns' own units, and back to a sentence."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from goodprior import checks
from goodprior.beliefs.as_terms import as_terms
from goodprior.beliefs.base import Belief
from goodprior.beliefs.context import Context, Task, about, default_length, number
from goodprior.beliefs.curves import learn_curves
from goodprior.beliefs.gaussian_process import GaussianProcess
from goodprior.beliefs.hierarchical import HierarchicalGP
from goodprior.beliefs.kernels import KERNELS
from goodprior.beliefs.mixture_table import parse_mixture
from goodprior.beliefs.monotone import Monotone
from goodprior.beliefs.monotone_table import parse_monotone
from goodprior.beliefs.table import ADJECTIVES, ParsedTerm, parse_term
from goodprior.beliefs.terms import SMOOTHNESS, SumOfTerms
from goodprior.beliefs.text import KERNEL_OF
from goodprior.data.scaling import Scaling

PRESETS = ("smooth", "rough", "periodic", "trend", "season")


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


def parse_belief(
    spec: object,
    scaling: Scaling,
    names: Sequence[str],
    *,
    task: Task,
    outputs: int,
    images: bool = False,
    dates: Collection[str] = (),
) -> ParsedBelief:
    """The belief about standardised inputs and targets that a specification stands for.

    Parameters
    ----------
    spec : None, str, mapping, list or Belief
        None for the paper's default; a preset (`smooth`, `rough`, `trend`, `season`); a belief
        object, taken as it is, in standard units; a table; or a list of presets and tables, which
        are added. A table may have `lengthscale` (a number, or one per column, in the columns'
        units), `amplitude` (in the target's), both also with an uncertainty (`"40 x/ 2"`: 40, give
        or take a factor of 2); `kernel` or `smoothness`; `ignore`, columns that do not matter, or
        `column`, those that do; `levels`, how alike functions are at two levels of a category
        (`similar`, `unrelated` or a correlation); `monotone`, a column along which functions are
        `increasing` or `decreasing`; `curves`, a table of examples (points and a column for each
        curve) from which kernel, lengthscale and amplitude are learned; and for the kernel
        `periodic` `period` and `decay`, the length over which a season changes. One of several
        beliefs, by chance, is `{"mixture": [...], "weights": [...]}`.
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
    dates : collection of str
        Columns that are dates, in days: their periods may be words such as `year`.

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
    context = Context(scaling, names, task, outputs, dates)
    if isinstance(spec, Belief):
        return ParsedBelief(spec, f"The belief that was given, in standard units: {spec!r}")
    if images:
        return _image_belief(spec, context)
    if isinstance(spec, Mapping) and "mixture" in spec:
        settings: dict[str, Any] = {"task": task, "outputs": outputs, "dates": dates}
        return ParsedBelief(
            *parse_mixture(spec, lambda one: parse_belief(one, scaling, names, **settings))
        )
    if isinstance(spec, Mapping):
        return _from_table(spec, context)
    if isinstance(spec, list | tuple) and len(spec) > 1:
        return _sum(spec, context)
    if isinstance(spec, list | tuple) and spec:
        return parse_belief(spec[0], scaling, names, task=task, outputs=outputs, dates=dates)
    if spec is not None and not isinstance(spec, str):
        raise ValueError(
            f"belief must be one of {', '.join(PRESETS)}, a table such as "
            "{'lengthscale': 2.0, 'amplitude': 1.0}, a list of these, or an object with "
            "sample(key, x, n); "
            f"got {spec!r}"
        )
    preset = "smooth" if spec is None else checks.one_of("belief", spec, (*PRESETS, "fit"))
    if preset == "fit":
        raise ValueError('belief="fit" needs rows and targets: `beliefs.from_rows` takes them')
    if preset not in ("smooth", "rough"):
        return _from_table(_table_of(preset), context)
    return _hierarchical("rbf" if preset == "smooth" else "matern32", context)


def _image_belief(spec: object, context: Context) -> ParsedBelief:
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


def _hierarchical(kernel: str, context: Context) -> ParsedBelief:
    """The paper's default with this kernel."""
    inputs = len(context.scaling.x_mean)
    default = HierarchicalGP.default(inputs, context.task, context.outputs)
    belief = HierarchicalGP(
        default.lengthscale, default.variance, kernel=kernel, outputs=context.outputs
    )
    amplitude = "3" if context.task == "classification" else number(context.target_std * 1.05)
    return ParsedBelief(
        belief,
        f"{ADJECTIVES[kernel]} {context.noun} that vary by about {amplitude}, over about "
        f"{default_length(inputs):.2g} standard deviations of each column, both uncertain by a "
        "factor of three.",
    )


def _table_of(preset: str) -> dict[str, Any]:
    return {"kernel": KERNEL_OF.get(preset, preset)}


def _from_table(spec: Mapping[str, Any], context: Context) -> ParsedBelief:
    if "monotone" in spec:
        found, column, falling = parse_monotone(spec, context)
        scales = _output_scales([found], context)
        return ParsedBelief(Monotone(found.terms[0], column, falling, scales), f"{found.phrase}.")
    found = parse_term(spec, context)
    scales = _output_scales([found], context)
    alike = np.allclose(scales, scales[0])
    if alike and found.kernel is not None and found.lengthscales is not None:
        lengths = jnp.asarray(found.lengthscales / context.scaling.x_std)
        variance = (found.terms[0].amplitude.median * scales[0]) ** 2
        belief: Belief = GaussianProcess(
            KERNELS[found.kernel](lengths, variance), outputs=context.outputs
        )
    elif found.kernel is not None and found.kernel not in SMOOTHNESS:
        raise ValueError(f"the kernel {found.kernel} takes one amplitude for targets of one spread")
    else:
        belief = SumOfTerms(found.terms, scales)
    return ParsedBelief(belief, f"{found.phrase}.")


def _sum(specs: Sequence[Any], context: Context) -> ParsedBelief:
    """Several terms added; the same one twice is an error."""
    found: list[ParsedTerm] = []
    for spec in specs:
        if not isinstance(spec, str | Mapping):
            raise ValueError(f"a sum is made of words and tables; got {spec!r}")
        found.append(_part(spec, context))
        if found[-1].kernel == "rational_quadratic":
            raise ValueError("the kernel rational_quadratic cannot be a part of a sum")
    terms = [term for part in found for term in part.terms]
    shapes = [(term.factors, term.times) for term in terms]
    for i, shape in enumerate(shapes):
        if shape in shapes[:i]:
            raise ValueError(
                "a sum with the same term twice is that term with another amplitude: leave one "
                f"out of {[*specs]!r}"
            )
    if any(part.amplitudes is not None for part in found):
        raise ValueError("in a sum each term has one amplitude for all targets")
    phrases = [part.phrase[0].lower() + part.phrase[1:] for part in found]
    belief = SumOfTerms(tuple(terms), _output_scales(found, context))
    return ParsedBelief(belief, f"The sum of {'; and '.join(phrases)}.")


def _part(spec: str | Mapping[str, Any], context: Context) -> ParsedTerm:
    if isinstance(spec, Mapping) and "monotone" in spec:
        raise ValueError(
            "a sum with a monotone part need not be monotone: give the monotone part alone, or "
            "leave monotone out"
        )
    if isinstance(spec, Mapping):
        return parse_term(spec, context)
    checks.one_of("belief", spec, PRESETS)
    if spec not in ("smooth", "rough"):
        return parse_term(_table_of(spec), context)
    parsed = _hierarchical("rbf" if spec == "smooth" else "matern32", context)
    terms = as_terms(parsed.belief, len(context.names))
    assert terms is not None
    return ParsedTerm(terms.terms, parsed.sentence.removesuffix("."), False)


def _output_scales(found: Sequence[ParsedTerm], context: Context) -> tuple[float, ...]:
    """What each target's functions are multiplied by: given amplitudes are in its units."""
    stds, mean = context.target_stds, context.target_std
    if len(found) == 1 and found[0].amplitudes is not None:
        amplitudes = found[0].amplitudes
        return tuple((amplitudes / amplitudes.mean() * mean / stds).tolist())
    if any(part.amplitude_given for part in found):
        return tuple((mean / stds).tolist())
    return (1.0,) * context.outputs


def amplitudes_of(spec: object) -> list[float]:
    """The amplitudes that a specification names, one or one for each target, in their units."""
    if isinstance(spec, Mapping) and "curves" in spec:
        return [learn_curves(spec["curves"]).amplitude]
    if isinstance(spec, Mapping) and "mixture" in spec:
        squares = [value**2 for part in spec["mixture"] for value in amplitudes_of(part)]
        return [float(np.mean(squares)) ** 0.5] if squares else []
    if isinstance(spec, Mapping) and "amplitude" in spec:
        given = spec["amplitude"]
        each = [given] if np.ndim(given) == 0 else list(given)
        return [about("amplitude", value).median for value in each]
    if isinstance(spec, list | tuple):
        squares = [value**2 for part in spec for value in amplitudes_of(part)]
        return [float(np.sum(squares)) ** 0.5] if squares else []
    return []
