"""UCI regression (section 6.2): figures 6 and 7, tables 7 and 9."""

from goodprior.studies.engine.study import Against, Figures, Frame, Study, presets
from goodprior.studies.experiments.uci_classification import run
from goodprior.studies.protocols import tables

NLL = Against("nll_moment", "uci_regression_nll", "test NLL", unit="nats")
RMSE = Against("rmse", "uci_regression_rmse", "test RMSE", unit="target's units")
METHODS = ("fg", "fg+ts", "gpi-g", "fh", "gpi-h", "gpi-nf", "ensemble")


def figures(rows: Frame) -> Figures:
    """The benchmark at two hidden layers, and by depth what matching changes in NLL."""
    from goodprior.studies.reports.figures import by_depth, dots

    found = {}
    two = rows[(rows["depth"] == 2) & rows["method"].isin(METHODS)]
    if len(two):
        found["benchmark"] = dots(two, (NLL, RMSE), ("dataset", "depth", "method"))
    deep = rows[rows.groupby("dataset")["depth"].transform("nunique") > 1]
    if len(deep):
        found["depth"] = by_depth(deep, NLL, STUDY.pairs)
    return found


STUDY = Study(
    name="uci-regression",
    presets=presets(
        tables.REGRESSION,
        METHODS,
        (1, 2, 4, 8),
        quick={
            "datasets": ("boston", "energy", "concrete"),
            "depths": (2,),
            "methods": tables.FOUR,
            "splits": 2,
        },
    ),
    more_methods=("fbnn", *tables.MORE_METHODS),
    grid=lambda choice: list(tables.table_jobs(choice)),
    run=run,
    figures=figures,
    columns=("rmse", "nll_moment", "nll", "crps", "coverage_95", "rhat_max", "ess_min"),
    against=(NLL, RMSE),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=tables.table_cost,
)
