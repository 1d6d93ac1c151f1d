"""The cells of a column: numbers, dates, or text that only looks like them."""

import re
from datetime import timedelta

import numpy as np
import pandas as pd
from pandas.api import types

from goodprior.data.table.errors import SHOWN, Series, TableError, places

_COMMAS = re.compile(r"[+-]?\d*[\d.]*,[\d.,]*\d")
_DATE = re.compile(r"\d{1,4}[-/. ]\w+[-/., ]+\d{1,4}([T ].*)?|[A-Za-z]{3,9} \d{1,2},? \d{4}")
_DURATION = re.compile(r"-?(\d+ days? ?)?[+-]?\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?|-?\d+ days?")
_BEFORE = re.compile(r"([€$£¥₹])\s*[+-]?\d[\d.,]*")
_BEHIND = re.compile(r"[+-]?\d[\d.,]*(\s+[^\d\s.,]\D*|\s*[€$£¥₹%°]\D*)")  # not 5a, a room
_ISO = "ISO8601"
_DAYS = (
    *("%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%d %b %Y", "%d %B %Y"),
    *("%b %d, %Y", "%B %d, %Y", "%d-%b-%Y"),
)
_FORMATS = tuple(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S"))
_EITHER_WAY = (("%d/%m/%Y", "%m/%d/%Y"), ("%d/%m/%y", "%m/%d/%y"))
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")


def as_text(values: Series) -> Series:
    """Cells as stripped text, missing ones as they are; whole numbers without a decimal point."""

    def one(value: object) -> str:
        whole = isinstance(value, float | np.floating) and float(value).is_integer()
        return str(int(value)) if whole else str(value).strip()  # type: ignore[arg-type]

    return values.astype(object).map(one, na_action="ignore").astype(object)


def as_numbers(values: Series) -> Series:
    """Cells as numbers; NaN where they are none."""
    return pd.to_numeric(values, errors="coerce")


def refuse_numbers_as_text(name: str, values: Series) -> None:
    """Raise a `TableError` for text that is meant as numbers: with commas, or a few other signs."""
    if not len(present := values.dropna()):
        return
    numbers: np.ndarray = as_numbers(present).notna().to_numpy()
    commas: np.ndarray = present.map(lambda text: bool(_COMMAS.fullmatch(text))).to_numpy(bool)
    if commas.any() and (commas | numbers).all():
        example = present[commas].iloc[0]
        raise TableError(
            f"column {name!r} has numbers with commas, such as {example!r} "
            f"({places(present, commas)}), which cannot be read with certainty: write "
            "them with a decimal point and without separators of thousands"
        )
    for pattern in (_BEFORE, _BEHIND):
        units = {found[1].strip() if found else None for found in map(pattern.fullmatch, present)}
        if len(units) == 1 and None not in units:
            raise TableError(
                f"column {name!r} has numbers with a unit, such as {present.iloc[0]!r}: write the "
                f"numbers alone, and {units.pop()} into the column's name"
            )
    if 0.8 <= numbers.mean() < 1:
        others = ", ".join(repr(text) for text in present[~numbers].unique()[:SHOWN])
        raise TableError(
            f"column {name!r} has numbers and also {others} ({places(present, ~numbers)}): "
            "leave cells empty where a value is missing"
        )


def durations(values: Series) -> Series:
    """Cells as durations, from text such as 02:30, 02:30:00 or 1 days 02:30:00; else none."""
    if types.is_timedelta64_dtype(values):
        return values

    def one(cell: object) -> object:
        text = str(cell).strip()
        if isinstance(cell, timedelta) or not _DURATION.fullmatch(text):
            return cell if isinstance(cell, timedelta) else None
        return f"{text}:00" if text.count(":") == 1 else text

    written = values.astype(object).map(one, na_action="ignore")
    return pd.to_timedelta(written, errors="coerce")


def date_format(name: str, values: Series) -> str | None:
    """The one format in which all of these texts are dates; None if they are no dates."""
    present = values.dropna()
    if not present.map(lambda text: bool(_DATE.fullmatch(text))).all():
        return None
    for format in (_ISO, *_FORMATS):
        if dates(present, format).notna().all():
            return format
    fitting = [
        format
        for time in _TIMES
        for ways in _EITHER_WAY
        for format in (way + time for way in ways)
        if dates(present, format).notna().all()
    ]
    if len(fitting) == 2:
        raise TableError(
            f"column {name!r} has dates such as {present.iloc[0]!r} that can be read in two ways: "
            "write them as year-month-day, 2024-01-31"
        )
    return fitting[0] if fitting else None


def dates(values: Series, format: str) -> Series:
    """Texts as dates in UTC; not a time where they are none."""
    return pd.to_datetime(values, format=format, errors="coerce", utc=True)
