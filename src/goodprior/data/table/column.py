"""What a column of a table holds, as it was learned from the training table."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from goodprior.data.table.errors import SHOWN

Kind = Literal["number", "boolean", "category", "date", "duration"]
KIND_NAMES: dict[str, str] = {
    "number": "numbers",
    "boolean": "true or false",
    "category": "categories",
    "date": "dates",
    "duration": "durations",
}


@dataclass(frozen=True)
class Column:
    """What one column holds, and how it becomes numbers.

    Parameters
    ----------
    name
        Of the column.
    kind
        `number`, `boolean`, `category`, `date` or `duration`.
    categories
        Texts with an input of their own.
    format
        Of dates in text.
    origin
        Dates are counted in days since this one.
    fill
        What stands for missing values; None: they are refused.
    grouped
        How many rarer texts share one more input, `other`, with those that were not seen; 0: there
        is no such input.
    unit
        In which durations are counted: `days`, `hours` or `seconds`.
    seasons
        Periods that the dates span at least twice: `year`, `week`, `day`.

    Examples
    --------
    >>> Column("color", "category", ("blue", "red"), grouped=7).names
    ['color=blue', 'color=red', 'color=other']
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()
    format: str = ""
    origin: str = ""
    fill: float | str | None = None
    grouped: int = 0
    unit: str = ""
    seasons: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the numbers it becomes."""
        if self.kind != "category":
            return [self.name]
        return [f"{self.name}={value}" for value in self.levels]

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of a category: its texts, and what stands for all others if there is one."""
        if not self.grouped:
            return self.categories
        return (*self.categories, "(other)" if "other" in self.categories else "other")

    def describe(self) -> str:
        """The name, and what else is to be known of it."""
        if self.kind == "category":
            shown = ", ".join(self.categories[:SHOWN]) + ", …" * (len(self.categories) > SHOWN)
            if not self.grouped:
                return f"{self.name} ({shown})"
            count, all_of_them = len(self.categories), len(self.categories) + self.grouped
            return (
                f"{self.name} ({shown}: the {count} most frequent of {all_of_them}; the rest count "
                f"as {self.levels[-1]})"
            )
        if self.kind == "date":
            return f"{self.name} (days since {self.origin[:10]})"
        return f"{self.name} (in {self.unit})" if self.kind == "duration" else self.name

    def to_dict(self) -> dict[str, Any]:
        """As dicts, lists, text and numbers, for JSON."""
        lists = {"categories": list(self.categories), "seasons": list(self.seasons)}
        return asdict(self) | lists

    @classmethod
    def from_dict(cls, values: Any) -> "Column":
        """The column of which `to_dict` gave these values; a `ValueError` if it gave none such."""
        if not isinstance(values, dict):
            raise ValueError(f"{values!r} does not describe a column")
        known = {field.name for field in fields(cls)}
        texts = {"name", "format", "origin", "unit"} & set(values)
        lists = {"categories", "seasons"} & set(values)
        good = (
            set(values) <= known
            and values.get("kind") in KIND_NAMES
            and all(isinstance(values[name], str) for name in texts)
            and all(isinstance(one, str) for name in lists for one in values[name])
            and isinstance(values.get("fill"), float | int | str | None)
            and isinstance(values.get("grouped", 0), int)
        )
        if not good:
            raise ValueError(f"{values} does not describe a column")
        tuples: dict[str, Any] = {name: tuple(values[name]) for name in lists}
        return cls(**values | tuples)
