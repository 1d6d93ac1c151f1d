"""Maximum a posteriori on CIFAR-10 (section 6.7): figure 18, 150 epochs at a rate of 0.01."""

from goodprior.studies.engine.study import Choice, Study
from goodprior.studies.experiments.cifar10 import figures
from goodprior.studies.experiments.uci_classification import run
from goodprior.studies.protocols import images
from goodprior.studies.protocols.images import ACCURACY, NLL

METHODS = ("early-stopping", "map-fg", "map-gpi-g")

STUDY = Study(
    name="map-images",
    title="Maximum a posteriori under FG and GPi-G beside early stopping on CIFAR-10",
    shows="figure 18",
    presets={
        "paper": Choice("paper", ("cifar10",), METHODS, networks=images.NETWORKS),
        "quick": Choice(
            *("quick", ("cifar10",), METHODS), networks=("lenet5",), splits=1, distance="energy"
        ),
    },
    cuts="LeNet5 on 20,000 images, 15 epochs instead of 150, one run instead of four, matching by "
    "the energy distance",
    grid=images.image_jobs,
    run=run,
    figures=figures,
    columns=("accuracy", "nll", "ece", "training_rows", "epochs_trained", "train_seconds"),
    keys=("network", "method"),
    against=(ACCURACY, NLL),
    pairs=(("map-gpi-g", "map-fg"), ("map-gpi-g", "early-stopping")),
    cost=images.image_cost,
    remarks=images.REMARKS + " The paper has a figure only.",
)
