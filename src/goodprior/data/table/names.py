"""Names of columns, as a file gives them."""

from collections.abc import Sequence


def check_names(names: Sequence[str]) -> None:
    """Raise a `ValueError` for what cannot be the names of columns.

    Examples
    --------
    >>> check_names(["size", "color", "size"])
    Traceback (most recent call last):
    ValueError: several columns have the same name: size
    """
    if all(_is_number(name) for name in names):
        raise ValueError(
            f"its first line must have the names of the columns, found {', '.join(names[:3])}"
        )
    if "" in names:
        raise ValueError(
            f"column {list(names).index('') + 1} has no name in the first line; if it counts the "
            "rows, save the table without it"
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"several columns have the same name: {', '.join(twice)}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
