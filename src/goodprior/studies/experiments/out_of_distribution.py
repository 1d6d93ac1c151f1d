"""Entropies on out-of-distribution images (section 6.4): figure 12."""

from goodprior.studies.engine.study import Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.experiments.cifar10 import METHODS
from goodprior.studies.protocols import images
from goodprior.studies.protocols.method_names import LABELS

# Stored columns end in these words.
SETS = {
    "own": "MNIST, in distribution:\nhigher is better",
    "foreign": "notMNIST, out of distribution:\nlower is better",
}


def run(settings: Settings) -> Row:
    """Train on MNIST; the entropies of predictions for its test images and for notMNIST."""
    import numpy as np

    from goodprior.data import load
    from goodprior.evaluation import auroc, classification_metrics, entropy_curve
    from goodprior.inference import ClassPrediction
    from goodprior.studies.protocols.data import image_problem_and_test
    from goodprior.studies.protocols.methods import fit

    problem, X_test, y_test = image_problem_and_test(settings)
    letters = load("notmnist").X[: settings.get("test_rows")]
    fitted = fit(problem, settings)
    inside, outside = fitted.predict(X_test), fitted.predict(letters)
    assert isinstance(inside, ClassPrediction)
    assert isinstance(outside, ClassPrediction)
    curves = [entropy_curve(p.entropy, problem.observation.functions) for p in (inside, outside)]
    return {
        **classification_metrics(inside, y_test),
        "entropy_own": float(inside.entropy.mean()),
        "entropy_foreign": float(outside.entropy.mean()),
        "auroc": auroc(inside.entropy, outside.entropy),
        **fitted.facts,
        "training_rows": len(problem.X),
        "entropy": np.linspace(0, np.log(problem.observation.functions), len(curves[0])),
        "curve_own": curves[0],
        "curve_foreign": curves[1],
    }


def figures(rows: Frame) -> Figures:
    """The share of predictions up to each entropy, on both sets."""
    import pandas as pd

    from goodprior.studies.reports.figures import curves

    nats = {"entropy (nats)": rows["entropy"]}
    parts = [
        rows.assign(dataset=title, curve=rows[f"curve_{k}"], **nats) for k, title in SETS.items()
    ]
    labels = {name: LABELS[name] for name in METHODS}
    figure = curves(
        pd.concat(parts, ignore_index=True),
        *("curve", "method"),
        x="entropy (nats)",
        y="share of images",
        labels=labels,
        log=False,
    )
    return {"entropies": figure}


STUDY = Study(
    name="out-of-distribution",
    presets=presets(("mnist",), METHODS, networks=("lenet5",), splits=1, quick={}),
    grid=images.image_jobs,
    run=run,
    figures=figures,
    columns=(
        *("accuracy", "nll", "ece", "entropy_own", "entropy_foreign", "auroc"),
        *("training_rows", "rhat_max", "seconds"),
    ),
    keys=("network", "method"),
    cost=images.image_cost,
)
