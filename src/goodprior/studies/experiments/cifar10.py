"""Convolutional networks on CIFAR-10 (section 6.4): table 2."""

from goodprior.studies.engine.study import Choice, Figures, Frame, Study
from goodprior.studies.experiments.uci_classification import run
from goodprior.studies.protocols import images
from goodprior.studies.protocols.images import ACCURACY, NLL

METHODS = ("fg", "fg+ts", "gpi-g", "fh", "gpi-h", "ensemble")


def figures(rows: Frame) -> Figures:
    """Accuracy and NLL by network and method, without those that only had to run."""
    from goodprior.studies.reports.figures import dots

    if "burn_in" in rows:
        rows = rows[rows["burn_in"] != images.A_LOOK["burn_in"]]
    if rows.empty:
        return {}
    return {"benchmark": dots(rows, (ACCURACY, NLL), ("network", "method"))}


STUDY = Study(
    name="cifar10",
    title="LeNet5, PreResNet20 and VGG16 on CIFAR-10",
    shows="table 2",
    presets={
        "paper": Choice("paper", ("cifar10",), METHODS, networks=images.NETWORKS),
        "quick": Choice(
            *("quick", ("cifar10",), METHODS), networks=images.NETWORKS, splits=1, distance="energy"
        ),
    },
    cuts=images.QUICK_CUTS + images.LARGE_CUTS,
    grid=images.image_jobs,
    run=run,
    figures=figures,
    columns=images.COLUMNS,
    keys=("network", "method"),
    against=(ACCURACY, NLL),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=images.image_cost,
    remarks=images.REMARKS,
)
