"""Critic and prior tuned in turn or together (appendix B.5): figure 21."""

from typing import TYPE_CHECKING

from goodprior.studies import protocol
from goodprior.studies.problems import matched_prior
from goodprior.studies.study import Choice, Row, Settings, Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LABELS = {"separate": "separate (paper)", "joint": "joint", "energy": "energy distance"}
SIZES = {
    "paper": {"steps": 200, "points": 500, "draws": 5000},
    "quick": {"steps": 50, "points": 100, "draws": 500},
}


def grid(choice: Choice) -> list[Settings]:
    """Each strategy on each set; the joint one takes a critic's share of steps as well."""
    return [
        {
            "dataset": dataset,
            "method": strategy,
            "depth": 2,
            "width": protocol.width(dataset),
            "split": split,
            "seed": 0,
            **SIZES[choice.preset],
        }
        for dataset in choice.datasets
        for split in range(choice.splits or 1)
        for strategy in choice.methods
    ]


def run(settings: Settings) -> Row:
    """Match GPi-G to a process with lengthscale sqrt(2 D); squared MMD every ten steps.

    The MMD is between functions at test points (appendix A.8), with the paper's kernel width
    sqrt(2 D) and with the median distance, which does not depend on the number of points.
    """
    import jax
    import numpy as np

    from goodprior.beliefs import GaussianProcess, rbf
    from goodprior.matching import Wasserstein, squared_mmd
    from goodprior.priors import Prior

    problem, X_test, _ = protocol.problem_and_test(settings)
    inputs = problem.X.shape[1]
    width = (2.0 * inputs) ** 0.5
    problem = problem._replace(belief=GaussianProcess(rbf(width, 1.0)))
    key = jax.random.fold_in(jax.random.key(settings["seed"]), settings["split"])
    key_belief, key_prior = jax.random.split(jax.random.fold_in(key, 1))
    x = problem.scaling.inputs(X_test[: settings["points"]])
    target = problem.belief.sample(key_belief, x, settings["draws"])

    course: dict[str, list[float]] = {"step": [], "mmd": [], "mmd_paper": []}

    def look(step: int, prior: Prior) -> None:
        functions = prior.functions(key_prior, x, settings["draws"])
        course["step"].append(step)
        course["mmd"].append(float(squared_mmd(functions, target)))
        course["mmd_paper"].append(float(squared_mmd(functions, target, width)))

    distance = {
        "separate": Wasserstein(),
        "joint": Wasserstein(critic_steps=1, warm=True),
        "energy": "energy",
    }[settings["method"]]
    _, matched = matched_prior(
        "gpi-g", problem, settings, key, distance=distance, steps=settings["steps"], on_prior=look
    )
    assert matched is not None
    late = np.array(course["mmd"][len(course["mmd"]) // 2 :])
    return {
        "mmd_last": course["mmd"][-1],
        "mmd_late_std": late.std(),
        "match_seconds": matched.history.seconds,
        **course,
    }


def figures(rows: "pd.DataFrame") -> "dict[str, Figure]":
    """Squared MMD against the step, a panel per data set."""
    from goodprior.studies.figures import curves

    options = {"x": "step", "y": "squared MMD to the belief", "labels": LABELS, "log": True}
    return {"mmd": curves(rows, "mmd", "method", **options)}


STUDY = Study(
    name="joint-vs-separate",
    title="Critic and prior tuned in turn or together",
    shows="figure 21",
    presets={
        "paper": Choice("paper", protocol.REGRESSION, tuple(LABELS), (2,)),
        "quick": Choice("quick", ("boston", "concrete"), ("joint", "energy"), (2,)),
    },
    cuts="boston and concrete, 50 steps instead of 200, 500 draws at 100 points instead of 5,000 "
    "at 500, without the slow separate strategy",
    grid=grid,
    run=run,
    figures=figures,
    columns=("mmd_last", "mmd_late_std", "match_seconds"),
    keys=("dataset", "method"),
    cost=lambda s: s["width"] * s["steps"] * (20.0 if s["method"] == "separate" else 1.0),
    remarks="Where a set has fewer than 500 test rows, all of them are taken.",
)
