"""Inference: likelihoods, the posterior density, its samplers, and what the draws predict.

`sample_posterior` runs several chains of a sampler and returns a `Posterior`.
"""

from goodprior.inference.collapsed import Collapsed
from goodprior.inference.density import Density
from goodprior.inference.known_noise import KnownNoise
from goodprior.inference.likelihoods import (
    Binary,
    Categorical,
    Gaussian,
    Heteroscedastic,
    Likelihood,
    StudentT,
)
from goodprior.inference.posterior import Posterior
from goodprior.inference.predictive import ClassPrediction, Prediction
from goodprior.inference.sample import SamplingError, sample_posterior
from goodprior.inference.samplers.base import Sampler, SamplerReport
from goodprior.inference.samplers.mclmc import MCLMC
from goodprior.inference.samplers.nuts import NUTS
from goodprior.inference.samplers.sghmc import SGHMC
from goodprior.progress import StopSampling

__all__ = [
    "MCLMC",
    "NUTS",
    "SGHMC",
    "Binary",
    "Categorical",
    "ClassPrediction",
    "Collapsed",
    "Density",
    "Gaussian",
    "Heteroscedastic",
    "KnownNoise",
    "Likelihood",
    "Posterior",
    "Prediction",
    "Sampler",
    "SamplerReport",
    "SamplingError",
    "StopSampling",
    "StudentT",
    "sample_posterior",
]
