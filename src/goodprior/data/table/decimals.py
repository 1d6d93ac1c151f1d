"""Numbers with commas: decimal commas, or commas between thousands."""

import re
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api import types

from goodprior.data.table.errors import Series

DECIMAL_COMMA = re.compile(r"[+-]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
GROUPED_COMMA = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
GROUPED_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
WHOLE = re.compile(r"[+-]?\d+")
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_GAPS = re.compile(r"(?<=\d)[\u0020\u00a0\u2009\u202f'\u2019](?=\d{3}(\D|$))")  # 1 234, 1'234

# What commas are in a column: decimal, between thousands, either; "gaps": it has none, but spaces
# or apostrophes between thousands; "none": its cells are no numbers with commas.
Use = Literal["decimal", "thousands", "either", "gaps", "none"]


def convert_commas(
    frame: pd.DataFrame, as_text: Callable[[], pd.DataFrame], decimal: str | None
) -> pd.DataFrame:
    """The table with numbers where its columns have numbers with commas.

    A column with `1,5` has decimal commas, one with `1,234,567` or `1,234.5` thousands. Where all
    of a column's numbers are like `1,234`, other columns decide, or else `decimal`; if nothing
    does, they stay text. In a table with decimal commas a column of numbers like `1.234` has
    thousands. What was decided so is warned of.

    Parameters
    ----------
    frame
        A table, as pandas reads it.
    as_text
        Gives the same table with cells as they were written.
    decimal
        `","` or `"."` where the table itself does not say, or None.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": ["1,5", "1.234,5"], "n": ["1,2500", "3,125"]})
    >>> convert_commas(frame, lambda: frame, None).to_numpy().tolist()
    [[1.5, 1.25], [1234.5, 3.125]]
    """
    texts = [name for name in frame.columns if _is_text(frame[name])]
    uses: dict[Any, Use] = {name: _use_of_commas(frame[name]) for name in texts}
    uses = {name: use for name, use in uses.items() if use != "none"}
    if not uses and decimal != ",":
        return frame
    written = as_text()
    found = _decimal_of(frame, written, set(uses.values())) or decimal
    converted = {}
    for name in frame.columns:
        use = uses.get(name, "none")
        if use == "either" and found is None:
            continue
        if use == "either":
            use = "decimal" if found == "," else "thousands"
            _warn(name, written[name], use)
        if use != "none":
            converted[name] = _as_numbers(frame[name], use)
        elif found == "," and _has_grouped_points(frame[name], written[name]):
            _warn(name, written[name], "decimal")
            converted[name] = _as_numbers(written[name], "decimal")
    frame = frame.assign(**converted)
    if found == ",":
        frame.attrs["decimal"] = ","
    return frame


def _is_text(values: Series) -> bool:
    return types.is_object_dtype(values) or types.is_string_dtype(values)


def _present(values: Series) -> Series:
    """Cells as stripped text, without those that are empty and without gaps in numbers."""
    text = values.dropna().astype(object).map(_closed).astype(object)
    return text[text != ""]


def _closed(cell: object) -> str:
    return _GAPS.sub("", str(cell).strip())


def _matches(pattern: re.Pattern[str], text: Series) -> np.ndarray:
    return np.array([pattern.fullmatch(cell) is not None for cell in text], bool)


def _use_of_commas(values: Series) -> Use:
    text = _present(values)
    if not len(text) or not text.iloc[0].strip("+-.,")[:1].isdigit():
        return "none"  # most columns of text, without looking at the rest
    grouped, plain = _matches(GROUPED_COMMA, text), _matches(PLAIN, text)
    if plain.all():
        return "gaps"
    points = _matches(GROUPED_POINT, text)
    may_be_decimal = (_matches(DECIMAL_COMMA, text) | _matches(WHOLE, text) | points).all()
    may_be_thousands = (grouped | plain).all()
    if may_be_decimal and may_be_thousands:
        return "either"
    if may_be_decimal:
        return "decimal"
    return "thousands" if may_be_thousands else "none"


def _decimal_of(frame: pd.DataFrame, written: pd.DataFrame, uses: set[Use]) -> str | None:
    """What the table itself says is decimal; None if nothing, or both."""
    comma, point = "decimal" in uses, "thousands" in uses
    if not comma and not point:
        point = any(
            types.is_float_dtype(frame[name])
            and _is_text(written[name])
            and len(_dotted(written[name])) > 0
            and not _matches(GROUPED_POINT, _dotted(written[name])).all()
            for name in frame.columns
        )
    return None if comma == point else "," if comma else "."


def _dotted(values: Series) -> Series:
    text = _present(values)
    return text[["." in cell for cell in text]]


def _has_grouped_points(values: Series, written: Series) -> bool:
    """Whether numbers are like 1.234, all that have a point."""
    if not types.is_float_dtype(values) or not _is_text(written):
        return False
    dotted = _dotted(written)
    return len(dotted) > 0 and bool(_matches(GROUPED_POINT, dotted).all())


def _as_numbers(values: Series, use: Use) -> Series:
    def number(cell: object) -> float:
        text = _closed(cell)
        if use == "decimal" and ("," in text or GROUPED_POINT.fullmatch(text)):
            return float(text.replace(".", "").replace(",", "."))
        return float(text.replace(",", "")) if text else np.nan

    return values.map(number, na_action="ignore").astype(float)


def _warn(name: str, written: Series, use: Use) -> None:
    example = next(cell for cell in _present(written) if "," in cell or "." in cell)
    value = _as_numbers(pd.Series([example]), use).iloc[0]
    warnings.warn(
        f"column {name!r} has numbers such as {example!r}, which was read as {value:.10g}: other "
        f"numbers have decimal {'commas' if use == 'decimal' else 'points'}",
        stacklevel=6,
    )
