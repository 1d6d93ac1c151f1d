"""Critic and prior tuned in turn or together (appendix B.5): figure 21."""

from dataclasses import replace

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.protocols import tables
from goodprior.studies.protocols.method_names import FRESH

LABELS = {"separate": "separate (paper)", "joint": "joint", "energy": "energy distance"}
SIZES = {
    "paper": {"steps": 200, "points": 500, "draws": 5000},
    "quick": {"steps": 50, "points": 100, "draws": 500},
}


def grid(choice: Choice) -> list[Settings]:
    """Each strategy on each set; the joint one takes a critic's share of steps as well."""
    return [
        {
            **tables.two_layers(dataset, strategy, split),
            **SIZES[choice.preset],
            **(FRESH if strategy == "separate" else {}),
        }
        for dataset in choice.datasets
        for split in range(choice.splits or 1)
        for strategy in choice.methods
    ]


def run(settings: Settings) -> Row:
    """Match GPi-G to a process with lengthscale sqrt(2 D); squared MMD every ten steps."""
    import numpy as np

    from goodprior.matching import Wasserstein
    from goodprior.pipeline import Hooks
    from goodprior.studies.protocols.mmd_trace import MMDTrace
    from goodprior.studies.protocols.problems import matched_prior, schedule_of

    trace = MMDTrace(settings, settings["draws"])
    distance = {
        "separate": Wasserstein(restart=True),
        "joint": Wasserstein(critic_steps=1),
        "energy": "energy",
    }[settings["method"]]
    schedule = schedule_of(settings, distance, steps=settings["steps"])
    problem = replace(trace.problem, distance=distance, schedule=schedule)
    _, history = matched_prior("gpi-g", problem, trace.key, Hooks(on_prior=trace))
    assert history is not None
    mmd = trace.values["mmd_paper"]
    return {
        "mmd_last": mmd[-1],
        "mmd_late_std": np.std(mmd[len(mmd) // 2 :]),
        "match_seconds": history.seconds,
        **trace.values,
    }


def figures(rows: Frame) -> Figures:
    """Squared MMD against the step, a panel per data set."""
    from goodprior.studies.reports.figures import curves

    options = {"x": "step", "y": "squared MMD to the belief", "labels": LABELS, "log": True}
    return {"mmd": curves(rows, "mmd_paper", "method", **options)}


STUDY = Study(
    name="joint-vs-separate",
    presets=presets(
        tables.REGRESSION,
        tuple(LABELS),
        (2,),
        quick={"datasets": ("boston", "concrete"), "methods": ("joint", "energy")},
    ),
    grid=grid,
    run=run,
    figures=figures,
    columns=("mmd_last", "mmd_late_std", "match_seconds"),
    keys=("dataset", "method"),
    cost=lambda s: s["width"] * s["steps"] * (20.0 if s["method"] == "separate" else 1.0),
)
