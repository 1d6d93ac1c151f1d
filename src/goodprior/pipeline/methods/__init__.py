"""Methods: what turns a problem and a prior into a posterior, each with its own defaults."""

from goodprior import storage
from goodprior.pipeline.methods.base import Method, Run, Target
from goodprior.pipeline.methods.ensemble import Ensemble
from goodprior.pipeline.methods.fbnn import FBNN
from goodprior.pipeline.methods.laplace import Laplace
from goodprior.pipeline.methods.registry import parse_method
from goodprior.pipeline.methods.sampled import Only, Sampled
from goodprior.pipeline.methods.trained import MAP, EarlyStopping

__all__ = [
    "FBNN",
    "MAP",
    "EarlyStopping",
    "Ensemble",
    "Laplace",
    "Method",
    "Run",
    "Sampled",
    "Target",
    "parse_method",
]

storage.register(Laplace, MAP, Ensemble, FBNN, EarlyStopping, Sampled, Only)
