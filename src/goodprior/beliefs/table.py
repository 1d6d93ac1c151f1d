"""One term of a belief from a table in the columns' own units, with a phrase that says it."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np

from goodprior import checks
from goodprior.beliefs.context import Context, about, default_length, in_words, number, positive
from goodprior.beliefs.curves import learn_curves
from goodprior.beliefs.kernels import KERNELS
from goodprior.beliefs.levels import Levels, parse_levels
from goodprior.beliefs.terms import SMOOTHNESS, About, Factor, Term

FIELDS = (
    *("kernel", "smoothness", "lengthscale", "amplitude"),
    *("period", "decay", "column", "ignore", "levels", "monotone", "curves"),
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
    if "curves" in spec:
        return _from_curves(spec, context)
    kernel = _kernel(spec)
    _refuse_fields(spec, kernel)
    amplitude, amplitudes = _amplitude(spec, context)
    adjective = ADJECTIVES[kernel]
    start = f"{adjective} {context.noun} that vary by about {in_words(amplitude, amplitudes)}"
    amplitude = About(amplitude.median / context.target_std, amplitude.log_std)
    if kernel == "linear":
        terms, over = _linear(spec, context, amplitude)
    elif kernel == "periodic":
        terms, over = _periodic(spec, context, amplitude)
    else:
        return _plain(kernel, spec, context, amplitude, amplitudes, start)
    return ParsedTerm(terms, f"{start}, {over}", "amplitude" in spec, amplitudes)


def _from_curves(spec: Mapping[str, Any], context: Context) -> ParsedTerm:
    """The term that example functions of one column are likeliest under."""
    rest = {name: value for name, value in spec.items() if name != "curves"}
    if twice := [name for name in rest if name not in ("ignore", "levels", "column", "monotone")]:
        raise ValueError(f"{', '.join(twice)} would be learned from curves: leave one of them out")
    learned = learn_curves(spec["curves"])
    column = 0 if len(context.names) == 1 else context.column(learned.column, "curves")
    name = context.names[column]
    rest |= {"kernel": learned.kernel, "amplitude": learned.amplitude}
    found = parse_term({**rest, "lengthscale": {name: learned.lengthscale}}, context)
    curves = f"{learned.curves} curve{'s' * (learned.curves > 1)}"
    phrase = f"{found.phrase[0].lower()}{found.phrase[1:]}"
    return found._replace(phrase=f"Learned from {curves} along {name}: {phrase}")


def _refuse_fields(spec: Mapping[str, Any], kernel: str) -> None:
    """Name what does not go with the kernel."""
    for name in ("period", "decay"):
        if name in spec and kernel != "periodic":
            raise ValueError(
                f"{name} is for the kernel periodic only, and the kernel is {kernel}: leave "
                f"{name} out, or give 'kernel': 'periodic'"
            )
    if "levels" in spec and kernel in ("periodic", "linear"):
        raise ValueError(
            f"levels do not go with the kernel {kernel}: say them of another part of a sum, as in "
            "trend + smooth(levels.color=similar)"
        )


def _kernel(spec: Mapping[str, Any]) -> str:
    default = "periodic" if "period" in spec and "smoothness" not in spec else "rbf"
    kernel = checks.one_of("kernel", spec.get("kernel", default), TERM_KERNELS)
    if "smoothness" not in spec:
        return kernel
    names: dict[Any, str] = {smoothness: name for name, smoothness in SMOOTHNESS.items()}
    smooth = spec["smoothness"]
    if not isinstance(smooth, int | float | np.number) or smooth not in names:
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
    each = np.array([positive("amplitude", value) for value in given])
    return About(float(each.mean())), each


def _named(spec: Mapping[str, Any], field: str, context: Context) -> list[int]:
    """The columns that a field names: one, or a list of them."""
    given = spec.get(field, ())
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise ValueError(f"{field} must be a column's name or a list of names; got {given!r}")
    names = [given] if isinstance(given, str) else given
    return [column for name in names for column in context.columns(name, field)]


def _ignored(spec: Mapping[str, Any], context: Context) -> set[int]:
    found = set(_named(spec, "ignore", context))
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
    levels = parse_levels(spec.get("levels"), context, kernel)
    lengths = _lengthscales(spec.get("lengthscale"), context, ignored, levels.lengthscales)
    smoothness = SMOOTHNESS.get(kernel)
    uncertain = any(length.log_std for length in lengths.values()) or amplitude.log_std
    if smoothness is None and (uncertain or ignored):
        raise ValueError(f"the kernel {kernel} takes neither uncertainties nor ignored columns")
    stds, names = context.scaling.x_std, context.names
    phrase = f"{start}, {_over(spec, context, lengths, levels)}"
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


def _over(
    spec: Mapping[str, Any], context: Context, lengths: dict[int, About], levels: Levels
) -> str:
    """Over which lengths functions vary, and what they have to do with categories."""
    own = {i: value for i, value in lengths.items() if i not in levels.lengthscales}
    parts = [f"{in_words(value)} in {context.names[i]}" for i, value in own.items()]
    if parts and spec.get("lengthscale") is None:
        which = "each other column" if levels.phrase else "each column"
        parts = [f"{default_length(len(context.names)):.2g} standard deviations of {which}"]
    over = [f"over about {', '.join(parts)}"] if parts else []
    return ", ".join([*over, *filter(None, [levels.phrase])])


def _lengthscales(
    spec: Any, context: Context, ignored: set[int], levels: Mapping[int, float]
) -> dict[int, About]:
    """One lengthscale per column that matters, in the column's units."""
    names = context.names
    found: dict[int, Any] = dict(enumerate(default_length(len(names)) * context.scaling.x_std))
    if both := [names[i] for i in sorted(ignored & set(levels))]:
        raise ValueError(f"{both} have levels, but are ignored: leave one of them out")
    if isinstance(spec, Mapping):
        given = {i: v for name, v in spec.items() for i in context.columns(name, "lengthscale")}
        if both := [names[i] for i in sorted(ignored & set(given))]:
            raise ValueError(f"{both} have a lengthscale, but are ignored: leave one of them out")
        if both := [names[i] for i in sorted(set(levels) & set(given))]:
            raise ValueError(f"{both} have a lengthscale and levels: leave one of them out")
        found |= given
    elif spec is not None:
        each = list(spec) if np.ndim(spec) else [spec] * len(names)
        if len(each) != len(names):
            raise ValueError(
                f"lengthscale must be one number, or one for each of the {len(names)} columns; "
                f"got {len(each)}"
            )
        found = dict(enumerate(each))
    found |= levels
    return {i: about(f"lengthscale of {names[i]}", v) for i, v in found.items() if i not in ignored}


