"""`goodprior demo`: the paper's small examples."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from goodprior.commands.console import check_output, prepare
from goodprior.commands.options import DistanceName, Seed


class PriorName(StrEnum):
    FG = "fg"
    FH = "fh"
    GPI_G = "gpi-g"
    GPI_H = "gpi-h"
    GPI_NF = "gpi-nf"
    ALL = "all"


class Example(StrEnum):
    ONE_DIMENSION = "1d"
    BANANA = "banana"


def demo(
    example: Annotated[
        Example, typer.Argument(help="Regression with one input, or 2-D classification.")
    ] = Example.ONE_DIMENSION,
    prior: Annotated[
        list[PriorName] | None,
        typer.Option(help="Prior to show; repeat for several. Default: fg and gpi-g."),
    ] = None,
    distance: Annotated[
        DistanceName, typer.Option(help="How to match: the fast default, or the paper's critic.")
    ] = DistanceName.ENERGY,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the picture.", dir_okay=False)
    ] = None,
    seed: Seed = 0,
) -> None:
    """The paper's small examples, as a picture and a table. Needs no data.

    1d: priors, matching and posteriors side by side. banana: what the belief's amplitude and
    lengthscale do to a classifier.
    """
    path = out or Path(f"goodprior-{example.value}.png")
    check_output(path)
    if example is Example.BANANA and prior:
        raise typer.BadParameter("the banana example always shows gpi-g", param_hint="--prior")
    prepare()
    if example is Example.BANANA:
        _banana(distance.value, seed, path)
    else:
        _one_dimension(prior or [PriorName.FG, PriorName.GPI_G], distance.value, seed, path)
    typer.echo(f"picture: {path}")


def _one_dimension(priors: list[PriorName], distance: str, seed: int, path: Path) -> None:
    from goodprior.demos import regression_1d

    if PriorName.ALL in priors:
        priors = [name for name in PriorName if name is not PriorName.ALL]
    names = tuple(dict.fromkeys(name.value for name in priors))
    data, panels = regression_1d.run(names, distance=distance, seed=seed)
    regression_1d.picture(data, panels).savefig(path)
    _print_table(
        [panel.row for panel in panels],
        "1-D example: energy distance of the prior's functions to the belief's, error on the "
        "true function, NLL of new observations",
    )


def _banana(distance: str, seed: int, path: Path) -> None:
    from goodprior.demos import banana

    X, y, panels = banana.run(distance=distance, seed=seed)
    banana.picture(X, y, panels).savefig(path)
    _print_table(
        [panel.row for row in panels for panel in row],
        f"{banana.points_and_labels()[2]}: the posterior of a two-layer network by belief",
    )


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
