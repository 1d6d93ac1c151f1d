"""goodprior: from a belief about functions to a prior over weights, and to its posterior.

The subpackages, in the order in which data flows: `networks`, `data`, `beliefs`, `priors`,
`matching`, `inference`, `evaluation`, `baselines`, `storage`, `pipeline`, `plots`, `estimators`,
`comparison`, `demos`, `studies`, `studio`, `commands`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Names are imported from their subpackages when first used: `import goodprior` alone loads no JAX.
_ROOMS = {
    "networks": ("MLP", "VGG16", "Conv", "Dense", "Fourier", "LeNet5", "PreResNet20"),
    "beliefs": (
        "About",
        "Belief",
        "Box",
        "Factor",
        "GaussianProcess",
        "Grid",
        "HierarchicalGP",
        "MeasurementSet",
        "Mixture",
        "Near",
        "Rows",
        "Stacked",
        "SumOfTerms",
        "Term",
        "fit_belief",
        "matern12",
        "matern32",
        "matern52",
        "periodic",
        "rational_quadratic",
        "rbf",
        "read_belief",
        "rows_and_box",
    ),
    "distributions": ("Fixed", "LogNormal"),
    "priors": (
        "FlowPrior",
        "GaussianPrior",
        "GibbsHierarchicalPrior",
        "HierarchicalPrior",
        "LearnedNoise",
        "MarginalHierarchicalPrior",
        "NoncentredHierarchicalPrior",
        "Prior",
        "closed_form_prior",
        "named_prior",
    ),
    "matching": (
        "KL",
        "MMD",
        "Distance",
        "Energy",
        "KLStein",
        "MatchReport",
        "MatchSchedule",
        "Sliced",
        "Wasserstein",
        "compare",
        "match",
    ),
    "data": ("Scaling",),
    "inference": (
        "MCLMC",
        "NUTS",
        "SGHMC",
        "Binary",
        "Categorical",
        "ClassPrediction",
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
    ),
    "evaluation": (
        "Calibration",
        "classification_metrics",
        "diagnose",
        "log_predictive_density",
        "regression_metrics",
    ),
    "baselines": (
        "LaplacePosterior",
        "MarginalLikelihood",
        "fit_early_stopping",
        "fit_ensemble",
        "fit_fbnn",
        "fit_laplace",
        "fit_map",
        "laplace_at",
        "tune",
    ),
    "pipeline": (
        "FBNN",
        "MAP",
        "EarlyStopping",
        "Ensemble",
        "Fit",
        "Laplace",
        "NetworkSpec",
        "Problem",
        "calibrate",
        "fit_posterior",
    ),
    "devices": ("use_all_cores",),
    "estimators": ("BNNClassifier", "BNNRegressor", "load", "save"),
    "comparison": ("ModelComparison", "compare_models"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [*_ROOM_OF, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:
    from goodprior.baselines import *  # noqa: F403
    from goodprior.beliefs import *  # noqa: F403
    from goodprior.comparison import *  # noqa: F403
    from goodprior.data import *  # noqa: F403
    from goodprior.devices import *  # noqa: F403
    from goodprior.distributions import *  # noqa: F403
    from goodprior.estimators import *  # noqa: F403
    from goodprior.evaluation import *  # noqa: F403
    from goodprior.inference import *  # noqa: F403
    from goodprior.matching import *  # noqa: F403
    from goodprior.networks import *  # noqa: F403
    from goodprior.pipeline import *  # noqa: F403
    from goodprior.priors import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        return getattr(import_module(f"goodprior.{_ROOM_OF[name]}"), name)
    raise AttributeError(f"module 'goodprior' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
