"""Rows on a grid: one or two columns that vary, the others at a typical value."""

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from goodprior.commands.model_file import ModelFile
    from goodprior.data.table.encode import Column

POINTS = 41  # of a column of numbers or dates, unless said otherwise
MOST = 1_000_000  # rows


@dataclass(frozen=True)
class Known:
    """What a model knows of a column of its training table.

    Parameters
    ----------
    column
        Its name and kind.
    typical
        Mean (of durations in their unit), usual date, or most frequent category.
    low, high
        The ends of its range, for numbers, durations and dates.
    """

    column: "Column"
    typical: Any
    low: Any
    high: Any


def grid_rows(file: "ModelFile", grid: list[str], at: list[str]) -> "pd.DataFrame":
    """Return rows in the columns of the training table.

    Parameters
    ----------
    file
        The model.
    grid
        Such as `age=20:80:61` (from, to, how many), or `age` for the range of training, or all
        categories; for one column or two.
    at
        Such as `dose=3`: values of other columns, in place of typical ones.

    Raises
    ------
    ValueError
        If a column is not known, or what is said of it not understood.
    """
    import pandas as pd

    known = known_columns(file)
    if not 1 <= len(grid) <= 2:
        raise ValueError(f"--grid is for one column or two, and {len(grid)} are given")
    axes = dict(_axis(text, known) for text in grid)
    if len(axes) < len(grid):
        raise ValueError("--grid names the same column twice")
    fixed = {name: each.typical for name, each in known.items()}
    for text in at:
        name, value = _named(text, known, "--at", "dose=3")
        if name in axes:
            raise ValueError(f"--at: {name} is on the grid already")
        fixed[name] = _value(known[name], value)
    rows = list(product(*axes.values()))
    if len(rows) > MOST:
        raise ValueError(f"--grid: these are {len(rows)} rows, and at most {MOST} are taken")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(axes)}
    frame = pd.DataFrame(fixed | columns, index=range(len(rows)))
    for name, each in known.items():
        if each.column.kind == "duration":
            frame[name] = _as_durations(each.column, frame[name])
    return frame[[*axes, *(name for name in known if name not in axes)]]


def describe_fixed(frame: "pd.DataFrame", grid: list[str]) -> str:
    """Return the values of the columns that do not vary, in words."""
    on_grid = {text.split("=")[0].strip() for text in grid}
    shown = {name: frame[name].iloc[0] for name in frame.columns if name not in on_grid}
    values = (f"{name}={_shown(value)}" for name, value in shown.items())
    return ", ".join(values) or "no other columns"


def known_columns(file: "ModelFile") -> dict[str, Known]:
    """Return what the model knows of each column of its training table."""
    if file.columns is None:
        raise ValueError(
            "the model was fitted on numbers without names of columns, so that a grid cannot name "
            "one: fit it with `goodprior fit`, or on a pandas DataFrame"
        )
    model, found, start = file.model, {}, 0
    means, (lows, highs) = model.scaling_.x_mean, model.box_
    for column in file.columns.columns:
        part = slice(start, start + len(column.names))
        start = part.stop
        found[column.name] = _known(column, means[part], lows[part], highs[part])
    return found


def _known(column: "Column", mean: Any, low: Any, high: Any) -> Known:
    if column.kind == "category":
        return Known(
            column, column.categories[int(np.argmax(mean[: len(column.categories)]))], None, None
        )
    if column.kind == "boolean":
        return Known(column, bool(mean[0] > 0.5), None, None)
    ends = float(low[0]), float(high[0])
    if column.kind == "date":
        typical = _date(column, float(round(float(mean[0]))))
        return Known(column, typical, *(_date(column, end) for end in ends))
    return Known(column, float(mean[0]), *ends)


def _date(column: "Column", days: float) -> str:
    """The date so many days after the first one, as the table writes dates."""
    import pandas as pd

    date = pd.Timestamp(column.origin) + pd.Timedelta(days=days)
    if column.format in ("", "ISO8601"):
        whole = date == date.normalize()
        return date.strftime("%Y-%m-%d" if whole else "%Y-%m-%dT%H:%M:%S")
    return date.strftime(column.format)


