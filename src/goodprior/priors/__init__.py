"""Priors: distributions over a network's weights, in coordinates of their own choosing.

All keep the one contract of `Prior`; what matching tunes are the prior's own arrays.
"""

from goodprior.priors.base import Prior
from goodprior.priors.gaussian import GaussianPrior

__all__ = ["GaussianPrior", "Prior"]
