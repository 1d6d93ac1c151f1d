"""Empirical Bayes on CIFAR-10 (section 6.5, appendix B.4): figures 15 and 20."""

from goodprior.studies.engine.study import Choice, Study
from goodprior.studies.experiments.cifar10 import figures
from goodprior.studies.experiments.uci_classification import run
from goodprior.studies.protocols import images
from goodprior.studies.protocols.images import ACCURACY, NLL

METHODS = ("fg+la", "la-ggn", "gpi-g+la", "la-marglik", "fg", "gpi-g")

STUDY = Study(
    name="empirical-bayes-images",
    title="GPi-G beside Laplace approximations and their marginal likelihood on CIFAR-10",
    shows="figures 15 and 20",
    presets={
        "paper": Choice("paper", ("cifar10",), METHODS, networks=images.NETWORKS),
        "quick": Choice(
            *("quick", ("cifar10",), METHODS), networks=("lenet5",), splits=1, distance="energy"
        ),
    },
    cuts=images.QUICK_CUTS,
    grid=images.image_jobs,
    run=run,
    figures=figures,
    columns=("accuracy", "nll", "ece", "training_rows", "log_evidence", "seconds"),
    keys=("network", "method"),
    against=(ACCURACY, NLL),
    pairs=(("gpi-g", "fg"), ("gpi-g+la", "fg+la"), ("gpi-g", "la-marglik")),
    cost=images.image_cost,
    remarks=images.REMARKS + " The paper has numbers in a figure only; those beside ours are of "
    "its table 2. FG and GPi-G are sampled by SGHMC.",
)
