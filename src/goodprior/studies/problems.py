"""What a method is given, and what it gives: a problem, and a fit.

JAX is imported when a function is called, since a worker must first say how many threads it may
have.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import PRNGKeyArray

    from goodprior.beliefs import Belief
    from goodprior.data import Scaling
    from goodprior.inference import ClassPrediction, Likelihood, Prediction
    from goodprior.matching import Match
    from goodprior.networks import MLP
    from goodprior.priors import Prior


class Problem(NamedTuple):
    """Training rows on their original scale, and how they are to be explained."""

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
    ) -> "MLP":
        """A network of the job's depth and width; by default with the problem's outputs."""
        from goodprior.networks import MLP

        hidden = (settings["width"],) * settings["depth"]
        return MLP(self.X.shape[1], hidden, outputs or self.outputs, key=key)


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


def matched_prior(
    name: str, problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray", **options: Any
) -> "tuple[Prior, Match | None]":
    """The prior of this name, matched to the problem's belief if that is its kind."""
    import jax

    from goodprior.beliefs import rows_and_box
    from goodprior.matching import match
    from goodprior.priors import is_matched, named_prior

    key_network, key_prior, key_match, _ = jax.random.split(key, 4)
    prior = named_prior(name, problem.network(settings, key_network), key=key_prior)
    if not is_matched(name):
        return prior, None
    points = rows_and_box(problem.scaling.inputs(problem.X))
    own = {"distance": settings.get("distance"), "draws": settings.get("match_draws")}
    options = {**own, **options}
    matched = match(prior, problem.belief, points, key=key_match, **options)
    return matched.prior, matched
