"""UCI classification (section 6.3): figure 8, tables 8 and 10."""

from goodprior.studies.engine.study import Against, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.protocols import tables

ACCURACY = Against(
    "accuracy",
    "uci_classification_accuracy",
    "test accuracy (%)",
    decimals=2,
    scale=100.0,
    higher_is_better=True,
)
METHODS = ("fg", "fg+ts", "gpi-g", "fh", "gpi-h", "ensemble")
NLL = Against("nll", "uci_classification_nll", "test NLL", unit="nats")


def run(settings: Settings) -> Row:
    """Fit one method to one split, and score its predictions, in the target's units."""
    from goodprior.evaluation import classification_metrics, regression_metrics
    from goodprior.inference import Prediction
    from goodprior.studies.protocols.data import problem_and_test
    from goodprior.studies.protocols.methods import fit

    problem, X_test, y_test = problem_and_test(settings)
    fitted = fit(problem, settings)
    prediction = fitted.predict(X_test)
    if isinstance(prediction, Prediction):
        return {**regression_metrics(prediction, y_test), **fitted.facts}
    rows = {"training_rows": len(problem.X), "test_rows": len(y_test)}
    return {**classification_metrics(prediction, y_test), **fitted.facts, **rows}


def figures(rows: Frame) -> Figures:
    """Accuracy and NLL by data set and method."""
    from goodprior.studies.reports.figures import dots

    return {"benchmark": dots(rows, (ACCURACY, NLL))}


STUDY = Study(
    name="uci-classification",
    presets=presets(
        tables.CLASSIFICATION,
        METHODS,
        (2,),
        quick={"datasets": ("eeg", "htru2"), "methods": tables.FOUR, "splits": 2},
    ),
    more_methods=tables.MORE_METHODS,
    grid=lambda choice: list(tables.table_jobs(choice)),
    run=run,
    figures=figures,
    columns=("accuracy", "nll", "ece", "rhat_max", "ess_min"),
    against=(ACCURACY, NLL),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=tables.table_cost,
)
