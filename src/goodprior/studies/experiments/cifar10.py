"""Convolutional networks on CIFAR-10: table 2 (section 6.4), figures 15 and 20 (empirical Bayes,
section 6.5 and appendix B.4), and figure 18 (maximum a posteriori, section 6.7)."""

from dataclasses import replace

from goodprior.studies.engine.study import Choice, Figures, Frame, Settings, Study, presets
from goodprior.studies.experiments.uci_classification import run
from goodprior.studies.protocols import images
from goodprior.studies.protocols.images import ACCURACY, NLL

METHODS = ("fg", "fg+ts", "gpi-g", "fh", "gpi-h", "ensemble")


def figures(rows: Frame) -> Figures:
    """Accuracy and NLL by network and method."""
    from goodprior.studies.reports.figures import dots

    return {"benchmark": dots(rows, (ACCURACY, NLL), ("network", "method"))}


def without_failures(choice: Choice) -> list[Settings]:
    """The Laplace approximation refuses the batch normalisation of PreResNet20."""
    laplace = ("fg+la", "la-ggn", "gpi-g+la", "la-marglik")
    return [
        settings
        for settings in images.image_jobs(choice)
        if settings["network"] != "preresnet20" or settings["method"] not in laplace
    ]


TABLE = Study(
    name="cifar10",
    presets=presets(("cifar10",), METHODS, networks=images.NETWORKS, quick=images.QUICK),
    grid=images.image_jobs,
    run=run,
    figures=figures,
    columns=images.COLUMNS,
    keys=("network", "method"),
    against=(ACCURACY, NLL),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=images.image_cost,
)
EMPIRICAL_BAYES = replace(
    TABLE,
    name="empirical-bayes-images",
    presets=presets(
        ("cifar10",),
        ("fg+la", "la-ggn", "gpi-g+la", "la-marglik", "fg", "gpi-g"),
        networks=images.NETWORKS,
        quick=images.QUICK,
    ),
    grid=without_failures,
    columns=("accuracy", "nll", "ece", "training_rows", "log_evidence", "seconds"),
    pairs=(("gpi-g", "fg"), ("gpi-g+la", "fg+la"), ("gpi-g", "la-marglik")),
)
MAP = replace(
    TABLE,
    name="map-images",
    presets=presets(
        ("cifar10",),
        ("early-stopping", "map-fg", "map-gpi-g"),
        networks=images.NETWORKS,
        quick=images.QUICK,
    ),
    columns=("accuracy", "nll", "ece", "training_rows", "epochs_trained", "train_seconds"),
    pairs=(("map-gpi-g", "map-fg"), ("map-gpi-g", "early-stopping")),
)
