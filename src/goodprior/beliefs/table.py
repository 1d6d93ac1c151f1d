"""One term of a belief from a table in the columns' own units, with a phrase that says it."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from math import inf, log
from typing import Any, Literal, NamedTuple

import numpy as np

from goodprior import checks
from goodprior.beliefs.kernels import KERNELS
from goodprior.beliefs.terms import SMOOTHNESS, About, Factor, Term
from goodprior.data.scaling import Scaling

Task = Literal["regression", "classification"]
FIELDS = (
    *("kernel", "smoothness", "lengthscale", "amplitude"),
    *("period", "decay", "column", "ignore"),
)
TERM_KERNELS = (*KERNELS, "linear")
ADJECTIVES = {
    "rbf": "Smooth",
    "matern52": "Fairly smooth",
    "matern32": "Rather rough",
    "matern12": "Rough",
    "rational_quadratic": "Smooth at several lengths",
    "periodic": "Periodic",
    "linear": "Linear",
}


class Context(NamedTuple):
    """What a specification is read with."""

    scaling: Scaling
    names: Sequence[str]
    task: Task
    outputs: int

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
        if name in self.names:
            return list(self.names).index(name)
        near = get_close_matches(str(name), [str(n) for n in self.names], 1)
        hint = f"did you mean {near[0]!r}? T" if near else "t"
        raise ValueError(f"{what} names {name!r}; {hint}he columns are {list(self.names)}")


class ParsedTerm(NamedTuple):
    """A term in standard units, in words, and whether its amplitude was given.

    `kernel` and `lengthscales` are those of all columns, in their own units, where the term is a
    plain kernel of all of them.
    """

    terms: tuple[Term, ...]
    phrase: str
    amplitude_given: bool
    amplitudes: np.ndarray | None = None  # one for each target, in its units
    kernel: str | None = None
    lengthscales: np.ndarray | None = None


def parse_term(spec: Mapping[str, Any], context: Context) -> ParsedTerm:
    """The term that a table stands for; a `ValueError` says what is wrong with it."""
    unknown = [name for name in spec if name not in FIELDS]
    if unknown:
        raise ValueError(f"a belief's table may have {', '.join(FIELDS)}; got {unknown}")
    kernel = _kernel(spec)
    if kernel != "periodic":
        for name in ("period", "decay"):
            if name in spec:
                raise ValueError(
                    f"{name} is for the kernel periodic only, and the kernel is {kernel}: leave "
                    f"{name} out, or give 'kernel': 'periodic'"
                )
    amplitude, amplitudes = _amplitude(spec, context)
    adjective = ADJECTIVES[kernel]
    start = f"{adjective} {context.noun} that vary by about {_words(amplitude, amplitudes)}"
    amplitude = About(amplitude.median / context.target_std, amplitude.log_std)
    if kernel == "linear":
        terms, over = _linear(spec, context, amplitude)
    elif kernel == "periodic":
        terms, over = _periodic(spec, context, amplitude)
    else:
        return _plain(kernel, spec, context, amplitude, amplitudes, start)
    return ParsedTerm(terms, f"{start}, {over}", "amplitude" in spec, amplitudes)


def about(name: str, value: Any) -> About:
    """A number, or one with an uncertainty: `"40 x/ 2"` is 40, give or take a factor of 2."""
    if not isinstance(value, str):
        return About(checks.positive(name, value))
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
    return About(checks.positive(name, numbers[0]), log(numbers[1]))


def number(value: float) -> str:
    """Three digits."""
    return f"{float(value):.3g}"


def default_length(inputs: int) -> float:
    """The paper's typical lengthscale, in standard deviations."""
    return (2 * inputs) ** 0.5


def _words(value: About, several: np.ndarray | None = None) -> str:
    if several is not None:
        return ", ".join(map(number, several))
    factor = f" (give or take a factor of {np.exp(value.log_std):.3g})" if value.log_std else ""
    return f"{number(value.median)}{factor}"


def _kernel(spec: Mapping[str, Any]) -> str:
    kernel = checks.one_of("kernel", spec.get("kernel", "rbf"), TERM_KERNELS)
    if "smoothness" not in spec:
        return kernel
    names = {smoothness: name for name, smoothness in SMOOTHNESS.items()}
    smooth = spec["smoothness"]
    if smooth not in names:
        raise ValueError(f"smoothness must be one of {[*names]} (inf: an RBF); got {smooth!r}")
    if "kernel" in spec and kernel != names[smooth]:
        raise ValueError(f"kernel {kernel} and smoothness {smooth:g} contradict each other")
    return names[smooth]


def _amplitude(spec: Mapping[str, Any], context: Context) -> tuple[About, np.ndarray | None]:
    default = context.target_std if context.task == "regression" else 8**0.5
    given = spec.get("amplitude", default)
    if np.ndim(given) == 0:
        return about("amplitude", given), None
    if len(given) != context.outputs:
        raise ValueError(
            f"amplitude must be one number, or one for each of the {context.outputs} targets; got "
            f"{len(given)}"
        )
    each = np.array([checks.positive("amplitude", value) for value in given])
    return About(float(each.mean())), each


def _ignored(spec: Mapping[str, Any], context: Context) -> set[int]:
    names = spec.get("ignore", ())
    names = [names] if isinstance(names, str) else list(names)
    found = {context.column(name, "ignore") for name in names}
    if len(found) == len(context.names):
        raise ValueError("ignore names all columns, so there would be nothing to vary with")
    return found


