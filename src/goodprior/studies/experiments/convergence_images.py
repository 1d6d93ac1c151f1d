"""The course of Wasserstein matching on CIFAR-10 (appendix B.3): figure 24."""

from goodprior.studies.engine.study import Choice, Figures, Frame, Settings, Study
from goodprior.studies.experiments.convergence import STEPS, run
from goodprior.studies.protocols import images
from goodprior.studies.protocols.method_names import LABELS

METHODS = ("gpi-g", "gpi-h")


def grid(choice: Choice) -> list[Settings]:
    """Each prior on each network; nothing is sampled."""
    shared = {"dataset": "cifar10", "seed": 0, "steps": STEPS[choice.preset]}
    rows = (images.QUICK_ROWS if choice.preset == "quick" else images.ROWS)["cifar10"]
    return [
        {
            **shared,
            **{"network": network, "method": method, "split": split, "rows": rows},
            **images.image_matching(choice),
        }
        for network in choice.networks
        for method in choice.methods
        for split in range(choice.splits or 1)
    ]


def figures(rows: Frame) -> Figures:
    """The minimised value against the step, a panel per network."""
    from goodprior.studies.reports.figures import curves

    return {
        "course": curves(
            rows.assign(dataset=rows["network"]),
            *("values", "method"),
            x="step",
            y="minimised value",
            labels={name: LABELS[name] for name in METHODS},
            log=True,
        )
    }


STUDY = Study(
    name="convergence-images",
    title="The course of matching for convolutional networks on CIFAR-10",
    shows="figure 24",
    presets={
        "paper": Choice("paper", ("cifar10",), METHODS, networks=images.NETWORKS),
        "quick": Choice("quick", ("cifar10",), METHODS, networks=("lenet5",), distance="energy"),
    },
    cuts="LeNet5, 50 steps instead of 200, the energy distance, 20,000 images to draw from",
    grid=grid,
    run=run,
    figures=figures,
    columns=("first", "last", "before_energy_distance", "after_energy_distance", "after_std_ratio"),
    keys=("network", "method"),
    cost=images.image_cost,
    remarks="With the critic the value is the critic's, not the distance itself. The paper does "
    "not say after how many steps it stopped for images: 200 here, as for tables.",
)
