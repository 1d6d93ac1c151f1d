"""CIFAR-10's test images under corruptions (section 6.4): figure 10."""

from dataclasses import replace

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.protocols import images

METHODS = ("fg", "gpi-g", "fh", "gpi-h", "ensemble")
SEVERITIES = range(1, 6)


def grid(choice: Choice) -> list[Settings]:
    """The jobs of the study of CIFAR-10, tested on fewer images in `quick`."""
    few = {"test_rows": 1000} if choice.preset == "quick" else {}
    return [{**settings, **few} for settings in images.image_jobs(choice)]


def run(settings: Settings) -> Row:
    """Train on clean images; accuracy and NLL under every corruption at every severity."""
    import numpy as np

    from goodprior.data.corruptions import CORRUPTIONS, corrupt
    from goodprior.evaluation import classification_metrics
    from goodprior.inference import ClassPrediction
    from goodprior.studies.protocols.data import image_problem_and_test
    from goodprior.studies.protocols.methods import fit

    problem, X_test, y_test = image_problem_and_test(settings)
    fitted = fit(problem, settings)

    def scores(X: np.ndarray) -> dict[str, float]:
        prediction = fitted.predict(X)
        assert isinstance(prediction, ClassPrediction)
        return classification_metrics(prediction, y_test)

    clean = scores(X_test)
    corrupted = [
        [scores(corrupt(X_test, name, severity, settings["seed"])) for severity in SEVERITIES]
        for name in CORRUPTIONS
    ]
    found: Row = {**clean, **fitted.facts, "training_rows": len(problem.X)}
    for metric in ("accuracy", "nll"):
        values = np.array([[cell[metric] for cell in row] for row in corrupted])
        found |= {f"{metric}_{s}": v for s, v in zip(SEVERITIES, values.mean(axis=0), strict=True)}
        found[f"corrupted_{metric}"] = values
    rises = np.diff(found["corrupted_accuracy"], axis=1).max(axis=1) > 0
    found["rising"] = [name for name, up in zip(CORRUPTIONS, rises, strict=True) if up]
    return {**found, "corruptions": list(CORRUPTIONS)}


def figures(rows: Frame) -> Figures:
    """Boxes over the corruptions by severity."""
    from goodprior.studies.reports.image_figures import boxes

    both = tuple(replace(one, table="") for one in (images.ACCURACY, images.NLL))
    return {"severities": boxes(rows, both)}


STUDY = Study(
    name="cifar10-corrupted",
    presets=presets(("cifar10",), METHODS, networks=images.NETWORKS, quick=images.QUICK),
    grid=grid,
    run=run,
    figures=figures,
    columns=(
        *("accuracy", *(f"accuracy_{s}" for s in SEVERITIES)),
        *("nll", *(f"nll_{s}" for s in SEVERITIES), "training_rows"),
    ),
    keys=("network", "method"),
    cost=images.image_cost,
)
