"""Beliefs as they are written on the command line."""

from typing import Any

from goodprior.beliefs.context import PERIODS
from goodprior.beliefs.levels import CORRELATIONS
from goodprior.beliefs.monotone_table import DIRECTIONS

_RULE = (
    'a belief is a word such as smooth, a table such as "lengthscale.age=10, amplitude=3", or a '
    'sum such as "trend + season(period.month=12)"'
)
_WORDS = {"kernel", "column", "ignore", "curves"}  # fields whose values are not numbers
_PER_COLUMN: dict[str, tuple[str, ...]] = {  # and what their values may be
    "lengthscale": ("a number",),
    "period": ("a number", *PERIODS),
    "levels": (*CORRELATIONS, "a number"),
    "monotone": DIRECTIONS,
}
KERNEL_OF = {"trend": "linear", "season": "periodic"}


def belief_from_text(text: str) -> str | dict[str, Any] | list[Any]:
    """Return the preset, the table or the sum that a text such as `lengthscale.age=10` stands for.

    Parameters
    ----------
    text
        A word; `NAME=VALUE` parts separated by commas, where `lengthscale.COLUMN=VALUE`,
        `period.COLUMN=VALUE`, `levels.CATEGORY=similar` and `monotone.COLUMN=increasing` are for
        one column and `curves=FILE` names a table of examples; a word with such parts in brackets;
        or several of these with a `+` between them.

    Returns
    -------
    str | dict | list
        What `parse_belief` and the estimators take.

    Raises
    ------
    ValueError
        If a part is not understood or given twice.

    Examples
    --------
    >>> belief_from_text("rough")
    'rough'
    >>> belief_from_text("lengthscale.age=10 x/ 2, lengthscale.dose=0.5, kernel=matern32")
    {'lengthscale': {'age': '10 x/ 2', 'dose': 0.5}, 'kernel': 'matern32'}
    >>> belief_from_text("monotone.dose=increasing, levels.color=similar")
    {'monotone': {'dose': 'increasing'}, 'levels': {'color': 'similar'}}
    >>> belief_from_text("trend + season(period.month=12)")
    ['trend', {'kernel': 'periodic', 'period': {'month': 12.0}}]
    """
    parts = _split(text, "+")
    found = [_term(part.strip()) for part in parts]
    return found[0] if len(found) == 1 else found


def _split(text: str, at: str) -> list[str]:
    """The parts between separators that stand outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == at and depth == 0 and not parts[-1].endswith(("e", "E", "=")):
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise ValueError(f"{text!r} has brackets that do not match; {_RULE}")
    return parts


def _term(text: str) -> str | dict[str, Any]:
    word, bracket, inside = text.partition("(")
    if bracket and text.endswith(")") and "=" not in word:
        word, table = word.strip(), _table(inside[:-1])
        kernels = {"smooth": "rbf", "rough": "matern32", **KERNEL_OF}
        if word not in kernels:
            raise ValueError(f"{word!r} is none of {', '.join(kernels)}; {_RULE}")
        if "kernel" in table:
            raise ValueError(f"{text!r} gives a kernel twice: leave {word} or kernel out")
        return {"kernel": kernels[word], **table}
    return _table(text) if "=" in text else text


def _table(text: str) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for part in map(str.strip, text.split(",")):
        name, equals, value = (piece.strip() for piece in part.rpartition("="))
        if not (name and equals and value):
            raise ValueError(f"{part!r} is not NAME=VALUE; {_RULE}")
        name, dot, column = name.partition(".")
        if name == "ignore" and not dot:
            table.setdefault("ignore", []).append(value)
            continue
        words = _PER_COLUMN.get(name, ()) if dot or name == "period" else ()
        is_word = value in words or (name in _WORDS and not dot)
        read = value if is_word else _number_in(part, value, words)
        place = table
        if dot:
            place = table.setdefault(name, {})
            if name not in _PER_COLUMN or not isinstance(place, dict):
                raise ValueError(
                    f"{part!r}: only {', '.join(_PER_COLUMN)} can be given per column, and then "
                    "for columns alone"
                )
            name = column
        if name in place:
            raise ValueError(f"{name} is given twice")
        place[name] = read
    return table


def _number_in(part: str, value: str, words: tuple[str, ...]) -> float | str:
    try:
        return float(value)
    except ValueError:
        if "x/" in value:
            return value
        expected = " or ".join(words or ("a number",))
        raise ValueError(f"{part!r} needs {expected} after the =; {_RULE}") from None
