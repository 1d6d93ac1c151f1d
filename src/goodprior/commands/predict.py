"""`goodprior predict`: predictions of a model file for the rows of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from goodprior.commands import options
from goodprior.commands.console import (
    check_output,
    prepare,
    print_json,
    report_errors,
    report_warnings,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


def predict(
    model: options.ModelPath,
    data: options.NewData,
    out: options.PredictionsOut = None,
    level: options.Level = 0.95,
    as_json: options.AsJSON = False,
) -> None:
    """Predict for the rows of a table: its own columns, and behind them what is predicted.

    For numbers: mean, std, low and high of an observation (function and noise). For classes: the
    most probable class, and the probability of each.
    """
    path = out or (None if as_json else Path("predictions.csv"))
    if path is not None:
        check_output(path, ".csv", ".tsv")
    if not 0 < level < 1:
        raise typer.BadParameter(
            f"must lie between 0 and 1, such as 0.95; got {level:g}", param_hint="--level"
        )
    with report_errors(), report_warnings() as warned:
        from goodprior.commands.model_file import open_model
        from goodprior.data.table.read import read_table

        prepare()
        file = open_model(model)
        frame = file.read(data)
        found = predictions(file.model, file.inputs(frame), file.targets, level)
        if path is not None:
            written = read_table(data, least_columns=1, as_text=True)
            write_table(path, written, found, decimal=frame.attrs.get("decimal", "."))
            typer.echo(
                f"{len(frame)} rows, with {', '.join(found)} behind the {len(frame.columns)} "
                f"columns of {data}: {path}",
                err=as_json,
            )
        if as_json:
            print_json(
                {
                    "task": file.model.TASK,
                    "rows": len(frame),
                    "level": level if file.model.TASK == "regression" else None,
                    "predictions": {name: values.tolist() for name, values in found.items()},
                    "out": None if path is None else str(path),
                    "warnings": warned,
                }
            )


def predictions(
    model: Any, inputs: "pd.DataFrame", targets: list[str], level: float
) -> "dict[str, np.ndarray]":
    """Return the new columns. With several targets their names come first: `y_mean`, `y_std`, …"""
    import numpy as np

    if model.TASK == "classification":
        probabilities = model.predict_proba(inputs)
        found = {"class": model.classes_[probabilities.argmax(axis=1)]}
        for name, column in zip(model.classes_, probabilities.T, strict=True):
            found[f"probability_{name}"] = column
        return found
    mean, std = model.predict(inputs, return_std=True)
    low, high = model.predict_interval(inputs, level)
    parts = {"mean": mean, "std": std, "low": low, "high": high}
    if mean.ndim == 1:
        return parts
    names = targets or [f"target{i}" for i in range(mean.shape[1])]
    return {
        f"{name}_{part}": np.asarray(values)[:, i]
        for i, name in enumerate(names)
        for part, values in parts.items()
    }


def write_table(
    path: Path, rows: "pd.DataFrame", found: "dict[str, np.ndarray]", decimal: str = "."
) -> None:
    """Write the rows as they were, then the new columns; the file as a whole or not at all.

    Where the rows have a column of that name already, the new ones begin with `predicted_`.
    Decimal commas, of rows that have them, come with semicolons between columns.
    """
    from goodprior.storage import replace_file

    before = "predicted_" if set(found) & set(rows.columns) else ""
    table = rows.assign(**{before + name: values for name, values in found.items()})
    separator = "\t" if path.suffix == ".tsv" else ";" if decimal == "," else ","
    text = table.to_csv(
        index=False, sep=separator, float_format="%.7g", lineterminator="\n", decimal=decimal
    )
    replace_file(path, text.encode())
