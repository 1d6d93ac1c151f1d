"""Evaluation: how good predictions are (`metrics`) and whether to trust the draws (`diagnostics`).

Metrics take predictions and targets; diagnostics take a posterior.
"""

from goodprior.evaluation.diagnostics import Diagnostics, diagnose
from goodprior.evaluation.metrics import (
    accuracy,
    auroc,
    calibration_error,
    class_nll,
    coverage,
    crps,
    entropy_curve,
    expected_calibration_error,
    nll,
    nll_moment,
    regression_metrics,
    rmse,
)

__all__ = [
    "Diagnostics",
    "accuracy",
    "auroc",
    "calibration_error",
    "class_nll",
    "coverage",
    "crps",
    "diagnose",
    "entropy_curve",
    "expected_calibration_error",
    "nll",
    "nll_moment",
    "regression_metrics",
    "rmse",
]
