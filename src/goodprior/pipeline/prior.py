"""A problem's prior: built, matched to its belief, and in the coordinates that are sampled."""

import time
from collections import deque
from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from goodprior.beliefs import Belief, Monotone, Stretched, SumOfTerms, as_terms
from goodprior.matching import compare, match
from goodprior.matching.match import History
from goodprior.networks import MLP, Architecture
from goodprior.pipeline.hooks import Hooks
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.problem import Problem
from goodprior.priors import (
    LearnedNoise,
    NoiseNetworkPrior,
    Prior,
    closed_form_prior,
    is_matched,
    named_prior,
)
from goodprior.priors.base import Form
from goodprior.priors.closed_form import closed_form_network
from goodprior.priors.learned_noise import NOISE_VARIANCE
from goodprior.progress import Tracker

NOISE_UNITS = 20  # frequencies of the network for log noise variances
AVERAGED = 5  # distances, ten steps apart, that progress shows the mean of
MATCH_SHARE = 0.35  # of the time, where there is a budget


def fit_prior(
    problem: Problem, *, key: PRNGKeyArray, form: Form | None = None, hooks: Hooks | None = None
) -> tuple[Prior, History | None]:
    """The problem's prior, matched to its belief if it is to be, and the history of the match.

    Parameters
    ----------
    problem
        Rows, belief, network and prior; targets are not looked at.
    key
        Of all random numbers.
    form
        Coordinates of a hierarchical prior (None: the problem's own).
    hooks
        Progress and checkpoint.
    """
    hooks = hooks or Hooks()
    prior, history = hooks.checkpoint.once(
        "prior", lambda: _matched(problem, key, hooks), problem.network
    )
    return prior.in_form(form or problem.hierarchical_form), history


def with_learned_noise(prior: Prior, problem: Problem) -> Prior:
    """The prior with a noise level beside the weights, where one is sampled with them.

    Parameters
    ----------
    prior
        Over the weights.
    problem
        Whose observation model says how the noise is learned.
    """
    if problem.observation.constant_noise != "sampled":
        return prior
    return LearnedNoise(prior, NOISE_VARIANCE, problem.observation.functions)


def _matched(problem: Problem, key: PRNGKeyArray, hooks: Hooks) -> tuple[Prior, History | None]:
    prior, history = unmatched_prior(problem, key), None
    if (terms := problem.closed_form) is not None:
        prior, history = _in_closed_form(problem, prior, terms, key)
    elif problem.match_given if isinstance(problem.prior, Prior) else is_matched(problem.prior):
        prior, history = _match(problem, prior, key, hooks)
    if problem.noise_apart:
        prior = NoiseNetworkPrior(prior, _noise_prior(problem))
    return prior, history


def _in_closed_form(
    problem: Problem, before: Prior, terms: SumOfTerms | Monotone, key: PRNGKeyArray
) -> tuple[Prior, History]:
    started = time.perf_counter()
    assert isinstance(problem.prior, str)
    prior = closed_form_prior(
        problem.prior,
        terms,
        flow_on_readout=problem.flow_on_readout,
        key=stage_key(key, "prior"),
    )
    seconds = time.perf_counter() - started
    if not problem.held_out:
        return prior, History(np.zeros(0), seconds, how="closed form")
    how = {"key": stage_key(key, "match"), "draws": problem.held_out}
    pair = (compare(p, problem.belief, problem.measurement_set(), **how) for p in (before, prior))
    return prior, History(np.zeros(0), seconds, *pair, how="closed form")


def unmatched_prior(problem: Problem, key: PRNGKeyArray) -> Prior:
    """The prior before any matching, without that of the noise where it has one of its own.

    Parameters
    ----------
    problem
        Rows, belief, network and prior.
    key
        Of all random numbers, as in `fit_prior`.
    """
    if isinstance(problem.prior, Prior):
        return problem.prior
    if (terms := problem.closed_form) is not None:
        network = closed_form_network(terms)
        assert network.bits is not None
        network = Architecture(network, [np.ones(b.shape) for b in network.bits])
    else:
        network = problem.build_network(noise=not problem.noise_apart)
        if is_matched(problem.prior) and isinstance(network, MLP):
            network = _with_scales(network, problem.belief)
    return named_prior(
        problem.prior,
        network,
        flow_on_readout=problem.flow_on_readout,
        key=stage_key(key, "prior"),
    )


def _with_scales(network: MLP, belief: Belief) -> MLP | Architecture:
    """The network with columns and outputs as large as in the belief, if it says so of them."""
    columns, outputs = np.ones(1), np.ones(1)
    if isinstance(belief, SumOfTerms | Monotone):
        outputs = np.array(belief.output_scales)
    elif isinstance(belief, Stretched):
        columns = np.array(belief.factors)
    if np.allclose(outputs, outputs[0]) and np.allclose(columns, columns[0]):
        return network
    parameters = Architecture(network).parameters
    base = [np.ones((1,) * len(p.shape)) for p in parameters]
    base[0] = base[0] * columns  # the weights of the first layer
    base[-2:] = [base[-2] * outputs[:, None], outputs]  # weights and biases of the last one
    return Architecture(network, base)


def _noise_prior(problem: Problem) -> Prior:
    belief = problem.observation.noise_belief
    terms = None if belief is None else as_terms(belief, problem.X.shape[1])
    assert terms is not None
    return closed_form_prior("gpi-g", terms, units=NOISE_UNITS, key=jax.random.key(0))


def _averaged(track: Tracker) -> Callable[[int, int, float], None]:
    """Progress with the mean of the last distances: each is an estimate from new draws."""
    latest: deque[float] = deque(maxlen=AVERAGED)

    def on_progress(done: int, total: int, value: float) -> None:
        latest.append(value)
        track(done, total, f"distance {max(0.0, float(np.nanmean(latest))):.2g}, falling to 0")

    return on_progress


def _match(
    problem: Problem, prior: Prior, key: PRNGKeyArray, hooks: Hooks
) -> tuple[Prior, History | None]:
    with hooks.stage("matching the prior", share=MATCH_SHARE) as track:
        found = match(
            prior,
            problem.matched_belief,
            problem.measurement_set(),
            distance=problem.distance,
            key=stage_key(key, "match"),
            on_progress=_averaged(track),
            schedule=problem.schedule,
            on_prior=hooks.on_prior,
            held_out=problem.held_out,
        )
    return found.prior, found.history
