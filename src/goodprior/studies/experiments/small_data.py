"""CIFAR-10 with few training images (section 6.4): figure 11."""

from dataclasses import replace

from goodprior.studies.engine.study import Figures, Frame, Row, Settings, Study, presets
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
    presets=presets(
        ("cifar10",),
        METHODS,
        networks=images.NETWORKS,
        sizes=(500, 2000, 5000, 10_000, 20_000, 30_000, 40_000, 50_000),
        quick={**images.QUICK, "methods": METHODS[:4], "sizes": (500, 2000, 10_000), "splits": 3},
    ),
    grid=images.image_jobs,
    run=run,
    figures=figures,
    columns=images.COLUMNS,
    keys=("network", "rows", "method"),
    against=(ACCURACY, NLL),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=images.image_cost,
)
