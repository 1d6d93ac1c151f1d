"""UCI regression (section 6.2): figures 6 and 7, tables 7 and 9."""

from goodprior.studies.engine.study import Against, Choice, Figures, Frame, Row, Settings, Study
from goodprior.studies.protocols import tables

NLL = Against("nll_moment", "uci_regression_nll", "test NLL", unit="nats")
RMSE = Against("rmse", "uci_regression_rmse", "test RMSE", unit="target's units")
METHODS = ("fg", "fg+ts", "gpi-g", "fh", "gpi-h", "gpi-nf", "ensemble")


def run(settings: Settings) -> Row:
    """Fit one method to one split, and score its predictions on the original scale."""
    from goodprior.evaluation import regression_metrics
    from goodprior.inference import Prediction
    from goodprior.studies.protocols.data import problem_and_test
    from goodprior.studies.protocols.methods import fit

    problem, X_test, y_test = problem_and_test(settings)
    fitted = fit(problem, settings)
    prediction = fitted.predict(X_test)
    assert isinstance(prediction, Prediction)
    return {**regression_metrics(prediction, y_test), **fitted.facts}


def figures(rows: Frame) -> Figures:
    """The benchmark at two hidden layers, and by depth what matching changes in NLL."""
    from goodprior.studies.reports.figures import by_depth, dots

    found = {}
    two = rows[rows["depth"] == 2]
    if len(two):
        found["benchmark"] = dots(two, (NLL, RMSE), ("dataset", "depth", "method"))
    deep = rows[rows.groupby("dataset")["depth"].transform("nunique") > 1]
    if len(deep):
        found["depth"] = by_depth(deep, NLL, STUDY.pairs)
    return found


STUDY = Study(
    name="uci-regression",
    title="UCI regression with 1, 2, 4 and 8 hidden layers",
    shows="figures 6 and 7, tables 7 and 9",
    presets={
        "paper": Choice("paper", tables.REGRESSION, METHODS, (1, 2, 4, 8)),
        "quick": Choice(
            "quick",
            ("boston", "energy", "concrete"),
            ("fg", "gpi-g", "fh", "gpi-h"),
            (2,),
            splits=2,
            distance="energy",
        ),
    },
    cuts=tables.QUICK_CUTS + ", two hidden layers only",
    more_methods=(
        "fbnn",
        "la-ggn",
        "la-marglik",
        "fg+la",
        "gpi-g+la",
        "early-stopping",
        "map-fg",
        "map-gpi-g",
    ),
    grid=lambda choice: list(tables.table_jobs(choice)),
    run=run,
    figures=figures,
    columns=("rmse", "nll_moment", "nll", "crps", "coverage_95", "rhat_max", "ess_min"),
    against=(NLL, RMSE),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=tables.table_cost,
    remarks="The paper's NLL is that of one Gaussian with the mixture's mean and variance "
    "(`nll_moment`); `nll` is the mixture's own. GPi-NF is in its figure only. The temperature of "
    "FG+TS is tuned on a fifth of split 0's training rows, per data set and depth, by chains of "
    "10 draws 500 steps apart; the weight decay of Deep Ensemble on a fifth of each split's.",
)