def _duration(column: "Column", text: Any) -> float:
    """A duration as text, in the column's unit."""
    import pandas as pd

    from goodprior.data.table.cells import numbers_in

    return float(numbers_in(column, pd.Series([str(text)], name=column.name))[0])


def _as_durations(column: "Column", numbers: Any) -> Any:
    """Numbers in the column's unit as a table writes durations, such as 1 days 02:30:00."""

    from goodprior.data.table.cells import UNITS

    return (numbers * UNITS[column.unit]).dt.round("s").astype(str).astype(object)


def _named(text: str, known: dict[str, Known], option: str, example: str) -> tuple[str, str]:
    """The column and what is said of it, at the first sign that follows a known name."""
    name, sign, value = text.partition("=")
    while sign and name.strip() not in known and "=" in value:
        more, sign, value = value.partition("=")
        name = f"{name}={more}"
    name = name.strip()
    if name not in known:
        raise ValueError(f"{option}: there is no column {name!r}; the model has {', '.join(known)}")
    if option == "--at" and not sign:
        raise ValueError(f"--at takes a column and a value, such as {example}; got {text!r}")
    return name, value.strip()


def _axis(text: str, known: dict[str, Known]) -> tuple[str, list[Any]]:
    """A column and its values."""
    name, words = _named(text, known, "--grid", "age=20:80:61")
    each = known[name]
    if each.column.kind in ("category", "boolean"):
        if words:
            values = [_value(each, word.strip()) for word in words.split(",")]
            return name, list(dict.fromkeys(values))
        return name, list(each.column.levels) if each.column.categories else [False, True]
    low, high, points = _ends(name, words, each)
    if each.column.kind == "date":
        return name, _dates(each, low, high, points)
    first, last = _value(each, low), _value(each, high)
    if not first < last:
        raise ValueError(f"--grid: {name} must go up, and goes from {first:g} to {last:g}")
    return name, np.linspace(first, last, points).tolist()


def _ends(name: str, words: str, each: Known) -> tuple[Any, Any, int]:
    if not words:
        return each.low, each.high, POINTS
    parts = [part.strip() for part in words.split(":")]
    points = parts[2] if len(parts) == 3 else str(POINTS)
    if len(parts) not in (2, 3) or not points.isdecimal() or int(points) < 2:
        raise ValueError(
            f"--grid takes from, to and how many (2 or more), such as {name}=20:80:61; got "
            f"{name}={words}"
        )
    return parts[0], parts[1], int(points)


def _dates(each: Known, low: Any, high: Any, points: int) -> list[str]:
    first, last = (_days(each, value) for value in (low, high))
    if not first < last:
        raise ValueError(f"--grid: {each.column.name} must go up, and goes from {low} to {high}")
    days = np.linspace(first, last, points)
    if first.is_integer() and last.is_integer():
        days = np.unique(days.round())  # whole days, of which there may be fewer than points
    return [_date(each.column, day) for day in days.tolist()]


def _days(each: Known, value: Any) -> float:
    """A date in days since the column's first one."""
    import pandas as pd

    from goodprior.data.table.encode import Columns
    from goodprior.data.table.errors import TableError

    name = each.column.name
    try:
        cell = pd.DataFrame({name: [str(value)]}, dtype=object)
        return float(Columns((each.column,)).matrix(cell)[0, 0])
    except TableError:
        raise ValueError(
            f"{name} must be a date as in training, such as {each.typical}; got {value}"
        ) from None


def _value(each: Known, text: Any) -> Any:
    """One value of a column, as its kind."""
    column = each.column
    if column.kind == "category":
        if text not in column.levels:
            known = ", ".join(column.levels)
            raise ValueError(f"{column.name} must be one of {known}; got {text!r}")
        return text
    if column.kind == "boolean":
        if str(text).lower() not in ("true", "false", "1", "0"):
            raise ValueError(f"{column.name} must be true or false; got {text!r}")
        return str(text).lower() in ("true", "1")
    if column.kind == "date":
        return _date(column, _days(each, text))
    if column.kind == "duration" and ":" in str(text):
        return _duration(column, text)
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise ValueError(f"{column.name} must be a number; got {text!r}")
    return number


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
