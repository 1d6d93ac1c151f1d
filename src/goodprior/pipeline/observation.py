"""How the network's outputs explain the targets: likelihood and noise."""

from dataclasses import replace
from math import exp
from typing import Any, Literal, NamedTuple

import numpy as np

from goodprior.beliefs import Belief
from goodprior.inference import Gaussian, Heteroscedastic, Likelihood, StudentT
from goodprior.priors.learned_noise import LEAST_NOISE_VARIANCE, NOISE_VARIANCE, log_noise_belief

LIKELIHOODS = ("auto", "gaussian", "student-t", "heteroscedastic", "heteroscedastic-t")
DEGREES = {"student-t": 4.0, "heteroscedastic-t": 5.0}  # of freedom, where nobody says
# How a constant noise level is learned: together with the weights, or by the method itself.
ConstantNoise = Literal["sampled", "by the method"]


class ObservationModel(NamedTuple):
    """The likelihood, and what of the noise is learned.

    Parameters
    ----------
    likelihood
        Of the targets given the outputs.
    functions
        How many outputs are functions that the belief is about.
    noise_belief
        About further outputs, the log noise variances, which depend on the inputs (None: none).
    constant_noise
        How a noise level that is the same for all rows is learned (None: it is not).
    """

    likelihood: Likelihood
    functions: int
    noise_belief: Belief | None = None
    constant_noise: ConstantNoise | None = None

    def with_rounding(self, variances: np.ndarray) -> "ObservationModel":
        """The model with a learned noise that stays above what rounding leaves out.

        Without it, rows with the same whole number would be explained without any noise.

        Parameters
        ----------
        variances
            Of what rounding leaves out, for each of the standardised targets.
        """
        known = self.likelihood
        if not isinstance(known, Heteroscedastic) or (variances <= known.least_variance).all():
            return self
        least = tuple(np.maximum(variances, known.least_variance).tolist())
        return self._replace(likelihood=replace(known, least_variance=least))

    @property
    def noise_outputs(self) -> int:
        """How many further outputs are log noise variances."""
        return 0 if self.noise_belief is None else self.functions


def regression_model(
    likelihood: str | Likelihood,
    noise_variance: float | Literal["auto"],
    *,
    targets: int,
    inputs: int,
    default: str = "heteroscedastic",
    constant_noise: ConstantNoise = "sampled",
) -> ObservationModel:
    """The model that these settings name; problems with them are `regression_problems`'.

    Parameters
    ----------
    likelihood
        One of `LIKELIHOODS`, or a likelihood.
    noise_variance
        Of standardised targets, or `auto` to learn it.
    targets, inputs
        How many columns y and X have.
    default
        What `auto` stands for.
    constant_noise
        How the method learns a constant noise.
    """
    if isinstance(likelihood, Likelihood):
        return ObservationModel(likelihood, targets)
    kind = _kind(likelihood, noise_variance, default)
    if noise_variance != "auto":
        known = StudentT(noise_variance**0.5) if kind == "student-t" else Gaussian(noise_variance)
        return ObservationModel(known, targets)
    degrees = DEGREES.get(kind)
    if kind.startswith("heteroscedastic"):
        learned = Heteroscedastic(LEAST_NOISE_VARIANCE, exp(NOISE_VARIANCE.location), degrees)
        return ObservationModel(learned, targets, log_noise_belief(inputs, targets))
    if constant_noise == "by the method" and degrees is None:
        return ObservationModel(
            Gaussian(exp(NOISE_VARIANCE.location)), targets, None, constant_noise
        )
    learned = Heteroscedastic(LEAST_NOISE_VARIANCE, degrees=degrees)
    return ObservationModel(learned, targets, None, "sampled")


def _kind(likelihood: Any, noise_variance: Any, default: str) -> str:
    if likelihood != "auto":
        return likelihood
    return default if noise_variance == "auto" else "gaussian"


def regression_problems(likelihood: Any, noise_variance: Any, default: str) -> list[str]:
    """What is wrong with these settings, in words."""
    if isinstance(likelihood, Likelihood):
        if likelihood.is_classification:
            return [f"likelihood {type(likelihood).__name__} is for classes, not for numbers"]
        if noise_variance != "auto":
            return ["noise_variance must be auto where the likelihood is an object"]
        return []
    if likelihood not in LIKELIHOODS:
        return [
            f"likelihood must be one of {', '.join(LIKELIHOODS)} or a likelihood; "
            f"got {likelihood!r}"
        ]
    kind, found = _kind(likelihood, noise_variance, default), []
    if noise_variance == "auto":
        return found
    if isinstance(noise_variance, bool | str) or not 0 < noise_variance < float("inf"):
        found.append(f"noise_variance must be auto or a number above zero; got {noise_variance!r}")
    elif kind.startswith("heteroscedastic"):
        found.append(f"likelihood {kind} learns its noise: noise_variance must be auto")
    return found
