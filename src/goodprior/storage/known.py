"""The classes and functions that files may name. Anything else in a file is refused.

The names are part of the format: a class may move to another module, but keeps its name here.
"""

from collections.abc import Callable
from typing import Any

from tinygp import kernels, transforms
from tinygp.kernels.distance import L1Distance, L2Distance

from goodprior.baselines import LaplacePosterior, MarginalLikelihood
from goodprior.baselines.curvature import Block, Full, Kronecker
from goodprior.beliefs import (
    About,
    Box,
    Factor,
    GaussianProcess,
    Grid,
    HierarchicalGP,
    Mix,
    Mixture,
    Monotone,
    Near,
    Rows,
    Stacked,
    Stretched,
    SumOfTerms,
    Term,
)
from goodprior.beliefs.kernel_network import KernelNetwork
from goodprior.beliefs.kernels import KERNELS, PROFILES, Radial
from goodprior.beliefs.terms import TermsKernel
from goodprior.data import Scaling
from goodprior.distributions import Fixed, LogNormal
from goodprior.inference import (
    MCLMC,
    NUTS,
    SGHMC,
    Binary,
    Categorical,
    Gaussian,
    Heteroscedastic,
    KnownNoise,
    Posterior,
    StudentT,
)
from goodprior.inference.chains import RunState
from goodprior.inference.chunk import Chain
from goodprior.inference.samplers import mclmc, nuts, sghmc
from goodprior.inference.samplers.base import SamplerReport, Totals
from goodprior.matching import KL, MMD, Energy, KLStein, MatchSchedule, Sliced, Wasserstein
from goodprior.matching.compare import Comparison
from goodprior.matching.match import History
from goodprior.networks import (
    ACTIVATIONS,
    MLP,
    VGG16,
    Architecture,
    BatchNorm,
    Conv,
    Dense,
    Fourier,
    LeNet5,
    Monomial,
    MonotoneNetwork,
    Parameter,
    PreResNet20,
    Slopes,
    Waves,
    WithLogNoise,
)
from goodprior.networks.preresnet import Residual
from goodprior.priors import (
    FlowPrior,
    GaussianPrior,
    GibbsHierarchicalPrior,
    LearnedNoise,
    MarginalHierarchicalPrior,
    NoiseNetworkPrior,
    NoncentredHierarchicalPrior,
)
from goodprior.priors.flow import PlanarFlow
from goodprior.priors.hierarchical import UnitsAndLogVariances, WeightsAndVariances
from goodprior.priors.learned_noise import NoisyNetwork, WithNoise
from goodprior.priors.noise_network import FunctionAndNoise

_GOODPRIOR: tuple[type, ...] = (
    # networks
    *(MLP, Dense, Architecture, Parameter),
    *(Conv, BatchNorm, LeNet5, VGG16, PreResNet20, Residual, WithLogNoise),
    *(Fourier, Waves, Monomial, Slopes, MonotoneNetwork),
    # beliefs
    *(GaussianProcess, HierarchicalGP, Mixture, Stacked, Stretched, Radial, KernelNetwork),
    *(Rows, Box, Grid, Near, Mix, LogNormal, Fixed),
    *(SumOfTerms, Term, Factor, About, TermsKernel, Monotone),
    # priors and their latents
    *(GaussianPrior, FlowPrior, LearnedNoise),
    *(GibbsHierarchicalPrior, MarginalHierarchicalPrior, NoncentredHierarchicalPrior),
    *(PlanarFlow, UnitsAndLogVariances, WeightsAndVariances, WithNoise, NoisyNetwork),
    *(NoiseNetworkPrior, FunctionAndNoise),
    # matching
    *(Energy, KL, KLStein, MMD, Sliced, Wasserstein, MatchSchedule, History, Comparison),
    # data and inference
    *(Scaling, Gaussian, StudentT, Heteroscedastic, KnownNoise, Categorical, Binary, Posterior),
    *(SGHMC, NUTS, MCLMC, Chain, RunState, SamplerReport, Totals),
    # baselines
    *(LaplacePosterior, MarginalLikelihood, Full, Kronecker, Block),
)
_TINYGP: tuple[type, ...] = (
    *(kernels.Sum, kernels.Product, kernels.Constant, kernels.DotProduct, kernels.Polynomial),
    *(kernels.Exp, kernels.ExpSquared, kernels.Matern32, kernels.Matern52, kernels.Cosine),
    *(kernels.ExpSineSquared, kernels.RationalQuadratic),
    *(transforms.Linear, transforms.Cholesky, transforms.Subspace, L1Distance, L2Distance),
)

CLASSES: dict[str, type] = {
    **{cls.__name__: cls for cls in _GOODPRIOR},
    **{f"tinygp.{cls.__name__}": cls for cls in _TINYGP},
    "sghmc.State": sghmc.State,
    "nuts.State": nuts.State,
    "mclmc.State": mclmc.State,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{family}.{name}": function
    for family, functions in (
        ("activation", ACTIVATIONS),
        ("kernel", KERNELS),
        ("profile", PROFILES),
    )
    for name, function in functions.items()
}

CLASS_NAMES = {cls: name for name, cls in CLASSES.items()}
FUNCTION_NAMES = {id(function): name for name, function in FUNCTIONS.items()}


def register(*classes: type) -> None:
    """Let files hold objects of further classes: named tuples, modules or dataclasses.

    Their fields are stored; a `__check_init__` is asked whether what a file says makes sense.
    """
    for cls in classes:
        if CLASSES.setdefault(cls.__name__, cls) is not cls:
            raise ValueError(f"files know another class by the name {cls.__name__}")
        CLASS_NAMES[cls] = cls.__name__


_SCHEDULE = ("steps", "draws", "points", "bank", "learning_rate", "settles", "pull")
_DROPPED = {
    "BatchNorm": ("notes",),
    **dict.fromkeys(("Energy", "MMD", "Sliced", "Wasserstein"), _SCHEDULE),
}


def upgraded(name: str, fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A class and its fields, as files of version 0.1 have them, the way they are called now.

    Distances had their schedule in them, the forms of a hierarchical prior were one class, and all
    matches took steps.
    """
    if name == "HierarchicalPrior" and fields.get("form") in ("gibbs", "marginal", "noncentred"):
        rest = {field: value for field, value in fields.items() if field != "form"}
        return f"{fields['form'].capitalize()}HierarchicalPrior", rest
    if name == "History":
        return name, {"how": "steps", **fields}
    if name == "Heteroscedastic":
        return name, {"degrees": None, **fields}
    if name == "Chain":
        return name, {"auxiliary": None, **fields}
    dropped = _DROPPED.get(name, ())
    return name, {field: value for field, value in fields.items() if field not in dropped}
