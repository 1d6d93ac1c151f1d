"""MAP under FG and GPi-G, and early stopping (section 6.7): figures 17 and 19."""

from goodprior.studies.engine.study import Figures, Frame, Study, presets
from goodprior.studies.experiments import uci_classification, uci_regression
from goodprior.studies.protocols import tables

METHODS = ("early-stopping", "map-fg", "map-gpi-g", "fg", "gpi-g")
REGRESSION = (uci_regression.RMSE, uci_regression.NLL)
CLASSIFICATION = (uci_classification.ACCURACY, uci_classification.NLL)


def figures(rows: Frame) -> Figures:
    """A picture for classification and one for regression."""
    from goodprior.studies.reports.figures import dots

    found = {}
    for name, datasets, metrics in (
        ("classification", tables.CLASSIFICATION, CLASSIFICATION),
        ("regression", tables.REGRESSION, REGRESSION),
    ):
        part = rows[rows["dataset"].isin(datasets)]
        if {"map-fg", "map-gpi-g"} <= set(part["method"]):  # nothing to compare otherwise
            found[name] = dots(part, metrics, ("dataset", "depth", "method"))
    return found


STUDY = Study(
    name="map",
    presets=presets(
        (*tables.REGRESSION, *tables.CLASSIFICATION), METHODS, (2,), quick=tables.TWO_SETS
    ),
    grid=tables.benchmark_jobs,
    reuses=("uci-regression", "uci-classification"),
    figures=figures,
    columns=("rmse", "nll_moment", "accuracy", "nll", "crps", "coverage_95", "ece"),
    against=(*REGRESSION, *CLASSIFICATION),
    pairs=(("map-gpi-g", "map-fg"), ("map-gpi-g", "early-stopping")),
    cost=tables.table_cost,
)
