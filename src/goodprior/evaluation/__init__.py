"""Evaluation: how good predictions are, and whether the chains have converged.

`metrics` and `class_metrics` take predictions and targets, `diagnostics` takes a posterior, `loo`
the log likelihoods of its draws, and `calibration` those of many simulated data sets.
"""

from goodprior.evaluation.calibration import Calibration
from goodprior.evaluation.class_metrics import (
    accuracy,
    auroc,
    class_nll,
    classification_metrics,
    entropy_curve,
    expected_calibration_error,
)
from goodprior.evaluation.diagnostics import Diagnostics, diagnose
from goodprior.evaluation.loo import LOO
from goodprior.evaluation.metrics import (
    calibration_error,
    coverage,
    crps,
    log_predictive_density,
    nll,
    nll_moment,
    regression_metrics,
    rmse,
)
from goodprior.evaluation.uniformity import Ranks

__all__ = [
    "LOO",
    "Calibration",
    "Diagnostics",
    "Ranks",
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
