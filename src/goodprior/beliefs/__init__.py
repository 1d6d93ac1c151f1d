"""Beliefs: distributions over functions that can be sampled at points, and where to look at them.

A belief is anything with `sample(key, x, n)`; `GaussianProcess` over a kernel is the usual one.
"""

from goodprior.beliefs.as_terms import as_terms
from goodprior.beliefs.base import Belief
from goodprior.beliefs.file import StoredBelief, belief_from_json, read_belief
from goodprior.beliefs.fit import fit_belief
from goodprior.beliefs.fit_kernel import fit_kernel
from goodprior.beliefs.gaussian_process import GaussianProcess
from goodprior.beliefs.hierarchical import HierarchicalGP
from goodprior.beliefs.kernel_network import KernelNetwork, kernel_network
from goodprior.beliefs.kernels import (
    KERNELS,
    matern12,
    matern32,
    matern52,
    periodic,
    rational_quadratic,
    rbf,
)
from goodprior.beliefs.measurement import (
    Box,
    Grid,
    MeasurementSet,
    Mix,
    Near,
    Rows,
    rows_and_box,
)
from goodprior.beliefs.mixture import Mixture
from goodprior.beliefs.monotone import Monotone
from goodprior.beliefs.stacked import Stacked
from goodprior.beliefs.stretched import Stretched
from goodprior.beliefs.terms import About, Factor, SumOfTerms, Term

__all__ = [
    "KERNELS",
    "About",
    "Belief",
    "Box",
    "Factor",
    "GaussianProcess",
    "Grid",
    "HierarchicalGP",
    "KernelNetwork",
    "MeasurementSet",
    "Mix",
    "Mixture",
    "Monotone",
    "Near",
    "Rows",
    "Stacked",
    "StoredBelief",
    "Stretched",
    "SumOfTerms",
    "Term",
    "as_terms",
    "belief_from_json",
    "fit_belief",
    "fit_kernel",
    "kernel_network",
    "matern12",
    "matern32",
    "matern52",
    "periodic",
    "rational_quadratic",
    "rbf",
    "read_belief",
    "rows_and_box",
]
