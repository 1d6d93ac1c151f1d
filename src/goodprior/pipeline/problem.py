"""What is to be explained, and how: what every method of the estimators is given."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from goodprior import checks
from goodprior.beliefs import Belief, MeasurementSet, Rows, Stacked, rows_and_box
from goodprior.data.scaling import Scaling
from goodprior.inference import Likelihood
from goodprior.matching import match
from goodprior.matching.match import History
from goodprior.networks import IMAGE_NETWORKS, MLP
from goodprior.pipeline.settings import Settings
from goodprior.priors import HierarchicalPrior, Prior, is_matched, named_prior
from goodprior.progress import Tracker, tracking


class Model(NamedTuple):
    """How outputs explain targets: what `fit` needs to know beside network and prior."""

    likelihood: Likelihood
    outputs: int  # of the network, for functions
    noise: Belief | None = None  # about further outputs: log noise variances
    wrap: Callable[[Prior], Prior] | None = None  # puts a learned noise level beside the prior
    learn_noise: bool = False  # the likelihood's variance is only where the method starts


class Problem(NamedTuple):
    """Rows on their original scale, with settings and belief."""

    settings: Settings
    model: Model
    belief: Belief
    scaling: Scaling
    X: np.ndarray
    y: np.ndarray | None = None  # None: only the prior is wanted
    weights: np.ndarray | None = None

    @property
    def rows(self) -> int:
        return len(self.X)

    def network(self) -> Any:
        """The given network, a named one for images, or one of the given widths."""
        said, images = self.settings.network, self.X.ndim == 4
        names = ", ".join(IMAGE_NETWORKS)
        width = self.model.outputs * (1 if self.model.noise is None else 2)
        if isinstance(said, str):
            build = IMAGE_NETWORKS[checks.one_of("network", said, IMAGE_NETWORKS)]
            if not images:
                raise ValueError(
                    f"the networks {names} take images, of shape (rows, height, width, channels); "
                    f"the shape of X is {self.X.shape}"
                )
            return _unset(lambda key: build(self.X.shape[1:], width, key=key))
        if said is not None:
            return said
        if images:
            raise ValueError(f"images need a network: one of {names}, or an equinox module")
        hidden, activation = tuple(self.settings.hidden), self.settings.activation
        inputs = self.X.shape[1]
        return _unset(lambda key: MLP(inputs, hidden, width, activation=activation, key=key))

    def points(self) -> MeasurementSet:
        """The paper's measurement sets: rows and their box, or 32 of the images."""
        x = self.scaling.inputs(self.X)
        return Rows(x, 32) if x.ndim == 4 else rows_and_box(x)

    def tracking(self, task: str) -> AbstractContextManager[Tracker]:
        """Progress, where it is wanted."""
        return tracking(task, quiet=not self.settings.verbose)


def _unset(build: Callable[[PRNGKeyArray], Any]) -> Any:
    """The network with zeros: its prior draws the weights, and drawing them twice takes seconds."""
    shapes = eqx.filter_eval_shape(build, jax.random.key(0))
    return jax.tree.map(
        lambda leaf: (
            jnp.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf
        ),
        shapes,
    )


def fit_prior(problem: Problem, key: PRNGKeyArray) -> tuple[Prior, History | None]:
    """The prior over functions: the given one, or a named one, matched if it is to be."""
    prior, history = _found_prior(problem, key)
    if isinstance(prior, HierarchicalPrior):
        prior = prior.in_form("marginal" if problem.settings.method == "map" else "noncentred")
    return prior, history


def _found_prior(problem: Problem, key: PRNGKeyArray) -> tuple[Prior, History | None]:
    said = problem.settings.prior
    if isinstance(said, Prior):
        return said, None
    keys = jax.random.split(key, 3)
    prior, history = named_prior(said, problem.network(), key=keys[1]), None
    if is_matched(said):
        belief, noise = problem.belief, problem.model.noise
        with problem.tracking("matching the prior") as track:
            prior, history = match(
                prior,
                belief if noise is None else Stacked((belief, noise)),
                problem.points(),
                distance=problem.settings.distance,
                schedule=problem.settings.match_schedule,
                key=keys[2],
                held_out=0,
                on_progress=lambda i, n, value: track(i, n, f"distance {value:.3f}"),
            )
    return prior, history
