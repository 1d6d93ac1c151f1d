"""What a method is given, and what it gives: a problem, and a fit.

JAX is imported when a function is called, since a worker must first say how many threads it may
have.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import equinox as eqx
    import numpy as np
    from jaxtyping import PRNGKeyArray

    from goodprior.beliefs import Belief, MeasurementSet
    from goodprior.data import Scaling
    from goodprior.inference import ClassPrediction, Likelihood, Prediction
    from goodprior.matching import Distance, Match, MatchSchedule
    from goodprior.priors import Prior


class Problem(NamedTuple):
    """Training rows or images on their original scale, and how they are to be explained."""

    X: "np.ndarray"
    y: "np.ndarray"
    likelihood: "Likelihood"
    scaling: "Scaling"
    belief: "Belief"
    outputs: int = 1

    @property
    def is_regression(self) -> bool:
        from goodprior.inference import Gaussian

        return isinstance(self.likelihood, Gaussian)

    def part(self, X: "np.ndarray", y: "np.ndarray") -> "Problem":
        """The same with these rows only, which are standardised by themselves."""
        from goodprior.data import Scaling

        scaling = Scaling.fit(X, y) if self.is_regression else Scaling.fit(X)
        return self._replace(X=X, y=y, scaling=scaling)

    def network(
        self, settings: dict[str, Any], key: "PRNGKeyArray", outputs: int | None = None
    ) -> "eqx.Module":
        """The job's network: for tables an MLP; by default with the problem's outputs."""
        from goodprior.networks import MLP

        if self.X.ndim == 4:
            from goodprior.networks import IMAGE_NETWORKS

            made = IMAGE_NETWORKS[settings["network"]]
            return made(self.X.shape[1:], outputs or self.outputs, key=key)
        hidden = (settings["width"],) * settings["depth"]
        return MLP(self.X.shape[1], hidden, outputs or self.outputs, key=key)

    def points(self, settings: dict[str, Any]) -> "MeasurementSet":
        """Where belief and prior are compared: images are always those of the training set."""
        from goodprior.beliefs import Rows, rows_and_box

        inputs = self.scaling.inputs(self.X)
        if self.X.ndim == 4:
            return Rows(inputs, settings["match_points"])
        return rows_and_box(inputs)


class Fit(NamedTuple):
    """What a method makes of a problem: predictions for new rows, and facts for the table."""

    predict: "Callable[[Any], Prediction | ClassPrediction]"
    facts: dict[str, Any]


Method = Callable[[Problem, dict[str, Any], "PRNGKeyArray"], Fit]


def regression_problem(X: "np.ndarray", y: "np.ndarray", noise_variance: float) -> Problem:
    """A table with one target, the paper's belief and Gaussian noise of a known variance."""
    from goodprior.beliefs import HierarchicalGP
    from goodprior.data import Scaling
    from goodprior.inference import Gaussian

    belief = HierarchicalGP.default(X.shape[1])
    return Problem(X, y, Gaussian(noise_variance), Scaling.fit(X, y), belief)


def classification_problem(X: "np.ndarray", y: "np.ndarray", classes: int) -> Problem:
    """A table with labels: one output for two classes, else one per class."""
    from goodprior.beliefs import HierarchicalGP
    from goodprior.data import Scaling
    from goodprior.inference import Binary, Categorical

    outputs = 1 if classes == 2 else classes
    belief = HierarchicalGP.default(X.shape[1], "classification", outputs)
    likelihood = Binary() if classes == 2 else Categorical(classes)
    return Problem(X, y, likelihood, Scaling.fit(X), belief, outputs)


def image_problem(
    X: "np.ndarray", y: "np.ndarray", classes: int = 10, belief: "Belief | None" = None
) -> Problem:
    """Images with labels; by default with the paper's belief about CIFAR-10 (section 6.4).

    The paper standardises its inputs, without saying how for images; here by channel.
    """
    from goodprior.beliefs import HierarchicalGP
    from goodprior.data import Scaling
    from goodprior.inference import Categorical

    belief = HierarchicalGP.images(classes) if belief is None else belief
    return Problem(X, y, Categorical(classes), Scaling.fit(X), belief, classes)


def distance_of(settings: dict[str, Any]) -> "str | Distance":
    """The distance of these settings; the critic as published."""
    from goodprior.matching import Wasserstein

    if settings["distance"] == "wasserstein":
        return Wasserstein(restart=True)
    return settings["distance"]


def schedule_of(
    settings: dict[str, Any], distance: "str | Distance", **changes: Any
) -> "MatchSchedule":
    """The distance's schedule with the draws, steps and learning rate of these settings."""
    from dataclasses import replace

    from goodprior.matching.match import as_distance

    names = {"draws": "match_draws", "steps": "match_steps"}
    if settings.get("distance") == "wasserstein":
        names["learning_rate"] = "match_rate"
    own = {field: settings[name] for field, name in names.items() if name in settings}
    return replace(as_distance(distance).default_schedule, **{**own, **changes})


def matched_prior(
    name: str,
    problem: Problem,
    settings: dict[str, Any],
    key: "PRNGKeyArray",
    schedule: dict[str, Any] | None = None,
    **options: Any,
) -> "tuple[Prior, Match | None]":
    """The prior of this name, matched to the problem's belief if that is its kind.

    `schedule` has fields of the match's schedule that differ from those of the settings.
    """
    import jax

    from goodprior.matching import match
    from goodprior.priors import is_matched, named_prior

    key_network, key_prior, key_match, _ = jax.random.split(key, 4)
    prior = named_prior(name, problem.network(settings, key_network), key=key_prior)
    if not is_matched(name):
        return prior, None
    own: dict[str, Any] = {
        "distance": distance_of(settings) if "distance" in settings else "energy"
    }
    if "match_held_out" in settings:
        own["held_out"] = settings["match_held_out"]
    own |= options
    own["schedule"] = schedule_of(settings, own["distance"], **(schedule or {}))
    points = problem.points(settings)
    matched = match(prior, problem.belief, points, key=key_match, **own)
    return matched.prior, matched
