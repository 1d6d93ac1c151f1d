"""The training table of `goodprior fit`: inputs and targets from a file, and what they are."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from goodprior.data.table.encode import Columns


@dataclass(frozen=True)
class TrainingTable:
    """A table as inputs and targets, and what was understood of it."""

    rows: "pd.DataFrame"  # as the estimators take them
    inputs: "pd.DataFrame"  # the numbers that they become
    targets: "np.ndarray"
    names: list[str]  # of the targets
    columns: "Columns"
    counters: list[str]  # inputs that go up by one from row to row
    task: Literal["regression", "classification"]
    decimal: str | None = None  # a comma, if the file has decimal commas
    noise: "np.ndarray | None" = None  # standard deviation of each row's, where it is known
    noise_column: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what a model file keeps of it, as `table_` of the estimator."""
        known = {} if self.noise_column is None else {"noise_std": self.noise_column}
        about = {"targets": self.names, "rows": len(self.inputs), "decimal": self.decimal}
        return about | known


def read_training_table(
    data: Path,
    targets: list[str],
    drop: list[str],
    impute: bool,
    task: str,
    noise_column: str | None = None,
) -> TrainingTable:
    """Read a file as inputs and targets.

    Parameters
    ----------
    data
        A file with a table.
    targets
        Names of the columns to predict.
    drop
        Names of columns to leave out.
    impute
        Whether to fill in missing values.
    task
        `"regression"`, `"classification"`, or `"auto"` to go by the targets.
    noise_column
        Name of the column with the standard deviation of each row's noise, if it is known.

    Raises
    ------
    ValueError
        If the table cannot be read, or does not suit the task.
    """
    import pandas as pd

    from goodprior.data.table.encode import Columns
    from goodprior.data.table.errors import refuse_absent
    from goodprior.data.table.read import read_table
    from goodprior.data.table.targets import target_values

    frame = read_table(data)
    names = _split_targets(targets, set(frame.columns))
    y = target_values(frame, names[0] if len(names) == 1 else names)
    same = [name for name in names if frame[name].nunique() == 1]
    if same:
        raise ValueError(f"{', '.join(same)}: the same value in every row, nothing to predict")
    known = [] if noise_column is None else [noise_column]
    refuse_absent(known, frame)
    columns, matrix = Columns.fit_transform(
        frame, target=names, impute=impute, drop=[*drop, *known]
    )
    rows = frame.drop(columns=[*columns.left_out])
    inputs = pd.DataFrame(matrix, columns=columns.names)
    counters, task = _counters(rows), _task(task, y, names[0])
    noise = None if noise_column is None else _training_noise(frame, noise_column, task)
    about = names, columns, counters, task, frame.attrs.get("decimal")
    return TrainingTable(rows, inputs, y, *about, noise, noise_column)


def _training_noise(frame: "pd.DataFrame", column: str, task: str) -> "np.ndarray":
    if task != "regression":
        raise ValueError("--noise-std-column is for numbers, and these targets are classes")
    return noise_values(frame, column)


def noise_values(frame: "pd.DataFrame", column: str) -> "np.ndarray":
    """Return a column's standard deviations of the noise, which must be above zero."""
    import numpy as np

    from goodprior.data.table.errors import refuse_cells
    from goodprior.data.table.targets import target_values

    found = target_values(frame[[column]], column)
    numbers = found.dtype.kind in "fiu"
    bad = ~(found > 0) if numbers else np.ones(len(frame), bool)
    if bad.any():
        refuse_cells(column, frame[column], bad, "standard deviations, numbers above zero")
    return found.astype(np.float64)


def _split_targets(targets: list[str], columns: set[str]) -> list[str]:
    """Names of targets; those between commas, unless a column is called so.

    >>> _split_targets(["a,b", "c,d"], {"a", "b", "c,d"})
    ['a', 'b', 'c,d']
    """
    found = (
        [text] if text in columns else [word.strip() for word in text.split(",")]
        for text in targets
    )
    return list(dict.fromkeys(name for names in found for name in names if name))


def _task(task: str, y: "np.ndarray", name: str) -> Literal["regression", "classification"]:
    """The task, once the targets are known to suit it."""
    import numpy as np

    from goodprior.data.table.targets import looks_like_classes

    if task == "regression" and y.dtype.kind not in "fiub":
        raise ValueError(
            f"--task regression needs numbers, and {name} holds text such as {str(y[0])!r}"
        )
    if task == "classification" and y.ndim > 1:
        raise ValueError("--task classification takes one --target")
    if task == "classification" and y.dtype.kind == "f" and (y % 1).any():
        raise ValueError(
            f"--task classification needs labels, and {name} holds {y[y % 1 != 0][0]:g}"
        )
    if task == "regression" or (task == "auto" and not looks_like_classes(y)):
        return "regression"
    if (classes := len(np.unique(y))) > len(y) / 2:
        raise ValueError(
            f"{name} has {classes} different values in {len(y)} rows, such as {str(y[0])!r}: "
            "too many to be classes" + " (--task regression?)" * (y.dtype.kind in "fiu")
        )
    return "classification"


def _counters(frame: Any) -> list[str]:
    numbers = frame.select_dtypes("integer")
    return [name for name in numbers if len(frame) > 2 and (numbers[name].diff()[1:] == 1).all()]


def _season(name: str, seasons: tuple[str, ...]) -> str | None:
    """How a belief could name the seasons of a column of dates."""
    if not seasons:
        return None
    terms = " + ".join(f"season(period.{name}={word})" for word in seasons)
    spans = f"  {name} is long enough for seasons of a {' and a '.join(seasons)}"
    return f"{spans}: --belief {quote(f'smooth + {terms}')}"


def describe_table(table: TrainingTable, *, belief_stated: bool = False) -> str:
    """Return a few lines on columns and targets.

    Parameters
    ----------
    table
        As it was understood.
    belief_stated
        Whether the user has said what functions are like, and needs no hints on that.
    """
    import numpy as np

    lines = [f"{len(table.inputs)} rows, {table.columns.describe()}"]
    if table.decimal:
        lines.append("  numbers have decimal commas")
    for column in () if belief_stated else table.columns.columns:
        if season := _season(column.name, column.seasons):
            lines.append(season)
    for name in () if belief_stated else table.counters:
        lines.append(f"  {name} only counts the rows? then leave it out: --drop {quote(name)}")
    names = ", ".join(table.names)
    if table.task == "regression":
        lines.append(f"regression: numbers for {names}")
        if table.noise is not None:
            low, high = table.noise.min(), table.noise.max()
            span = f"standard deviations from {low:.4g} to {high:.4g}"
            lines.append(f"  the noise of each row is known, in {table.noise_column}: {span}")
    else:
        classes = [str(value) for value in np.unique(table.targets)]
        shown = ", ".join(classes[:10]) + ", …" * (len(classes) > 10)
        lines.append(f"classification: {names} is one of {shown}")
        if table.targets.dtype.kind in "fiu":
            lines.append("  (--task regression if these are amounts rather than labels)")
    return "\n".join(lines)
