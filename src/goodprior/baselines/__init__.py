"""Baselines: other methods with the same networks, likelihoods and predictions.

Each returns something with the `predict` and `functions` of a `Posterior`.
"""

from goodprior.baselines.ensemble import WEIGHT_DECAYS, fit_ensemble
from goodprior.baselines.evidence import MarginalLikelihood
from goodprior.baselines.fbnn import fit_fbnn
from goodprior.baselines.laplace import fit_laplace, laplace_at
from goodprior.baselines.laplace_posterior import LaplacePosterior
from goodprior.baselines.point_estimate import fit_early_stopping, fit_map
from goodprior.baselines.tuning import (
    TEMPERATURES,
    Trial,
    Validation,
    bayesian_search,
    best,
    progress_front,
    tune,
)

__all__ = [
    "TEMPERATURES",
    "WEIGHT_DECAYS",
    "LaplacePosterior",
    "MarginalLikelihood",
    "Trial",
    "Validation",
    "bayesian_search",
    "best",
    "fit_early_stopping",
    "fit_ensemble",
    "fit_fbnn",
    "fit_laplace",
    "fit_map",
    "laplace_at",
    "progress_front",
    "tune",
]
