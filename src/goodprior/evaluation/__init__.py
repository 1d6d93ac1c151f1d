"""Evaluation: how good predictions are (`metrics`) and whether to trust the draws (`diagnostics`).

Metrics take predictions and targets; diagnostics take a posterior.
"""

from goodprior.evaluation.diagnostics import Diagnostics, diagnose
from goodprior.evaluation.metrics import (
    accuracy,
    calibration_error,
    class_nll,
    coverage,
    crps,
    expected_calibration_error,
    nll,
    nll_moment,
    regression_metrics,
    rmse,
)

__all__ = [
    "Diagnostics",
    "accuracy",
    "calibration_error",
    "class_nll",
    "coverage",
    "crps",
    "diagnose",
    "expected_calibration_error",
    "nll",
    "nll_moment",
    "regression_metrics",
    "rmse",
]
