"""How a table becomes a matrix: learned from the training table, applied to any other."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from goodprior.data.table.cells import encode_column
from goodprior.data.table.column import KIND_NAMES, Column
from goodprior.data.table.errors import TableError, refuse_absent, refuse_missing, some
from goodprior.data.table.learn import learn_column


@dataclass(frozen=True)
class Columns:
    """The columns that are inputs, in order, and those that are left out.

    Numbers stay as they are, true and false become 1 and 0, dates days since the first one,
    durations days, hours or seconds, and texts one column per category; of many texts the rarer
    ones share a column. Columns with the same value in every row are left out. What a table lacks
    or has in the wrong form is named with its lines.

    Parameters
    ----------
    columns
        Those that are inputs.
    left_out
        Names of the targets and of columns that were dropped.
    constant
        Names of columns with the same value in every row, or in every row that has one.

    Examples
    --------
    >>> train = pd.DataFrame({"size": [1.5, 2.0], "color": ["red", "blue"], "y": [3.0, 4.0]})
    >>> columns = Columns.fit(train, target="y")
    >>> columns.names
    ['size', 'color=blue', 'color=red']
    >>> columns.matrix(pd.DataFrame({"color": ["blue"], "size": [7]})).tolist()
    [[7.0, 1.0, 0.0]]
    """

    columns: tuple[Column, ...]
    left_out: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls,
        frame: pd.DataFrame,
        *,
        target: str | list[str] | None = None,
        impute: bool = False,
        drop: Sequence[str] = (),
    ) -> "Columns":
        """Learn from a table which columns are inputs and what they hold, as `fit_transform`."""
        return cls.fit_transform(frame, target=target, impute=impute, drop=drop)[0]

    @classmethod
    def fit_transform(
        cls,
        frame: pd.DataFrame,
        *,
        target: str | list[str] | None = None,
        impute: bool = False,
        drop: Sequence[str] = (),
    ) -> "tuple[Columns, Float[np.ndarray, 'rows columns']]":
        """Learn from a table which columns are inputs and what they hold, and encode it.

        Parameters
        ----------
        frame
            The training table.
        target
            The columns to predict, which are no inputs.
        impute
            Whether missing values become the column's median, or its most frequent value.
        drop
            Columns to leave out.

        Returns
        -------
        Columns
            How to encode other tables alike.
        Float[np.ndarray, "rows columns"]
            The training table as numbers.

        Raises
        ------
        TableError
            If columns are absent, or their values missing or not understood.
        """
        frame = frame.rename(columns=str)
        drop = [drop] if isinstance(drop, str) else list(drop)
        targets = [target] if isinstance(target, str) else list(target or [])
        left_out = [*targets, *drop]
        refuse_absent(left_out, frame, arguments=("target", "drop"))
        others = [name for name in frame.columns if name not in left_out]
        if not others:
            raise TableError("the table has no columns besides the target and those dropped")
        constant = [name for name in others if _is_constant(frame[name], impute)]
        if len(constant) == len(others):
            raise TableError(
                f"{some(others)}: the same value in every row, so there is nothing to learn from"
            )
        inputs = [name for name in others if name not in constant]
        if impute:
            _warn_of_marks(frame[constant])
        else:
            refuse_missing(frame[inputs])
        learned = tuple(learn_column(frame[name], impute) for name in inputs)
        columns = cls(learned, tuple(left_out), tuple(constant))
        return columns, columns.matrix(frame)

    @property
    def names(self) -> list[str]:
        """The names of the matrix's columns: `size`, or `color=red`."""
        return [name for column in self.columns for name in column.names]

    @property
    def groups(self) -> dict[str, list[str]]:
        """The names of the matrix's columns that each category became."""
        return {each.name: each.names for each in self.columns if each.kind == "category"}

    @property
    def dates(self) -> list[str]:
        """The names of the columns that are dates, in days."""
        return [each.name for each in self.columns if each.kind == "date"]

    def matrix(self, frame: pd.DataFrame) -> Float[np.ndarray, "rows columns"]:
        """Return the table as numbers. Columns that were not there in training are ignored."""
        frame = frame.rename(columns=str)
        refuse_absent([column.name for column in self.columns], frame)
        if len(frame) == 0:
            raise TableError("the table has no rows")
        strict = [column.name for column in self.columns if column.fill is None]
        refuse_missing(frame[strict])
        return np.concatenate([encode_column(c, frame[c.name]) for c in self.columns], axis=1)

    def describe(self) -> str:
        """Return a few lines on what was understood."""
        count, inputs = len(self.columns), len(self.names)
        lines = [f"{count} column{'s' * (count > 1)} as {inputs} input{'s' * (inputs > 1)}"]
        for kind, name in KIND_NAMES.items():
            those = [column.describe() for column in self.columns if column.kind == kind]
            if those:
                lines.append(f"  {name}: {some(those)}")
        if any(column.fill is not None for column in self.columns):
            lines.append("  missing values become the median or the most frequent value")
        if self.left_out:
            lines.append(f"  not inputs: {some(self.left_out)}")
        if self.constant:
            lines.append(f"  left out, the same value in every row: {some(self.constant)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as dicts, lists, text and numbers, for JSON."""
        names = {"left_out": list(self.left_out), "constant": list(self.constant)}
        return {"columns": [column.to_dict() for column in self.columns], **names}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Columns":
        """Return the columns of which `to_dict` gave these values."""
        columns = tuple(Column.from_dict(column) for column in values["columns"])
        return cls(columns, tuple(values["left_out"]), tuple(values.get("constant", ())))


def _warn_of_marks(frame: Any) -> None:
    for name in frame.columns[frame.isna().any()]:
        warnings.warn(
            f"column {name!r} is {str(frame[name].dropna().iloc[0])!r} or empty, and is left out: "
            "if an empty cell means no, write no",
            stacklevel=4,
        )


def _is_constant(values: Any, impute: bool) -> bool:
    """Whether all rows have the same value; with `impute`, all that have one.

    A column such as `x` or nothing is not constant: its gaps are said to be missing.
    """
    try:
        return values.nunique() == 1 and (impute or not values.isna().any())
    except TypeError:  # lists and the like, which `learn_column` refuses
        return False
