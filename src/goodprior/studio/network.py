"""Whether a network carries a belief: functions of its prior, and a report in words."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from goodprior.beliefs import Belief, as_terms, rows_and_box
from goodprior.inference import Gaussian
from goodprior.matching import MatchReport, MatchSchedule
from goodprior.matching.report import POINTS, report_match
from goodprior.networks import MLP, Fourier, Slopes, Waves
from goodprior.pipeline import Hooks, NetworkSpec, ObservationModel, Problem
from goodprior.pipeline.prior import fit_prior, unmatched_prior
from goodprior.priors import GaussianPrior, Prior, named_prior
from goodprior.studio.draws import NumpyBelief
from goodprior.studio.settings import parse
from goodprior.studio.space import Space

NETWORKS = ("auto", "mlp")
Normal = Callable[[tuple[int, ...]], np.ndarray]
FIRST = MatchSchedule(steps=150)
AGAIN = MatchSchedule(steps=20)  # the same optimiser, so that nothing is compiled again


def problem_of(space: Space, belief: Belief, network: str) -> Problem:
    """What is matched: a network that is chosen for the belief, or an MLP with two layers of 50."""
    if network not in NETWORKS:
        raise ValueError(f"network must be one of {', '.join(NETWORKS)}")
    closed = network == "auto" and as_terms(belief, len(space.names)) is not None
    return Problem(
        space.X,
        None,
        ObservationModel(Gaussian(0.1), 1),
        belief if closed else NumpyBelief(belief),
        network=NetworkSpec() if closed else NetworkSpec((50, 50)),
        scaling=space.scaling,
        schedule=None if closed else FIRST,
        points=None if closed else rows_and_box(space.scaling.inputs(space.X)),
    )


class Networks:
    """Priors that are like beliefs, and functions of N(0, 1) weights; the last ones are remembered.

    An MLP's match goes on from the one before it.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.progress: dict[str, int] = {}
        self._last: dict[int, Prior] = {}
        self._matched: tuple[Any, Any] = ((), None)
        self._standard: tuple[Any, Any] = ((), None)

    def matched(self, space: Space, spec: Any, network: str) -> tuple[Problem, Prior]:
        """The problem that a belief's table stands for, and its matched prior."""
        about = (space, json.dumps(spec), network)
        with self.lock:
            if self._matched[0] != about:
                self.progress = {"step": 0, "steps": 1}
                try:
                    belief = parse(spec, space).belief
                    self._matched = (about, self._match(space, belief, network))
                finally:
                    self.progress = {}
            return self._matched[1]

    def _match(self, space: Space, belief: Belief, network: str) -> tuple[Problem, Prior]:
        problem = problem_of(space, belief, network)
        key, inputs = jax.random.key(0), len(space.names)
        if problem.closed_form is not None:
            return problem, fit_prior(problem, key=key)[0]
        first = inputs not in self._last
        schedule = FIRST if first else AGAIN
        start = unmatched_prior(problem, key) if first else self._last[inputs]

        def on_prior(step: int, prior: Prior) -> None:
            self.progress = {"step": step, "steps": schedule.steps}

        matched, _ = fit_prior(
            replace(problem, prior=start, match_given=True, schedule=schedule),
            key=key,
            hooks=Hooks(on_prior=on_prior),
        )
        self._last[inputs] = matched
        return problem, matched

    def standard(self, x: np.ndarray, n: int, seed: int) -> np.ndarray:
        """Functions of N(0, 1) weights, which no slider changes."""
        about = (x.tobytes(), n, seed)
        if self._standard[0] != about:
            network = NetworkSpec((50, 50)).build((x.shape[1],), 1)
            prior = named_prior("fg", network, key=jax.random.key(0))
            self._standard = (about, functions(prior, x, n, seed))
        return self._standard[1]


def functions(prior: Prior, x: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    """`n` functions of a prior at points in standard units, (n, points), without a compiler.

    Parameters
    ----------
    prior
        Gaussian, over the weights of a network of sines or of an MLP with tanh units.
    x
        Points in rows.
    n
        How many functions.
    seed
        Of the random numbers.
    """
    assert isinstance(prior, GaussianPrior)
    scales = prior.architecture.network(prior.deviations())
    normal = np.random.default_rng(seed).standard_normal
    if isinstance(scales, Fourier):
        return _fourier_functions(scales, x, n, normal)
    return _mlp_functions(scales, x, n, normal)


def _drawn(scale: Any, n: int, normal: Normal) -> np.ndarray:
    wide = np.asarray(scale, np.float64)
    return wide * normal((n, *wide.shape))


def _mlp_functions(scales: MLP, x: np.ndarray, n: int, normal: Normal) -> np.ndarray:
    """Functions of an MLP whose weights have these standard deviations, as its own `__call__`."""
    assert scales.activation == "tanh"
    z = np.broadcast_to(x, (n, *x.shape))
    for i, layer in enumerate(scales.layers):
        z = np.tanh(z) if i else z
        weights = _drawn(layer.weight, n, normal) / np.sqrt(z.shape[-1])
        z = z @ weights.swapaxes(1, 2) + _drawn(layer.bias, n, normal)[:, None]
    return z[..., 0]


def _fourier_functions(scales: Fourier, x: np.ndarray, n: int, normal: Normal) -> np.ndarray:
    """Functions of a network of sines whose weights have these standard deviations.

    The same as its own `__call__`, which would be compiled anew for each period.
    """
    features = []
    for block in scales.blocks:
        factor = np.ones((n, len(x)))
        if block.log_amplitude is not None:
            factor = factor * np.exp(_drawn(block.log_amplitude, n, normal))[:, None]
        if isinstance(block, Slopes):
            features.append(factor[..., None] * x[:, list(block.columns)])
            continue
        for column in block.times:
            factor = factor * x[:, column]
        if not isinstance(block, Waves):
            features.append(factor[..., None])
            continue
        z = _phases(block, x)[None]
        if block.log_lengthscales is not None:
            stretch = np.exp(-_drawn(block.log_lengthscales, n, normal))
            z = z * stretch[:, None, list(block.column_of)]
        weights = _drawn(block.frequencies.weight, n, normal) / np.sqrt(z.shape[-1])
        phase = z @ weights.swapaxes(1, 2)
        features.append(np.concatenate([np.sin(phase), np.cos(phase)], -1) * factor[..., None])
    joined = np.concatenate(features, axis=-1)
    readout = _drawn(scales.readout.weight, n, normal)[:, 0] / np.sqrt(joined.shape[-1])
    return np.einsum("npf,nf->np", joined, readout)


def _phases(block: Waves, x: np.ndarray) -> np.ndarray:
    inputs = []
    for column, period in zip(block.columns, block.periods, strict=True):
        if period is None:
            inputs.append(x[:, column])
        else:
            angle = 2 * np.pi / period * x[:, column]
            inputs += [np.cos(angle), np.sin(angle)]
    return np.stack(inputs, axis=-1)


def report(space: Space, problem: Problem, prior: Prior) -> MatchReport:
    """How like the belief the prior is, along each column of numbers."""
    names = [column.name for column in space.columns if column.kind != "category"]
    lines = [space.line(name, None, POINTS)[1] for name in names]
    belief = problem.belief
    return report_match(
        prior,
        belief if isinstance(belief, NumpyBelief) else NumpyBelief(belief),
        problem.measurement_set(),
        lines=lines,
        names=names,
        outputs=1,
        unmatched=unmatched_prior(problem, jax.random.key(0)),
        how="steps" if problem.closed_form is None else "closed form",
        key=jax.random.key(0),
    )
