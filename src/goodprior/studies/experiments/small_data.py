"""CIFAR-10 with few training images (section 6.4): figure 11."""

from dataclasses import replace

from goodprior.studies.engine.study import Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.experiments import uci_classification
from goodprior.studies.protocols import images
from goodprior.studies.protocols.method_names import LABELS

ACCURACY, NLL = (replace(one, table="") for one in (images.ACCURACY, images.NLL))
METHODS = ("fg", "gpi-g", "fh", "gpi-h", "ensemble")


def run(settings: Settings) -> Row:
    """Fit one method to so many images, and score its predictions."""
    row = uci_classification.run(settings)
    if row["training_rows"] < settings["rows"]:
        raise ValueError(
            f"{settings['rows']:,} training images were asked for and {row['training_rows']:,} are "
            "there: put all of CIFAR-10 into the data folder, or choose smaller --sizes"
        )
    return row


def figures(rows: Frame) -> Figures:
    """Accuracy and NLL against the number of training images, a panel per network."""
    from goodprior.studies.reports.figures import curves

    found = {}
    for one in (ACCURACY, NLL):
        runs = rows.drop(columns="dataset").sort_values("rows")
        runs[one.metric] *= one.scale
        lists = runs.groupby(["network", "method", "split"], as_index=False).agg(list)
        named = lists.rename(columns={"network": "dataset", "rows": "training_images"})
        labels = {name: LABELS[name] for name in METHODS}
        options = {"x": "training_images", "y": one.axis, "labels": labels, "log": False}
        found[one.metric] = curves(named, one.metric, "method", **options)
    return found


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
