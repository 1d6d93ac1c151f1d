"""`match`: tune a prior until its functions are like the belief's (paper, algorithm 1)."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Key, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.beliefs.base import Belief
from goodprior.beliefs.measurement import MeasurementSet
from goodprior.matching.compare import Comparison, compare
from goodprior.matching.critic import Wasserstein
from goodprior.matching.distances import (
    MMD,
    Distance,
    Energy,
    Functions,
    Sliced,
    spread,
)
from goodprior.matching.kl import KL, KLStein
from goodprior.matching.schedule import CHUNK, Pace
from goodprior.priors import Prior

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
    """What happened during a match; `before` and `after` are measured on held-out draws."""

    distance: Float[np.ndarray, " steps"]
    seconds: float
    before: Comparison | None = None
    after: Comparison | None = None


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
    steps: int | None = None,
    draws: int | None = None,
    held_out: int = 512,
    on_progress: Callable[[int, int, float], None] | None = None,
    on_prior: Callable[[int, Prior], None] | None = None,
) -> Match:
    """Tune the prior's arrays until its functions are like the belief's at the points.

    Each step draws a measurement set and `draws` functions of the belief and of the prior, and
    moves the prior along the gradient of the distance, for at most `steps` steps: most distances
    stop when they are on a plateau. Steps and draws are the distance's own unless given here. Every
    few steps `on_progress(step, steps, value)` is called, and `on_prior(step, prior)` with the
    prior as it is by then. `held_out` draws measure prior and belief before and after (0: don't).

    >>> import jax
    >>> from goodprior.beliefs import GaussianProcess, Grid, rbf
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(MLP(1, (20,), 1, key=jax.random.key(0)))
    >>> belief, points = GaussianProcess(rbf(0.5)), Grid([-1], [1], 20)
    >>> matched, history = match(prior, belief, points, steps=20, key=jax.random.key(1))
    >>> history.after.energy_distance < history.before.energy_distance
    True
    """
    metric = _distance(distance).of(belief)
    steps = metric.steps if steps is None else checks.whole("steps", steps)
    draws = metric.draws if draws is None else checks.whole("draws", draws, least=2)
    if held_out:
        checks.whole("held_out", held_out, least=2)
    started = time.perf_counter()
    key_run, key_belief, key_init, key_held_out = jax.random.split(key, 4)
    arrays, rest = eqx.partition(prior, eqx.is_inexact_array)
    optimiser_state = _optimiser(metric).init(arrays)
    looked_at = points.size if metric.points is None else min(metric.points, points.size)
    state = _State(arrays, optimiser_state, metric.init(key_init, looked_at))
    pace = Pace(steps, metric.settles)
    values = np.zeros(0)

    bank: dict[int, tuple[Array, Array]] = {}

    def measure(done: int) -> tuple[Array, Array]:
        """The next steps' points and the belief's functions there, new or from the bank."""
        if metric.bank is not None and done >= metric.bank:
            return bank[done % metric.bank]
        keys = jax.random.split(jax.random.fold_in(key_belief, done), CHUNK)
        measured = _measure(belief, points, keys, looked_at, draws, metric.redraw)
        if metric.bank is not None:
            bank[done] = measured
        return measured

    measured = measure(0)
    _check_fits(prior, *measured)
    while (paces := pace.next_chunk(values)) is not None:
        done = len(values)
        keys = jax.random.split(jax.random.fold_in(key_run, done), CHUNK)
        state, chunk = _run(state, rest, metric, keys, *measured, paces)
        if done + CHUNK < pace.end:
            measured = measure(done + CHUNK)  # while the chunk is being computed
        values = np.concatenate([values, np.asarray(chunk)])[: pace.end]
        _check_finite(values)
        if on_progress is not None:
            on_progress(len(values), pace.end, float(values[-1]))
        if on_prior is not None:
            on_prior(len(values), eqx.combine(state.arrays, rest))
        if metric.arrived(values):
            break
    matched = eqx.combine(state.arrays, rest)
    seconds = time.perf_counter() - started

    before = after = None
    if held_out:
        before = compare(prior, belief, points, key=key_held_out, draws=held_out)
        after = compare(matched, belief, points, key=key_held_out, draws=held_out)
    return Match(matched, History(values, seconds, before, after))


def _distance(distance: str | Distance) -> Distance:
    if isinstance(distance, Distance):
        return distance
    return DISTANCES[checks.one_of("distance", distance, DISTANCES)]()


def _check_fits(
    prior: Prior,
    x: Float[Array, "steps points ..."],
    targets: Float[Array, "steps pairs draws points out"],
) -> None:
    """Meet a prior whose network does not fit the points or the belief with a sentence."""
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


def _measure(
    belief: Belief,
    points: MeasurementSet,
    keys: Key[Array, " steps"],
    looked_at: int,
    draws: int,
    redraw: int,
) -> tuple[Array, Array]:
    """For each step its points and the belief's functions there: one sample, or one per redraw."""
    x, targets = [], []
    for key in keys:
        key_points, key_some, key_belief = jax.random.split(key, 3)
        every = points.sample(key_points)
        some = jax.random.choice(key_some, len(every), (looked_at,), replace=False)
        x.append(every if looked_at == len(every) else every[some])
        functions = belief.sample(key_belief, x[-1], draws * (redraw + 1))
        if functions.ndim != 3 or functions.shape[:2] != (draws * (redraw + 1), looked_at):
            raise ValueError(
                "belief.sample(key, x, n) must return an array of shape (n, points, outputs); for "
                f"n={draws * (redraw + 1)} and {looked_at} points it gave {functions.shape}"
            )
        targets.append(functions.reshape(redraw + 1, draws, *functions.shape[1:]))
    return jnp.stack(x), jnp.stack(targets)


@eqx.filter_jit
def _run(
    state: _State,
    rest: PyTree,
    distance: Distance,
    keys: Key[Array, " steps"],
    x: Float[Array, "steps points ..."],
    targets: Float[Array, "steps pairs draws points out"],
    paces: Float[Array, " steps"],
) -> tuple[_State, Float[Array, " steps"]]:
    """A chunk of steps, compiled as one loop."""
    optimiser = _optimiser(distance)
    draws = targets.shape[2]

    def step(
        state: _State, inputs: tuple[PRNGKeyArray, Array, Array, Array]
    ) -> tuple[_State, Array]:
        key, x, targets, pace = inputs
        key_functions, key_fit = jax.random.split(key)

        def functions(arrays: PyTree, i: Array | int) -> Functions:
            key_i = jax.random.fold_in(key_functions, i)
            return eqx.combine(arrays, rest).functions(key_i, x, draws)

        def pair(i: Array) -> tuple[Functions, Functions]:
            return functions(state.arrays, i), targets[i]

        last = distance.redraw
        first_pair = (functions(state.arrays, last), targets[last])
        fitted = distance.fit(key_fit, state.distance, pair if last else lambda _: first_pair)

        def objective(arrays: PyTree) -> tuple[Array, Array]:
            value = distance.at(x)(fitted, functions(arrays, last), targets[last])
            scale_penalty = eqx.combine(arrays, rest).scale_penalty() if distance.pull else 0.0
            return value + distance.pull * spread(targets[last]) * scale_penalty, value

        gradient, value = jax.grad(objective, has_aux=True)(state.arrays)
        updates, optimiser_state = optimiser.update(gradient, state.optimiser, state.arrays)
        arrays = jax.tree.map(lambda a, u: a + pace * u, state.arrays, updates)
        return _State(arrays, optimiser_state, fitted), value

    return jax.lax.scan(step, state, (keys, x, targets, paces))


def _optimiser(distance: Distance) -> optax.GradientTransformation:
    """The distance's optimiser; a step whose draws overflowed (heavy tails do) is left out."""
    return optax.apply_if_finite(distance.optimiser(), max_consecutive_errors=2**30)


def _check_finite(values: Float[np.ndarray, " steps"]) -> None:
    """A lone overflow is passed over; when a whole chunk has nothing finite, it has failed."""
    if not np.isfinite(values[-CHUNK:]).any():
        raise FloatingPointError(
            f"matching met no finite value in the steps up to {len(values)}. The usual causes are "
            "a learning rate that is too high or a belief with an extreme variance: lower "
            "`learning_rate` of the distance, or check the belief's draws"
        )
