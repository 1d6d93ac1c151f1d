"""`goodprior predict`: predictions of a model file for the rows of a table, or on a grid."""

from collections.abc import Generator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from goodprior.commands import options, predict_options
from goodprior.commands.console import (
    check_output,
    prepare,
    print_json,
    report_errors,
    report_warnings,
    wrong_option,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from goodprior.commands.model_file import ModelFile
    from goodprior.commands.predictions import Asked

Columns = dict[str, "np.ndarray"]


def predict(
    model: options.ModelPath,
    data: options.NewData = None,
    out: options.PredictionsOut = None,
    grid: predict_options.Grid = None,
    at: predict_options.At = None,
    level: options.Level = 0.95,
    quantiles: predict_options.Quantiles = None,
    above: predict_options.Above = None,
    below: predict_options.Below = None,
    between: predict_options.Between = None,
    target: predict_options.Target = None,
    rows_at_once: predict_options.RowsAtOnce = None,
    as_json: options.AsJSON = False,
) -> None:
    """Predict for the rows of a table: its own columns, and behind them what is predicted.

    For numbers: mean, std, low and high of an observation (function and noise), and what
    --quantiles, --above, --below and --between ask for. For classes: the most probable class, and
    the probability of each. Tables of any length are read some rows at a time.
    """
    from goodprior.commands.predictions import parse_asked

    if (data is None) == (not grid):
        raise typer.BadParameter("give either a table or --grid", param_hint="DATA")
    if at and not grid:
        raise typer.BadParameter("goes with --grid", param_hint="--at")
    path = out or (None if as_json else Path("predictions.csv"))
    if path is not None:
        check_output(path, ".csv", ".tsv")
    with wrong_option():
        asked = parse_asked(level, quantiles, above, below, between, target)
    with report_errors(), report_warnings(alike=True) as warned:
        from goodprior.commands.model_file import open_model
        from goodprior.commands.predictions import refuse_unfit

        file = open_model(model)
        refuse_unfit(file.model, file.targets, asked)
        if data is None:
            parts = _on_grid(file, grid or [], at or [], asked)
        else:
            parts = _in_blocks(file, data, asked, rows_at_once)
        prepare()
        written = _write(path, parts, keep=as_json)
        source = "the grid" if data is None else str(data)
        if path is not None:
            typer.echo(f"{written.describe(source)}: {path}", err=as_json)
        if as_json:
            regression = file.model.TASK == "regression"
            about = {"task": file.model.TASK, "rows": written.rows, "warnings": warned}
            about |= {"level": level if regression else None, "out": str(path) if path else None}
            grid_columns = {} if data is not None else {"grid": written.inputs}
            print_json(about | grid_columns | {"predictions": written.predictions})


def _on_grid(
    file: "ModelFile", grid: list[str], at: list[str], asked: "Asked"
) -> "Generator[tuple[pd.DataFrame, Columns], None, None]":
    """Rows on a grid and what is predicted for them, one block after another."""
    from goodprior.commands.grid import describe_fixed, grid_rows
    from goodprior.commands.predictions import predictions
    from goodprior.data.table.stream import ROWS

    frame = grid_rows(file, grid, at)
    if file.decimal is not None:
        frame.attrs["decimal"] = file.decimal
    typer.echo(f"{len(frame)} rows on the grid, with {describe_fixed(frame, grid)}", err=True)
    for start in range(0, len(frame), ROWS):
        part = frame.iloc[start : start + ROWS]
        yield part, predictions(file.model, file.inputs(part), file.targets, asked)


def _in_blocks(
    file: "ModelFile", data: Path, asked: "Asked", rows: int | None
) -> "Generator[tuple[pd.DataFrame, Columns], None, None]":
    """Rows as they are written and what is predicted for them, one block after another."""
    from goodprior.commands.predictions import predictions
    from goodprior.data.table.stream import ROWS, read_blocks
    from goodprior.progress import tracking

    done = 0
    with closing(read_blocks(data, rows or ROWS, decimal=file.decimal)) as blocks:
        block = next(blocks)
        if file.noise_column is not None and file.noise_column not in block.frame.columns:
            typer.echo(
                f"{data} has no {file.noise_column}: the noise of its rows is taken to be the root "
                "mean square of that in training",
                err=True,
            )
        with tracking("predicting", quiet=block.only) as track:
            while block is not None:
                inputs, noise = file.inputs(block.frame), file.known_noise(block.frame)
                yield block.text, predictions(file.model, inputs, file.targets, asked, noise)
                done += len(block.frame)
                track(block.read, block.size, f"bytes, {done} rows")
                block = next(blocks, None)


@dataclass
class _Written:
    """What was written: how many rows, of which columns; predictions where they are kept."""

    rows: int = 0
    width: int = 0
    names: tuple[str, ...] = ()
    inputs: dict[str, list[Any]] = field(default_factory=dict)
    predictions: dict[str, list[Any]] = field(default_factory=dict)

    def describe(self, source: str) -> str:
        own = f"{self.width} column" + "s" * (self.width != 1)
        behind = f"with {', '.join(self.names)} behind the {own} of {source}"
        return f"{self.rows} rows, {behind}"

    def keep(self, rows: "pd.DataFrame", found: Columns) -> None:
        for name in rows.columns:
            self.inputs.setdefault(str(name), []).extend(rows[name].tolist())
        for name, values in found.items():
            self.predictions.setdefault(name, []).extend(values.tolist())


def _write(
    path: Path | None, parts: "Generator[tuple[pd.DataFrame, Columns], None, None]", *, keep: bool
) -> _Written:
    """Write rows and predictions block after block; the file as a whole or not at all."""
    from goodprior.storage import replacing_file

    done, decimal = _Written(), None
    with closing(parts), nullcontext() if path is None else replacing_file(path) as stream:
        for rows, found in parts:
            if stream is not None and path is not None:
                decimal = decimal or rows.attrs.get("decimal", ".")  # that of the first block
                text = table_text(path, rows, found, header=done.rows == 0, decimal=decimal)
                stream.write(text)
            if keep:
                done.keep(rows, found)
            done.rows += len(rows)
            done.width, done.names = len(rows.columns), tuple(found)
    return done


def table_text(
    path: Path, rows: "pd.DataFrame", found: Columns, *, header: bool, decimal: str = "."
) -> bytes:
    """Return the rows as they were, then the new columns, as text for a file of this name.

    Where the rows have a column of that name already, the new ones begin with `predicted_`.
    Decimal commas, of rows that have them, come with semicolons between columns.
    """
    before = "predicted_" if set(found) & set(rows.columns) else ""
    table = rows.assign(**{before + name: values for name, values in found.items()})
    separator = "\t" if path.suffix.lower() == ".tsv" else ";" if decimal == "," else ","
    text = table.to_csv(
        index=False,
        sep=separator,
        float_format="%.7g",
        lineterminator="\n",
        header=header,
        decimal=decimal,
    )
    return text.encode()
