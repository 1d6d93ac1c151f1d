"""Matching by KL and by Wasserstein, watched on the way (section 5.3): figure 5."""

from dataclasses import replace
from typing import TYPE_CHECKING

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.experiments.uci_regression import NLL, RMSE
from goodprior.studies.protocols import tables
from goodprior.studies.protocols.method_names import FRESH

if TYPE_CHECKING:
    from goodprior.priors import Prior

LABELS = {
    "kl": "KL",
    "kl-ssge": "KL + SSGE",
    "wasserstein": "Wasserstein",
    "energy": "energy distance",
}
SIZES = {
    "paper": {"steps": 200, "posterior_every": 40, "points": 500, "draws_compared": 5000},
    "quick": {"steps": 40, "posterior_every": 20, "points": 100, "draws_compared": 500},
}


def grid(choice: Choice) -> list[Settings]:
    """Each way of matching on each set, with two hidden layers."""
    return [
        {
            **tables.two_layers(dataset, method, split),
            "noise_variance": tables.NOISE_VARIANCE[dataset],
            "batch_size": 32,
            **tables.lengths(dataset, choice.preset),
            **SIZES[choice.preset],
            **(FRESH if method == "wasserstein" else {}),
        }
        for dataset in choice.datasets
        for split in range(choice.splits or 1)
        for method in choice.methods
    ]


def run(settings: Settings) -> Row:
    """Match GPi-G; look at squared MMD every ten steps, and at posteriors now and then.

    KL goes on where its early stopping would have stopped it, which is kept as `stop`.
    """
    import numpy as np

    from goodprior.evaluation import diagnose, nll_moment, rmse
    from goodprior.inference import Prediction
    from goodprior.matching import KL, Energy, KLStein, Wasserstein
    from goodprior.pipeline import Hooks
    from goodprior.studies.protocols.methods import sample, worst
    from goodprior.studies.protocols.mmd_trace import MMDTrace
    from goodprior.studies.protocols.problems import matched_prior, schedule_of

    trace = MMDTrace(settings, settings["draws_compared"])
    problem, key = trace.problem, trace.key
    course: dict[str, list[float]] = {"posterior_step": [], "nll_course": [], "rmse_course": []}

    chains: list[dict[str, float]] = []

    def look(step: int, prior: "Prior") -> None:
        trace(step, prior)
        if step % settings["posterior_every"]:
            return
        posterior = sample(replace(problem, prior=prior), settings, key)
        prediction = posterior.predict(trace.X_test)
        assert isinstance(prediction, Prediction)
        chains.append(diagnose(posterior).summary)
        course["posterior_step"].append(step)
        course["nll_course"].append(nll_moment(prediction, trace.y_test))
        course["rmse_course"].append(rmse(prediction, trace.y_test))

    distance = {
        "kl": KL(),
        "kl-ssge": KLStein(),
        "wasserstein": Wasserstein(restart=True),
        "energy": Energy(),
    }[settings["method"]]
    # Every distance takes all steps, whatever its default schedule would stop at.
    schedule = schedule_of(
        settings, distance, steps=settings["steps"], stop_at_plateau=False, stop_below=None
    )
    look(0, matched_prior("fg", problem, key)[0])
    problem = replace(problem, distance=distance, schedule=schedule, held_out=0)
    _, history = matched_prior("gpi-g", problem, key, Hooks(on_prior=look))
    assert history is not None
    stop = None
    if settings["method"] == "kl":
        values = np.asarray(history.distance)
        means = np.convolve(values, np.full(10, 0.1), "valid")
        stop = int(np.argmax(means <= 0)) + 10 if (means <= 0).any() else None
    return {
        "mmd_last": trace.values["mmd_paper"][-1],
        "mmd_least": min(trace.values["mmd_paper"]),
        "nll_moment": course["nll_course"][-1],
        "rmse": course["rmse_course"][-1],
        "stop": stop,
        **worst(chains),
        **trace.calibration(),
        **trace.values,
        **course,
    }


def figures(rows: Frame) -> Figures:
    """Squared MMD, and NLL and RMSE of posteriors, against the step."""
    from goodprior.studies.reports.figures import curves

    found = {
        "mmd": curves(
            rows,
            "mmd_paper",
            "method",
            x="step",
            y="squared MMD to the belief",
            labels=LABELS,
            log=True,
            band=("mmd_itself", "mmd_doubled", "belief: itself to doubled lengthscale"),
        )
    }
    names = {"nll_course": NLL.axis, "rmse_course": RMSE.axis}
    for column, words in names.items():
        found[column.removesuffix("_course")] = curves(
            rows, column, "method", x="posterior_step", y=words, labels=LABELS, log=False
        )
    return found


STUDY = Study(
    name="wasserstein-vs-kl",
    presets=presets(
        tables.REGRESSION,
        tuple(LABELS),
        (2,),
        quick={"datasets": ("boston",), "methods": ("kl", "kl-ssge", "energy")},
    ),
    grid=grid,
    run=run,
    figures=figures,
    columns=("mmd_last", "mmd_least", "mmd_itself", "mmd_doubled", "stop", "nll_moment", "rmse"),
    keys=("dataset", "method"),
    cost=lambda s: tables.table_cost(
        {
            **s,
            "draws": s["draws"] * (1 + s["steps"] // s["posterior_every"]),
            "distance": s["method"],
        }
    ),
)
