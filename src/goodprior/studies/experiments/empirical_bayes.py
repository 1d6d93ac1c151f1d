"""Empirical Bayes and functional inference (section 6.5): figure 14, one hidden layer."""

from goodprior.studies.engine.study import Choice, Figures, Frame, Study
from goodprior.studies.experiments.uci_regression import NLL, RMSE
from goodprior.studies.protocols import tables

METHODS = ("gpi-g", "fbnn", "la-ggn", "la-marglik")


def figures(rows: Frame) -> Figures:
    """RMSE and NLL by data set and method."""
    from goodprior.studies.reports.figures import dots

    return {"empirical-bayes": dots(rows, (RMSE, NLL), ("dataset", "depth", "method"))}


STUDY = Study(
    name="empirical-bayes",
    title="GPi-G beside empirical Bayes and functional inference, one hidden layer",
    shows="figure 14",
    presets={
        "paper": Choice("paper", tables.REGRESSION, METHODS, (1,)),
        "quick": Choice("quick", ("boston", "energy"), METHODS, (1,), splits=2, distance="energy"),
    },
    cuts=tables.QUICK_CUTS,
    grid=tables.benchmark_jobs,
    reuses=("uci-regression",),
    figures=figures,
    columns=("rmse", "nll_moment", "nll", "crps", "coverage_95"),
    against=(RMSE, NLL),
    cost=tables.table_cost,
    remarks="The paper has numbers in a figure only; those beside ours are of its tables, where "
    "the same method is in them. LA-GGN optimises the prior on the Laplace marginal likelihood on "
    "the way. Its jobs are those of uci-regression, and are kept there.",
)
