"""Baselines: what people use otherwise, with the same networks, likelihoods and predictions.

Each gives something with the `predict` and `functions` of a `Posterior`.
"""

from goodprior.baselines.ensemble import WEIGHT_DECAYS, fit_ensemble
from goodprior.baselines.evidence import MarginalLikelihood
from goodprior.baselines.fbnn import fit_fbnn
from goodprior.baselines.laplace import Laplace, fit_laplace, laplace_at
from goodprior.baselines.point_estimate import fit_early_stopping, fit_map

__all__ = [
    "WEIGHT_DECAYS",
    "Laplace",
    "MarginalLikelihood",
    "fit_early_stopping",
    "fit_ensemble",
    "fit_fbnn",
    "fit_laplace",
    "fit_map",
    "laplace_at",
]
