"""Baselines: what people use otherwise, with the same networks, likelihoods and predictions.

Each gives something with the `predict` and `functions` of a `Posterior`.
"""

from goodprior.baselines.ensemble import WEIGHT_DECAYS, fit_ensemble
from goodprior.baselines.evidence import MarginalLikelihood
from goodprior.baselines.fbnn import fit_fbnn
from goodprior.baselines.laplace import Laplace, fit_laplace, laplace_at
from goodprior.baselines.point_estimate import fit_early_stopping, fit_map
from goodprior.baselines.tuning import (
    NOISE_VARIANCES,
    TEMPERATURES,
    Trial,
    Validation,
    bayesian_search,
    best,
    progress_front,
    scale_grid,
    trials,
    tune,
)

__all__ = [
    "NOISE_VARIANCES",
    "TEMPERATURES",
    "WEIGHT_DECAYS",
    "Laplace",
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
    "scale_grid",
    "trials",
    "tune",
]
