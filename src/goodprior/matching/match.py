"""`match`: tune a prior until its functions are like the belief's (paper, algorithm 1)."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.beliefs.base import Belief
from goodprior.beliefs.measurement import MeasurementSet
from goodprior.matching.belief_draws import BeliefDraws
from goodprior.matching.compare import Comparison, compare
from goodprior.matching.critic import Wasserstein
from goodprior.matching.distances import MMD, Distance, Energy, Metric, Sliced, mean_distance
from goodprior.matching.kl import KL, KLStein
from goodprior.matching.schedule import CHUNK, MatchSchedule, PlateauDecay
from goodprior.priors import Prior
from goodprior.progress import StopSampling

DISTANCES: dict[str, Callable[[], Distance]] = {
    "energy": Energy,
    "kl": KL,
    "kl-ssge": KLStein,
    "mmd": MMD,
    "sliced": Sliced,
    "wasserstein": Wasserstein,
}


@dataclass(frozen=True)
class History:
    """What happened during a match.

    Attributes
    ----------
    distance : ndarray
        The value of the distance at each step.
    seconds : float
        What the steps took, compilation included.
    before, after : Comparison or None
        Prior and belief compared on held-out draws, before the match and after it.
    how : str
        `steps`, or `closed form` where none were needed.
    """

    distance: Float[np.ndarray, " steps"]
    seconds: float
    before: Comparison | None = None
    after: Comparison | None = None
    how: str = "steps"


class Match(NamedTuple):
    """A matched prior and the history of its matching."""

    prior: Prior
    history: History


class _State(NamedTuple):
    """All that changes during a match, as one pytree."""

    arrays: PyTree
    optimiser: optax.OptState
    distance: Any


def match(
    prior: Prior,
    belief: Belief,
    points: MeasurementSet,
    *,
    key: PRNGKeyArray,
    distance: str | Distance = "energy",
    schedule: MatchSchedule | None = None,
    held_out: int = 512,
    on_progress: Callable[[int, int, float], None] | None = None,
    on_prior: Callable[[int, Prior], None] | None = None,
) -> Match:
    """Tune the prior's arrays until its functions are like the belief's at the points.

    Each step draws a measurement set and functions of the belief and of the prior, and moves the
    prior along the gradient of the distance.

    Parameters
    ----------
    prior : Prior
        Where to start; it is not changed.
    belief : Belief
        What functions should be like.
    points : MeasurementSet
        Where functions are compared.
    key : PRNGKeyArray
        Of all random numbers.
    distance : str or Distance
        `energy`, `wasserstein`, `sliced`, `mmd`, `kl`, `kl-ssge`, or an object.
    schedule : MatchSchedule, optional
        Steps, draws, optimiser and stopping rule, in place of the distance's default schedule.
    held_out : int
        Functions of each side to compare prior and belief by, before and after; 0 for neither.
    on_progress : callable, optional
        Called every ten steps with the step, the last step and the distance's value.
    on_prior : callable, optional
        Called every ten steps with the step and the prior as it is by then. Either may end the
        match by raising `StopSampling`.

    Returns
    -------
    Match
        The matched prior, and the history.

    Raises
    ------
    ValueError
        If network, points, belief, distance and schedule do not fit together.
    FloatingPointError
        If ten steps in a row give no finite value.

    Examples
    --------
    >>> import jax
    >>> from goodprior.beliefs import GaussianProcess, Grid, rbf
    >>> from goodprior.matching import MatchSchedule
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(MLP(1, (20,), 1, key=jax.random.key(0)))
    >>> belief, points = GaussianProcess(rbf(0.5)), Grid([-1], [1], 20)
    >>> matched, history = match(
    ...     prior, belief, points, schedule=MatchSchedule(steps=20), key=jax.random.key(1)
    ... )
    >>> history.after.energy_distance < history.before.energy_distance
    True
    """
    distance = as_distance(distance)
    schedule = distance.default_schedule if schedule is None else schedule
    if held_out:
        checks.whole("held_out", held_out, least=2)
    started = time.perf_counter()
    key_run, key_belief, key_init, key_held_out = jax.random.split(key, 4)
    run = _Run(prior, belief, points, distance, schedule, key_run, key_belief, key_init)
    with suppress(StopSampling):
        while (value := run.advance()) is not None:
            if on_progress is not None:
                on_progress(len(run.values), run.decay.end, value)
            if on_prior is not None:
                on_prior(len(run.values), run.prior)
    seconds = time.perf_counter() - started
    before = after = None
    if held_out:
        before = compare(prior, belief, points, key=key_held_out, draws=held_out)
        after = compare(run.prior, belief, points, key=key_held_out, draws=held_out)
    return Match(run.prior, History(run.values, seconds, before, after))


def as_distance(distance: str | Distance) -> Distance:
    """The distance of this name, or the object as it is."""
    if isinstance(distance, Distance):
        return distance
    return DISTANCES[checks.one_of("distance", distance, DISTANCES)]()


class _Run:
    """A match under way: `advance` takes it on by a chunk of steps."""

    def __init__(
        self,
        prior: Prior,
        belief: Belief,
        points: MeasurementSet,
        distance: Distance,
        schedule: MatchSchedule,
        key_run: PRNGKeyArray,
        key_belief: PRNGKeyArray,
        key_init: PRNGKeyArray,
    ):
        self.distance, self.metric = distance, distance.bind(belief)
        self.schedule, self.decay = schedule, PlateauDecay(schedule)
        self.key = key_run
        self.targets = BeliefDraws(belief, points, schedule, distance.redraw, key_belief)
        arrays, self.rest = eqx.partition(prior, eqx.is_inexact_array)
        optimiser = schedule.transformation().init(arrays)
        self.state = _State(arrays, optimiser, distance.init(key_init, self.targets.points_seen))
        self.values = np.zeros(0)
        self.next_targets = self.targets(0)
        _check_fits(prior, *self.next_targets)

    @property
    def prior(self) -> Prior:
        """The prior as it is by now."""
        return eqx.combine(self.state.arrays, self.rest)

    def advance(self) -> float | None:
        """Take the next steps; the value at the last of them, or None if the match had ended."""
        if len(self.values) and self.schedule.reached(self.values):
            return None
        rates = self.decay.next_chunk(self.values)
        if rates is None:
            return None
        done, schedule = len(self.values), self.schedule
        keys = jax.random.split(jax.random.fold_in(self.key, done), CHUNK)
        self.state, chunk = _chunk(
            self.state,
            self.rest,
            self.distance,
            self.metric,
            schedule.transformation(),
            schedule.scale_penalty,
            (keys, *self.next_targets, rates),
        )
        if done + CHUNK < self.decay.end:
            self.next_targets = self.targets(done + CHUNK)  # while the chunk is being computed
        self.values = np.concatenate([self.values, np.asarray(chunk)])[: self.decay.end]
        _check_finite(self.values)
        return float(self.values[-1])


def _check_fits(
    prior: Prior,
    x: Float[Array, "steps points ..."],
    targets: Float[Array, "steps pairs draws points out"],
) -> None:
    """Refuse a prior whose network does not fit the points or the belief."""
    draws, outputs = targets.shape[2], targets.shape[-1]
    try:
        functions = jax.eval_shape(
            lambda x: prior.functions(jax.random.key(0), x, draws), jnp.zeros(x.shape[1:])
        )
    except TypeError as error:
        raise ValueError(
            f"the network does not take the points, which have {_inputs(x[0])}: {error}"
        ) from error
    if functions.shape[-1] != outputs:
        raise ValueError(f"the network has {functions.shape[-1]} outputs, the belief {outputs}")


def _inputs(x: Float[Array, "points ..."]) -> str:
    return f"{x.shape[1]} inputs" if x.ndim == 2 else f"the shape of images, {x.shape[1:]}"


@eqx.filter_jit
def _chunk(
    state: _State,
    rest: PyTree,
    distance: Distance,
    metric: Metric,
    optimiser: optax.GradientTransformation,
    scale_penalty: float,
    inputs: tuple[Array, Array, Array, Array],
) -> tuple[_State, Float[Array, " steps"]]:
    """A chunk of steps, compiled as one loop, over keys, points, targets and rates."""

    def step(
        state: _State, inputs: tuple[PRNGKeyArray, Array, Array, Array]
    ) -> tuple[_State, Array]:
        key, x, targets, rate = inputs
        key_functions, key_fit = jax.random.split(key)

        def functions(arrays: PyTree, i: Array | int) -> Array:
            key_i = jax.random.fold_in(key_functions, i)
            return eqx.combine(arrays, rest).functions(key_i, x, targets.shape[1])

        def pair(i: Array | int) -> tuple[Array, Array]:
            return functions(state.arrays, i), targets[i]

        last = distance.redraw
        first = pair(0)  # computed once, where `fit` would ask for the same one at every step
        fitted = distance.fit(key_fit, state.distance, pair if last > 1 else lambda _: first)

        def objective(arrays: PyTree) -> tuple[Array, Array]:
            value = metric(fitted, functions(arrays, last), targets[last], x)
            penalty = eqx.combine(arrays, rest).scale_penalty() if scale_penalty else 0.0
            return value + scale_penalty * mean_distance(targets[last]) * penalty, value

        gradient, value = jax.grad(objective, has_aux=True)(state.arrays)
        updates, optimiser_state = optimiser.update(gradient, state.optimiser, state.arrays)
        arrays = jax.tree.map(lambda a, u: a + rate * u, state.arrays, updates)
        return _State(arrays, optimiser_state, fitted), value

    return jax.lax.scan(step, state, inputs)


def _check_finite(values: Float[np.ndarray, " steps"]) -> None:
    """Single overflows are passed over; a whole chunk without a finite value is a failure."""
    if not np.isfinite(values[-CHUNK:]).any():
        raise FloatingPointError(
            f"matching met no finite value in the steps up to {len(values)}. The usual causes are "
            "a learning rate that is too high or a belief with an extreme variance: lower "
            "`learning_rate` of the schedule, or check the belief's draws"
        )