def _plain(
    kernel: str,
    spec: Mapping[str, Any],
    context: Context,
    amplitude: About,
    amplitudes: np.ndarray | None,
    start: str,
) -> ParsedTerm:
    """A kernel of all columns but those that are ignored."""
    ignored = _ignored(spec, context)
    if "column" in spec:
        kept = _columns(spec, context)
        ignored |= set(range(len(context.names))) - set(kept)
    lengths = _lengthscales(spec.get("lengthscale"), context, ignored)
    smoothness = SMOOTHNESS.get(kernel)
    uncertain = any(length.log_std for length in lengths.values()) or amplitude.log_std
    if smoothness is None and (uncertain or ignored):
        raise ValueError(f"the kernel {kernel} takes neither uncertainties nor ignored columns")
    stds, names = context.scaling.x_std, context.names
    over = ", ".join(f"{_words(value)} in {names[i]}" for i, value in lengths.items())
    if spec.get("lengthscale") is None:
        over = f"{default_length(len(names)):.2g} standard deviations of each column"
    phrase = f"{start}, over about {over}"
    if ignored:
        phrase += f", whatever {', '.join(str(names[i]) for i in sorted(ignored))} may be"
    factors = tuple(
        Factor(i, About(float(value.median / stds[i]), value.log_std), smoothness or inf)
        for i, value in lengths.items()
    )
    term = Term(amplitude, factors)
    known = None if uncertain or ignored else np.array([v.median for v in lengths.values()])
    given = "amplitude" in spec
    return ParsedTerm((term,), phrase, given, amplitudes, kernel, known)


def _lengthscales(spec: Any, context: Context, ignored: set[int]) -> dict[int, About]:
    """One lengthscale per column that matters, in the column's units."""
    names = context.names
    found: dict[int, Any] = dict(enumerate(default_length(len(names)) * context.scaling.x_std))
    if isinstance(spec, Mapping):
        given = {context.column(name, "lengthscale"): value for name, value in spec.items()}
        if both := [names[i] for i in sorted(ignored & set(given))]:
            raise ValueError(f"{both} have a lengthscale, but are ignored: leave one of them out")
        found |= given
    elif spec is not None:
        each = list(spec) if np.ndim(spec) else [spec] * len(names)
        if len(each) != len(names):
            raise ValueError(
                f"lengthscale must be one number, or one for each of the {len(names)} columns; "
                f"got {len(each)}"
            )
        found = dict(enumerate(each))
    return {
        i: about(f"lengthscale of {names[i]}", value)
        for i, value in found.items()
        if i not in ignored
    }


def _columns(spec: Mapping[str, Any], context: Context) -> list[int]:
    """The columns that a term is about: all, or those that are named."""
    named = spec.get("column", list(context.names))
    named = [named] if isinstance(named, str) else list(named)
    return [context.column(name, "column") for name in named]


def _linear(
    spec: Mapping[str, Any], context: Context, amplitude: About
) -> tuple[tuple[Term, ...], str]:
    if "lengthscale" in spec:
        raise ValueError("a linear trend has no lengthscale: leave it out")
    columns = [c for c in _columns(spec, context) if c not in _ignored(spec, context)]
    each = About(amplitude.median / len(columns) ** 0.5, amplitude.log_std)
    names, stds = context.names, context.scaling.x_std
    over = ", ".join(f"{number(stds[c])} in {names[c]}" for c in columns)
    return tuple(Term(each, times=(c,)) for c in columns), f"over one standard deviation ({over})"


def _periodic(
    spec: Mapping[str, Any], context: Context, amplitude: About
) -> tuple[tuple[Term, ...], str]:
    column, period = _period(spec, context)
    name, unit = context.names[column], float(context.scaling.x_std[column])
    lengthscale, others = spec.get("lengthscale", 1.0), {}
    if isinstance(lengthscale, Mapping) and len(context.names) > 1:
        others = {context.column(n, "lengthscale"): v for n, v in lengthscale.items()}
        lengthscale = others.pop(column, 1.0)
    if isinstance(lengthscale, Mapping) or np.ndim(lengthscale):
        raise ValueError(
            "the lengthscale of a periodic belief must be one number, relative to the period; got "
            f"{lengthscale!r}"
        )
    factors = [Factor(column, about("lengthscale", lengthscale), inf, period / unit)]
    over = f"and repeat themselves every {number(period)} in {name}"
    changes = {**others, **({column: spec["decay"]} if "decay" in spec else {})}
    for i, value in changes.items():
        length = about(f"lengthscale of {context.names[i]}", value)
        std = float(context.scaling.x_std[i])
        factors.append(Factor(i, About(length.median / std, length.log_std)))
        over += f", changing over about {_words(length)} in {context.names[i]}"
    return (Term(amplitude, tuple(factors)),), over


def _period(spec: Mapping[str, Any], context: Context) -> tuple[int, float]:
    """The column that has a period, and the period in its units."""
    names, given = context.names, spec.get("period")
    if isinstance(given, Mapping):
        if len(given) != 1:
            words = f"a season has a period in one column, and here are {len(given)}"
            raise ValueError(f"{words}: {sorted(given)}; add a second season for the other")
        ((name, given),) = given.items()
        column = context.column(name, "period")
    elif len(names) == 1:
        column = 0
    else:
        raise ValueError(
            f"a periodic belief is for one column, and there are {len(names)}: say which, as in "
            f"period.{names[0]}=12 or {{'period': {{{str(names[0])!r}: 12}}}}"
        )
    if given is None:
        raise ValueError(
            "a periodic belief needs kernel=periodic and a period in the column's units: "
            f"the deviation of {names[column]} is {number(context.scaling.x_std[column])}"
        )
    return column, checks.positive("period", given)