def _columns(spec: Mapping[str, Any], context: Context) -> list[int]:
    """The columns that a term is about: all, or those that are named, but not what is ignored."""
    if "column" not in spec:
        return list(range(len(context.names)))
    named = _named(spec, "column", context)
    if not named:
        raise ValueError("column must name at least one column; got an empty list")
    if both := set(named) & _ignored(spec, context):
        names = [context.names[i] for i in sorted(both)]
        raise ValueError(f"{names} are named by column and by ignore: leave one of them out")
    return named


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
    shape = about("lengthscale", lengthscale)
    factors = [Factor(column, shape, inf, period / unit)]
    over = f"and repeat themselves every {number(period)} in {name}"
    if "lengthscale" in spec:
        over += f", varying over about {in_words(shape)} times that"
    changes = {**others, **({column: spec["decay"]} if "decay" in spec else {})}
    used = {column, *changes}
    named = set(_columns(spec, context)) if "column" in spec else used
    if named != used or used & _ignored(spec, context):
        names = [context.names[i] for i in sorted(used)]
        raise ValueError(f"this season is about {names}: leave column and ignore out")
    for i, value in changes.items():
        word = "decay" if i == column else f"lengthscale of {context.names[i]}"
        length = about(word, value)
        std = float(context.scaling.x_std[i])
        factors.append(Factor(i, About(length.median / std, length.log_std)))
        over += f", changing over about {in_words(length)} in {context.names[i]}"
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
    return column, context.period(given, column)
