"""Arguments and options of the commands, with their help."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class PriorName(StrEnum):
    FG = "fg"
    FH = "fh"
    GPI_G = "gpi-g"
    GPI_H = "gpi-h"
    GPI_NF = "gpi-nf"


class TaskName(StrEnum):
    AUTO = "auto"
    REGRESSION = "regression"
    CLASSIFICATION = "classification"


class MethodName(StrEnum):
    AUTO = "auto"
    MCLMC = "mclmc"
    SGHMC = "sghmc"
    NUTS = "nuts"
    LAPLACE = "laplace"
    ENSEMBLE = "ensemble"
    FBNN = "fbnn"
    MAP = "map"


class LikelihoodName(StrEnum):
    AUTO = "auto"
    HETEROSCEDASTIC_T = "heteroscedastic-t"
    HETEROSCEDASTIC = "heteroscedastic"
    GAUSSIAN = "gaussian"
    STUDENT_T = "student-t"


class DistanceName(StrEnum):
    ENERGY = "energy"
    WASSERSTEIN = "wasserstein"


Seed = Annotated[int, typer.Option(help="Seed of all random numbers.", min=0)]
AsJSON = Annotated[
    bool, typer.Option("--json", help="One JSON object on stdout, the rest on stderr.")
]
ModelPath = Annotated[
    Path, typer.Argument(help="A file that `goodprior fit` wrote.", exists=True, dir_okay=False)
]

# Of `fit`
TrainingData = Annotated[
    Path,
    typer.Argument(
        help="A table: CSV (.csv, .tsv, .txt), Excel (.xlsx), Parquet or Feather, also compressed.",
        exists=True,
        dir_okay=False,
    ),
]
Target = Annotated[
    list[str],
    typer.Option(metavar="NAME", help="The column to predict, or several: y1,y2 (or repeat it)."),
]
Prior = Annotated[
    PriorName,
    typer.Option(help="gpi-…: matched to the belief. fg, fh: the usual, knowing nothing."),
]
Belief = Annotated[
    str | None,
    typer.Option(
        help="What functions are like: smooth, rough, trend, fit (to the rows), or "
        "lengths and heights in the columns' own units, such as "
        '"lengthscale.age=10, amplitude=3". '
        "Also period.COLUMN=12 (or year, week, … for dates), levels.CATEGORY=similar, "
        "monotone.COLUMN=increasing, "
        "curves=EXAMPLES.csv, and sums of these with +."
    ),
]
BeliefFile = Annotated[
    Path | None,
    typer.Option(
        help="A JSON file with a belief, as `goodprior studio` saves it, in place of --belief.",
        exists=True,
        dir_okay=False,
    ),
]
Task = Annotated[TaskName, typer.Option(help="auto: text and few whole numbers are classes.")]
Method = Annotated[
    MethodName,
    typer.Option(
        help="auto, mclmc, sghmc and nuts sample. laplace, ensemble and fbnn (for numbers) "
        "approximate. map: one network, fast, no error bars."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A column to leave out; repeat it for several."),
]
Impute = Annotated[
    bool, typer.Option("--impute", help="Fill gaps with medians and most frequent values.")
]
NoiseColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A column with the standard deviation of each row's noise, which is not learned then.",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="A first look: short chains.")]
Draws = Annotated[
    int | None, typer.Option(help="Draws to keep per chain; more of them take longer.", min=2)
]


def seconds(value: float | None) -> float | None:
    """The value of an option that is a number of seconds, or a message that it is none."""
    if value is not None and not value > 0:
        raise typer.BadParameter("must be a number of seconds above zero")
    return value


Budget = Annotated[
    float | None,
    typer.Option(
        help="Seconds after which the fit ends with what there is, whatever the method.",
        callback=seconds,
    ),
]

_DETAILS = "Noise, network and sampler (chosen by themselves)"
LikelihoodOf = Annotated[
    LikelihoodName,
    typer.Option(
        "--likelihood",
        rich_help_panel=_DETAILS,
        help="Of numbers. heteroscedastic-t (auto, by samplers) and heteroscedastic: noise that "
        "depends on the inputs; gaussian: the same everywhere; student-t: that with outliers.",
    ),
]
Noise = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=_DETAILS,
        help="The noise's standard deviation in the target's units, where it is known.",
    ),
]
Hidden = Annotated[
    str | None,
    typer.Option(
        metavar="WIDTHS",
        rich_help_panel=_DETAILS,
        help="Widths of hidden layers, such as 50,50: an MLP, matched to the belief in steps.",
    ),
]
Activation = Annotated[
    str | None,
    typer.Option(rich_help_panel=_DETAILS, help="Of the MLP: tanh, relu, and others."),
]
Chains = Annotated[
    int | None, typer.Option(rich_help_panel=_DETAILS, help="How many chains.", min=1)
]
StepSize = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=_DETAILS,
        help="Of --method sghmc, which shortens it where the kinetic temperature is too high.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        help="A folder in which progress is kept: the same command goes on after a stop.",
        file_okay=False,
    ),
]
ModelOut = Annotated[Path, typer.Option(help="Where to write the model.", dir_okay=False)]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No progress and no summary; warnings remain.")
]

# Of `predict`
NewData = Annotated[
    Path | None,
    typer.Argument(
        help="A table with the columns of the training table.", exists=True, dir_okay=False
    ),
]
PredictionsOut = Annotated[
    Path | None,
    typer.Option(
        help="Where to write the table. Default: predictions.csv, or with --json nowhere.",
        dir_okay=False,
    ),
]
Level = Annotated[float, typer.Option(help="How often an observation lies between low and high.")]
