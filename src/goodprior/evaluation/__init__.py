"""Evaluation: how good predictions are (`metrics`, `loo`), and convergence (`diagnostics`).

Metrics take predictions and targets; diagnostics take a posterior.
"""

from goodprior.evaluation.diagnostics import Diagnostics, diagnose
from goodprior.evaluation.loo import LOO
from goodprior.evaluation.metrics import (
    accuracy,
    auroc,
    calibration_error,
    class_nll,
    classification_metrics,
    coverage,
    crps,
    entropy_curve,
    expected_calibration_error,
    log_predictive_density,
    nll,
    nll_moment,
    regression_metrics,
    rmse,
)

__all__ = [
    "LOO",
    "Diagnostics",
    "accuracy",
    "auroc",
    "calibration_error",
    "class_nll",
    "classification_metrics",
    "coverage",
    "crps",
    "diagnose",
    "entropy_curve",
    "expected_calibration_error",
    "log_predictive_density",
    "nll",
    "nll_moment",
    "regression_metrics",
    "rmse",
]
