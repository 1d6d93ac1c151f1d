"""Options of `goodprior compare`, with their help."""

from pathlib import Path
from typing import Annotated

import typer

from goodprior.commands.options import seconds

Priors = Annotated[
    list[str] | None,
    typer.Option(help="Priors to compare, such as gpi-g,gpi-h. Default: fg,gpi-g,gpi-h."),
]
Beliefs = Annotated[
    list[str] | None, typer.Option(help="A belief to compare, as in `fit`; repeat it for several.")
]
Methods = Annotated[list[str] | None, typer.Option(help="Methods to compare, such as sghmc,auto.")]
Folds = Annotated[int, typer.Option(help="Folds of the cross-validation.", min=2)]
Peers = Annotated[
    bool, typer.Option(help="Also scikit-learn's Gaussian process and boosting, as references.")
]
Budget = Annotated[
    float | None,
    typer.Option(help="Seconds for all fits, which share what is left of them.", callback=seconds),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        help="A folder that keeps finished fits: the same command goes on after a stop.",
        file_okay=False,
    ),
]
ReportOut = Annotated[
    Path | None,
    typer.Option(help="Where to write a page (.html) or all scores (.json).", dir_okay=False),
]
