"""UCI classification (section 6.3): figure 8, tables 8 and 10."""

from goodprior.studies.engine.study import Against, Choice, Figures, Frame, Row, Settings, Study
from goodprior.studies.protocols import tables

ACCURACY = Against(
    "accuracy",
    "uci_classification_accuracy",
    "test accuracy (%)",
    decimals=2,
    scale=100.0,
    higher_is_better=True,
)
NLL = Against("nll", "uci_classification_nll", "test NLL", unit="nats")


def run(settings: Settings) -> Row:
    """Fit one method to one split, and score its predictions."""
    from goodprior.evaluation import classification_metrics
    from goodprior.inference import ClassPrediction
    from goodprior.studies.protocols.data import problem_and_test
    from goodprior.studies.protocols.methods import fit

    problem, X_test, y_test = problem_and_test(settings)
    fitted = fit(problem, settings)
    prediction = fitted.predict(X_test)
    assert isinstance(prediction, ClassPrediction)
    rows = {"training_rows": len(problem.X), "test_rows": len(y_test)}
    return {**classification_metrics(prediction, y_test), **fitted.facts, **rows}


def figures(rows: Frame) -> Figures:
    """Accuracy and NLL by data set and method."""
    from goodprior.studies.reports.figures import dots

    return {"benchmark": dots(rows, (ACCURACY, NLL))}


STUDY = Study(
    name="uci-classification",
    title="UCI classification with two hidden layers",
    shows="figure 8, tables 8 and 10",
    presets={
        "paper": Choice(
            "paper",
            tables.CLASSIFICATION,
            ("fg", "fg+ts", "gpi-g", "fh", "gpi-h", "ensemble"),
            (2,),
        ),
        "quick": Choice(
            "quick",
            ("eeg", "htru2"),
            ("fg", "gpi-g", "fh", "gpi-h"),
            (2,),
            splits=2,
            distance="energy",
        ),
    },
    cuts=tables.QUICK_CUTS,
    more_methods=(
        "fg+la",
        "gpi-g+la",
        "la-ggn",
        "la-marglik",
        "early-stopping",
        "map-fg",
        "map-gpi-g",
    ),
    grid=lambda choice: list(tables.table_jobs(choice)),
    run=run,
    figures=figures,
    columns=("accuracy", "nll", "ece", "rhat_max", "ess_min"),
    against=(ACCURACY, NLL),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=tables.table_cost,
    remarks="Splits are random, of the sizes of Milios et al. (2018); the paper's own are not "
    "published. Two classes have one output and a logistic likelihood. The temperature of "
    "FG+TS is tuned on a fifth of split 0's training rows.",
)
