"""A belief on the command line: a word, or a table such as `lengthscale.age=10, amplitude=3`."""

from typing import Any

HOW = 'a belief is a word such as smooth, or a table such as "lengthscale.age=10, amplitude=3"'


def read_belief(said: str) -> str | dict[str, Any]:
    """The word, or the table that the estimators understand.

    >>> read_belief("rough")
    'rough'
    >>> read_belief("lengthscale.age=10, lengthscale.dose=0.5, amplitude=3, kernel=matern32")
    {'lengthscale': {'age': 10.0, 'dose': 0.5}, 'amplitude': 3.0, 'kernel': 'matern32'}
    """
    if "=" not in said:
        return said.strip()
    table: dict[str, Any] = {}
    for part in said.split(","):
        name, equals, text = (piece.strip() for piece in part.rpartition("="))
        if not (name and equals and text):
            raise ValueError(f"--belief: {part.strip()!r} is not NAME=VALUE; {HOW}")
        name, dot, column = name.partition(".")
        value = text if name == "kernel" and not dot else _number(part.strip(), text)
        place = table
        if dot:
            place = table.setdefault(name, {})
            if name != "lengthscale" or not isinstance(place, dict):
                raise ValueError(
                    f"--belief: {part.strip()!r}: only lengthscale can be given per column, and "
                    "then for columns alone"
                )
            name = column
        if name in place:
            raise ValueError(f"--belief: {name} is given twice")
        place[name] = value
    return table


def _number(part: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--belief: {part!r} needs a number after the =; {HOW}") from None
