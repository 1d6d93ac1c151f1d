"""The pipeline: from rows and a belief to a matched prior and its posterior.

Estimators, studies, demos and the command line all build a `Problem`, choose a method and read
the `Fit` that `fit_posterior` returns.
"""

from goodprior.pipeline.calibrate import calibrate
from goodprior.pipeline.fit import Fit, fit_posterior
from goodprior.pipeline.hooks import Hooks
from goodprior.pipeline.methods import (
    FBNN,
    MAP,
    EarlyStopping,
    Ensemble,
    Laplace,
    Method,
    Sampled,
    Target,
    parse_method,
)
from goodprior.pipeline.network import NetworkSpec
from goodprior.pipeline.observation import ObservationModel
from goodprior.pipeline.prior import fit_prior
from goodprior.pipeline.problem import Problem

__all__ = [
    "FBNN",
    "MAP",
    "EarlyStopping",
    "Ensemble",
    "Fit",
    "Hooks",
    "Laplace",
    "Method",
    "NetworkSpec",
    "ObservationModel",
    "Problem",
    "Sampled",
    "Target",
    "calibrate",
    "fit_posterior",
    "fit_prior",
    "parse_method",
]
