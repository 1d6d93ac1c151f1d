"""Priors: distributions over a network's weights, in coordinates of their own choosing.

All keep the one contract of `Prior`; what matching tunes are the prior's own arrays.
"""

from goodprior.priors.base import Prior
from goodprior.priors.closed_form import closed_form_prior
from goodprior.priors.flow import FlowPrior
from goodprior.priors.gaussian import GaussianPrior
from goodprior.priors.hierarchical import (
    GibbsHierarchicalPrior,
    HierarchicalPrior,
    MarginalHierarchicalPrior,
    NoncentredHierarchicalPrior,
)
from goodprior.priors.learned_noise import LearnedNoise
from goodprior.priors.named import PAPER_NAMES, is_matched, named_prior
from goodprior.priors.noise_network import NoiseNetworkPrior

__all__ = [
    "PAPER_NAMES",
    "FlowPrior",
    "GaussianPrior",
    "GibbsHierarchicalPrior",
    "HierarchicalPrior",
    "LearnedNoise",
    "MarginalHierarchicalPrior",
    "NoiseNetworkPrior",
    "NoncentredHierarchicalPrior",
    "Prior",
    "closed_form_prior",
    "is_matched",
    "named_prior",
]
