"""The course of Wasserstein matching (appendix B.3): figures 22, 23 and, for images, 24."""

from dataclasses import replace

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.protocols import images, tables
from goodprior.studies.protocols.method_names import LABELS

METHODS = ("gpi-g", "gpi-h", "gpi-nf")
VALUE = "minimised value, an unbiased estimate"
STEPS = {"paper": 200, "quick": 50}


def grid(choice: Choice) -> list[Settings]:
    """Each prior on each set; the flow on those for regression only, as in the paper."""
    return [
        {
            **tables.two_layers(dataset, method, split),
            "steps": STEPS[choice.preset],
            **tables.matching(choice.distance),
        }
        for dataset in choice.datasets
        for method in choice.methods
        for split in range(choice.splits or 1)
        if method != "gpi-nf" or dataset in tables.REGRESSION
    ]


def run(settings: Settings) -> Row:
    """Match, and keep the value at every step."""
    import jax
    import numpy as np

    from goodprior.studies.protocols.data import problem_and_test
    from goodprior.studies.protocols.problems import matched_prior, schedule_of

    key = jax.random.fold_in(jax.random.key(settings["seed"]), settings["split"])
    problem, _, _ = problem_and_test(settings)
    schedule = schedule_of(settings, problem.distance, steps=settings["steps"])
    problem = replace(problem, schedule=schedule)
    _, history = matched_prior(settings["method"], problem, key)
    assert history is not None
    measured = {"before": history.before, "after": history.after}
    found = {
        f"{when}_{name}": value
        for when, comparison in measured.items()
        for name, value in (comparison._asdict() if comparison else {}).items()
    }
    values = np.asarray(history.distance)
    return {
        **found,
        "first": values[:10].mean(),
        "last": values[-10:].mean(),
        "match_seconds": history.seconds,
        "step": np.arange(1, len(values) + 1),
        "values": values,
    }


def figures(rows: Frame) -> Figures:
    """The minimised value against the step, a panel per data set or network."""
    from goodprior.studies.reports.figures import curves

    labels = {name: LABELS[name] for name in METHODS}
    options = {"x": "step", "y": VALUE, "labels": labels, "log": False}
    if "network" in rows:
        return {
            "course": curves(rows.assign(dataset=rows["network"]), "values", "method", **options)
        }
    parts = {"regression": tables.REGRESSION, "classification": tables.CLASSIFICATION}
    return {
        name: curves(rows[rows["dataset"].isin(sets)], "values", "method", **options)
        for name, sets in parts.items()
        if rows["dataset"].isin(sets).any()
    }


STUDY = Study(
    name="convergence",
    presets=presets(
        (*tables.REGRESSION, *tables.CLASSIFICATION),
        METHODS,
        (2,),
        quick={"datasets": ("boston", "concrete")},
    ),
    grid=grid,
    run=run,
    figures=figures,
    columns=("first", "last", "before_energy_distance", "after_energy_distance", "after_std_ratio"),
    keys=("dataset", "method"),
    cost=lambda settings: settings["width"] * settings["steps"] * 1.0,
)


def image_grid(choice: Choice) -> list[Settings]:
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


IMAGES = replace(
    STUDY,
    name="convergence-images",
    presets=presets(
        ("cifar10",),
        METHODS[:2],
        networks=images.NETWORKS,
        quick={"networks": ("lenet5",)},
    ),
    grid=image_grid,
    keys=("network", "method"),
    cost=images.image_cost,
)
