"""CIFAR-10 with few training images (section 6.4): figure 11."""

from dataclasses import replace

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study
from goodprior.studies.experiments import uci_classification
from goodprior.studies.protocols import images

ACCURACY, NLL = (replace(one, table="") for one in (images.ACCURACY, images.NLL))
METHODS = ("fg", "gpi-g", "fh", "gpi-h", "ensemble")


def run(settings: Settings) -> Row:
    """Fit one method to so many images, and score its predictions."""
    from goodprior.data import load

    _, y, _, _ = load(settings["dataset"]).split(0)
    if settings["rows"] > len(y):
        raise ValueError(
            f"{settings['rows']:,} training images were asked for and {len(y):,} are there: put "
            "all of CIFAR-10 into the data folder, or choose smaller --sizes"
        )
    return uci_classification.run(settings)


def figures(rows: Frame) -> Figures:
    """Accuracy and NLL against the number of training images, a column per network."""
    from goodprior.studies.reports.image_figures import by_size

    return {"sizes": by_size(rows, (ACCURACY, NLL))}


STUDY = Study(
    name="small-data",
    title="CIFAR-10 with few training images",
    shows="figure 11",
    presets={
        "paper": Choice(
            *("paper", ("cifar10",), METHODS),
            networks=images.NETWORKS,
            sizes=(500, 2000, 5000, 10_000, 20_000, 30_000, 40_000, 50_000),
        ),
        "quick": Choice(
            *("quick", ("cifar10",), ("fg", "gpi-g", "fh", "gpi-h")),
            networks=("lenet5",),
            sizes=(500, 2000, 10_000),
            splits=3,
            distance="energy",
        ),
    },
    cuts=images.QUICK_CUTS.replace("one run instead of four", "three runs instead of four")
    + "; 500, 2,000 and 10,000 images; no ensemble",
    grid=images.image_jobs,
    run=run,
    figures=figures,
    columns=images.COLUMNS,
    keys=("network", "rows", "method"),
    against=(ACCURACY, NLL),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=images.image_cost,
    remarks=images.REMARKS + " As many images of each class, drawn anew in each run. The paper "
    "has VGG16 and PreResNet20 in a figure whose sizes are not in its text: those here are ours, "
    "and LeNet5 as well.",
)
