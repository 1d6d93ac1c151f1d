"""Options of `goodprior predict`, with their help."""

from typing import Annotated

import typer

Grid = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=FROM:TO:POINTS",
        help="In place of a table: rows along a column, or two of them, the others at typical "
        "values. NAME alone: the range of training, or all categories.",
    ),
]
At = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="With --grid: a column's value.")
]
Quantiles = Annotated[str | None, typer.Option(help="Further quantiles, such as 0.05,0.5,0.95.")]
Above = Annotated[
    list[float] | None, typer.Option(help="The probability that an observation is above this.")
]
Below = Annotated[list[float] | None, typer.Option(help="The same for below.")]
Between = Annotated[
    list[str] | None, typer.Option(metavar="LOW,HIGH", help="The same for between two numbers.")
]
Target = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Of several targets those to predict. Default: all."),
]
RowsAtOnce = Annotated[
    int | None,
    typer.Option(help="Rows of a text file in memory at a time. Default: 20000.", min=1),
]
