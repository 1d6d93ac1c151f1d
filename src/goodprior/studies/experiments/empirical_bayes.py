"""Empirical Bayes and functional inference (section 6.5): figure 14, one hidden layer."""

from goodprior.studies.engine.study import Figures, Frame, Study, presets
from goodprior.studies.experiments.uci_regression import NLL, RMSE
from goodprior.studies.protocols import tables

METHODS = ("gpi-g", "fbnn", "la-ggn", "la-marglik")


def figures(rows: Frame) -> Figures:
    """RMSE and NLL by data set and method."""
    from goodprior.studies.reports.figures import dots

    return {"empirical-bayes": dots(rows, (RMSE, NLL), ("dataset", "depth", "method"))}


STUDY = Study(
    name="empirical-bayes",
    presets=presets(tables.REGRESSION, METHODS, (1,), quick=tables.TWO_SETS),
    grid=tables.benchmark_jobs,
    reuses=("uci-regression",),
    figures=figures,
    columns=("rmse", "nll_moment", "nll", "crps", "coverage_95"),
    against=(RMSE, NLL),
    cost=tables.table_cost,
)
