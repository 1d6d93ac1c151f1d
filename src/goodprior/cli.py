"""The command line. Heavy imports live inside the commands, so that `--help` answers at once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="From a belief about functions to a prior over a neural network's weights, and its posterior.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def goodprior() -> None:
    """Keep `goodprior demo` a subcommand while it is the only one."""


class DistanceName(StrEnum):
    ENERGY = "energy"
    WASSERSTEIN = "wasserstein"


@app.command()
def demo(
    distance: Annotated[
        DistanceName, typer.Option(help="How to match: the fast default, or the paper's critic.")
    ] = DistanceName.ENERGY,
    out: Annotated[Path, typer.Option(help="Where to write the picture.")] = Path(
        "goodprior-demo.png"
    ),
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
) -> None:
    """The paper's 1-D example: priors, matching and posteriors in one picture. Needs no data."""
    from goodprior import demo as example

    data, panels = example.run(distance=distance.value, seed=seed)
    example.draw(data, panels, out)
    _print_table(
        [panel.row for panel in panels],
        "1-D example: energy distance of the prior's functions to the belief's, error on the "
        "true function, NLL of new observations",
    )
    typer.echo(f"picture: {out}")


def _print_table(rows: list[dict[str, float | str]], title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table(title=title)
    for i, name in enumerate(names):
        table.add_column(name, justify="left" if i == 0 else "right")
    for row in rows:
        values = [row.get(name, "") for name in names]
        table.add_row(*(f"{v:.3f}" if isinstance(v, float) else str(v) for v in values))
    Console().print(table)


def main() -> None:
    """The entry point of the `goodprior` command."""
    app()
