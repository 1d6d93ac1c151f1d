"""The paper's problems as the pipeline takes them: belief, likelihood, network and matching.

It imports JAX: a worker must first say how many threads it may have.
"""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from goodprior.beliefs import Belief, HierarchicalGP, Rows
from goodprior.data import Scaling
from goodprior.inference import Binary, Categorical, Gaussian
from goodprior.matching import Distance, MatchSchedule, Wasserstein
from goodprior.matching.match import History, as_distance
from goodprior.pipeline import Hooks, NetworkSpec, ObservationModel, Problem, fit_prior
from goodprior.priors import Prior
from goodprior.studies.engine.study import Settings

CLASSES = 10  # of every set of images
HELD_OUT = 512  # draws that measure a prior before and after its match


def regression_problem(
    X: np.ndarray, y: np.ndarray, noise_variance: float, settings: Settings
) -> Problem:
    """A table with one target, the paper's belief and Gaussian noise of a known variance."""
    observation = ObservationModel(Gaussian(noise_variance), 1)
    belief = HierarchicalGP.default(X.shape[1])
    return _problem(X, y, observation, belief, Scaling.fit(X, y), settings)


def classification_problem(
    X: np.ndarray, y: np.ndarray, classes: int, settings: Settings
) -> Problem:
    """A table with labels: one output for two classes, else one per class."""
    outputs = 1 if classes == 2 else classes
    observation = ObservationModel(Binary() if classes == 2 else Categorical(classes), outputs)
    belief = HierarchicalGP.default(X.shape[1], "classification", outputs)
    return _problem(X, y, observation, belief, Scaling.fit(X), settings)


def image_problem(
    X: np.ndarray,
    y: np.ndarray,
    settings: Settings,
    belief: Belief | None = None,
) -> Problem:
    """Images with labels; by default with the paper's belief about CIFAR-10 (section 6.4).

    The paper standardises its inputs, without saying how for images; here by channel. With
    `pixels` the belief is about pixels from 0 to 255, else about standardised ones.
    """
    belief = HierarchicalGP.images(CLASSES) if belief is None else belief
    scaling = Scaling.fit(X)
    if "pixels" in settings:
        belief = OnPixels(belief, tuple(map(float, scaling.x_std)))
    observation = ObservationModel(Categorical(CLASSES), CLASSES)
    return _problem(X, y, observation, belief, scaling, settings)


class OnPixels(eqx.Module):
    """A stationary belief about pixels in their own units, asked at standardised ones."""

    belief: Belief
    units: tuple[float, ...] = eqx.field(static=True)  # the deviation of each channel

    def sample(self, key: PRNGKeyArray, x: Array, n: int) -> Array:
        return self.belief.sample(key, x * jnp.array(self.units), n)


def _problem(
    X: np.ndarray,
    y: np.ndarray,
    observation: ObservationModel,
    belief: Belief,
    scaling: Scaling,
    settings: Settings,
) -> Problem:
    """With network, prior and matching as the job's settings say; Gibbs steps as in the paper.

    MCLMC, and chains that are to be `noncentred`, have the form in which variances mix.
    """
    images = X.ndim == 4
    distance = distance_of(settings)
    return Problem(
        X,
        y,
        observation,
        belief,
        network=NetworkSpec(name=settings["network"])
        if images
        else NetworkSpec((settings["width"],) * settings["depth"]),
        scaling=scaling,
        hierarchical_form="noncentred"
        if settings.get("sampler") in ("mclmc", "noncentred")
        else "gibbs",
        flow_on_readout=True,
        distance=distance,
        schedule=schedule_of(settings, distance),
        held_out=settings.get("match_held_out", HELD_OUT),
        points=Rows(scaling.inputs(X), settings["match_points"])
        if images and "match_points" in settings
        else None,
    )


def part(problem: Problem, X: np.ndarray, y: np.ndarray) -> Problem:
    """The same problem with these rows only, which are standardised by themselves."""
    regression = not problem.likelihood.is_classification
    return replace(problem, X=X, y=y, scaling=Scaling.fit(X, y if regression else None))


def distance_of(settings: Settings) -> str | Distance:
    """The distance of these settings, energy by default; the critic as published."""
    name = settings.get("distance") or "energy"
    return Wasserstein(restart=True) if name == "wasserstein" else name


def schedule_of(settings: Settings, distance: str | Distance, **changes: Any) -> MatchSchedule:
    """The distance's schedule with the draws, steps and learning rate of these settings."""
    names = {"draws": "match_draws", "steps": "match_steps"}
    if settings.get("distance") == "wasserstein":
        names["learning_rate"] = "match_rate"
    own = {field: settings[name] for field, name in names.items() if name in settings}
    return replace(as_distance(distance).default_schedule, **{**own, **changes})


def matched_prior(
    name: str, problem: Problem, key: PRNGKeyArray, hooks: Hooks | None = None
) -> tuple[Prior, History | None]:
    """The prior of this name, matched to the problem's belief if that is its kind."""
    return fit_prior(replace(problem, prior=name), key=key, hooks=hooks)
