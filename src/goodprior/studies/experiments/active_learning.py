"""Active learning (section 6.6): table 3 and figure 16."""

from goodprior.studies.engine.study import (
    Against,
    Choice,
    Figures,
    Frame,
    Row,
    Settings,
    Study,
    presets,
)
from goodprior.studies.protocols import tables
from goodprior.studies.protocols.method_names import LABELS

RMSE = Against(
    "rmse", "active_learning_rmse", "test RMSE at the last step", unit="target's units", runs=5
)
METHODS = ("fg", "gpi-g", "fh", "gpi-h")
ROUNDS = 10


def grid(choice: Choice) -> list[Settings]:
    """The UCI protocol, with 5 random divisions of each set and ten rounds of learning."""
    rounds = ROUNDS if choice.preset == "paper" else 3
    return [{**settings, "rounds": rounds} for settings in tables.table_jobs(choice)]


def run(settings: Settings) -> Row:
    """Train, add the pool's least certain rows to the training set, and so on.

    20 % of the rows are for training, 60 % are the pool, 20 % are for testing. Each round but the
    last adds the rows with the largest predictive variance, 5 % of the pool of the beginning.
    """
    import numpy as np

    from goodprior.data import load
    from goodprior.data.splits import random_parts
    from goodprior.evaluation import nll_moment, rmse
    from goodprior.inference import Prediction
    from goodprior.studies.protocols.methods import fit, worst
    from goodprior.studies.protocols.problems import regression_problem

    data = load(settings["dataset"])
    rows = len(data.X)
    sizes = (rows // 5, rows - 2 * (rows // 5), rows // 5)
    train, pool, test = random_parts(rows, sizes, seed=settings["split"])
    step = max(1, round(0.05 * len(pool)))
    facts: list[dict[str, float]] = []
    course: dict[str, list[float]] = {"training_rows": [], "rmse_course": [], "nll_course": []}
    for left in reversed(range(settings["rounds"])):
        problem = regression_problem(
            data.X[train], data.y[train], settings["noise_variance"], settings
        )
        fitted = fit(problem, settings)
        facts.append(fitted.facts)
        prediction = fitted.predict(data.X[test])
        assert isinstance(prediction, Prediction)
        course["training_rows"].append(len(train))
        course["rmse_course"].append(rmse(prediction, data.y[test]))
        course["nll_course"].append(nll_moment(prediction, data.y[test]))
        if not left:
            break
        uncertain = fitted.predict(data.X[pool])
        assert isinstance(uncertain, Prediction)
        chosen = np.argsort(-np.asarray(uncertain.std[:, 0]))[:step]
        train, pool = np.concatenate([train, pool[chosen]]), np.delete(pool, chosen)
    return {"rmse": course["rmse_course"][-1], **worst(facts), **course}


def figures(rows: Frame) -> Figures:
    """RMSE against the number of training rows; the paper's table has the tenth step."""
    from goodprior.studies.reports.figures import curves

    labels = {name: LABELS[name] for name in METHODS}
    options = {"x": "training_rows", "y": RMSE.axis, "labels": labels, "log": False}
    return {"progress": curves(rows, "rmse_course", "method", **options)}


STUDY = Study(
    name="active-learning",
    presets=presets(
        tables.REGRESSION, METHODS, (2,), splits=5, quick={"datasets": ("boston",), "splits": 1}
    ),
    grid=grid,
    run=run,
    figures=figures,
    columns=("rmse", "rhat_max", "ess_min"),
    keys=("dataset", "method"),
    against=(RMSE,),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=lambda settings: settings["rounds"] * tables.table_cost(settings),
)
