"""`fit_posterior`, the one composition of matching and inference."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from goodprior.baselines import LaplacePosterior
from goodprior.beliefs import Belief, Monotone, SumOfTerms, as_terms
from goodprior.inference import Posterior
from goodprior.matching import compare, match
from goodprior.matching.match import History
from goodprior.networks import MLP, Architecture
from goodprior.pipeline.hooks import Hooks
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.methods import Method, Run, Target, parse_method
from goodprior.pipeline.problem import Problem
from goodprior.priors import (
    HierarchicalPrior,
    LearnedNoise,
    NoiseNetworkPrior,
    Prior,
    closed_form_prior,
    is_matched,
    named_prior,
)
from goodprior.priors.closed_form import closed_form_network
from goodprior.priors.hierarchical import Form
from goodprior.priors.learned_noise import NOISE_VARIANCE
from goodprior.progress import Tracker

NOISE_UNITS = 20  # frequencies of the network for log noise variances
AVERAGED = 5  # distances, ten steps apart, that progress shows the mean of
MATCH_SHARE = 0.35  # of the time, where there is a budget


class Fit(NamedTuple):
    """What `fit_posterior` found.

    Parameters
    ----------
    prior
        Over the weights, matched if it was to be (None for methods without one).
    history
        Of the matching (None if nothing was matched).
    posterior
        Draws, or a Laplace approximation.
    belief
        The problem's, or the one that the method fitted to the rows.
    stopped
        What ended early and why (None: nothing did).

    Examples
    --------
    >>> from goodprior.beliefs import GaussianProcess, rbf
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.pipeline import MAP, ObservationModel
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> belief = GaussianProcess(rbf())
    >>> problem = Problem(X, X[:, 0], ObservationModel(Gaussian(0.1), 1), belief, prior="fg")
    >>> fit = fit_posterior(problem, MAP(epochs=2), key=jax.random.key(0))
    >>> fit.history is None, fit.posterior.predict(X).mean.shape
    (True, (40, 1))
    """

    prior: Prior | None
    history: History | None
    posterior: Posterior | LaplacePosterior
    belief: Belief
    stopped: str | None = None


def fit_posterior(
    problem: Problem,
    method: str | Method | Any,
    *,
    key: PRNGKeyArray,
    chains: int | None = None,
    draws: int | None = None,
    target: Target | None = None,
    temperature: float = 1.0,
    hooks: Hooks | None = None,
    resume: Fit | None = None,
) -> Fit:
    """Match the prior to the belief, then do what the method says.

    Parameters
    ----------
    problem
        Rows, belief, network, likelihood and prior.
    method
        A name, a sampler such as `SGHMC(...)`, or a method such as `Laplace(...)`.
    key
        Of all random numbers; each stage folds in its name.
    chains, draws
        How many chains, and draws of each (None: the method's own).
    target
        What the draws are to have: samplers go on, unless `draws` are given, until they have it.
    temperature
        Of the posterior.
    hooks
        Progress, checkpoint and deadline.
    resume
        A fit of the same problem whose chains go on; its prior is not matched again.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from goodprior import SGHMC, Gaussian, GaussianProcess, rbf
    >>> from goodprior.pipeline import NetworkSpec, ObservationModel, Problem, fit_posterior
    >>> X = np.linspace(-1, 1, 30)[:, None]
    >>> problem = Problem(X, X[:, 0] ** 2, ObservationModel(Gaussian(0.1), 1),
    ...                   GaussianProcess(rbf()), network=NetworkSpec((10,)), prior="fg")
    >>> fit = fit_posterior(problem, SGHMC(burn_in=20, thinning=10, batch_size=None), chains=2,
    ...                     draws=3, key=jax.random.key(0))
    >>> fit.posterior.predict(X).mean.shape
    (30, 1)
    """
    method, hooks = parse_method(method).resolve(problem), hooks or Hooks()
    prior, history = None, None
    if resume is not None:
        prior, history = resume.prior, resume.history
    elif method.has_prior:
        prior, history = fit_prior(problem, form=method.prior_form, key=key, hooks=hooks)
    problem = method.prepare(problem, stage_key(key, "prepare"), hooks)
    full_prior = prior
    if prior is not None and problem.observation.constant_noise == "sampled":
        full_prior = LearnedNoise(prior, NOISE_VARIANCE, problem.observation.functions)
    run = Run(
        problem,
        full_prior,
        method.chains if chains is None else chains,
        method.draws if draws is None else draws,
        temperature,
        key,
        hooks,
        resume.posterior if resume and isinstance(resume.posterior, Posterior) else None,
        target if draws is None else None,
    )
    return Fit(prior, history, method.fit(run), problem.belief, hooks.deadline.words)


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
    return _in_form(prior, form or problem.hierarchical_form), history


def _in_form(prior: Prior, form: Form) -> Prior:
    if isinstance(prior, NoiseNetworkPrior):
        function = _in_form(prior.function, form)
        same = function is prior.function
        return prior if same else NoiseNetworkPrior(function, prior.log_noise)
    return prior.in_form(form) if isinstance(prior, HierarchicalPrior) else prior


def _matched(problem: Problem, key: PRNGKeyArray, hooks: Hooks) -> tuple[Prior, History | None]:
    prior, history = unmatched_prior(problem, key), None
    if (terms := problem.closed_form) is not None:
        started = time.perf_counter()
        assert isinstance(problem.prior, str)
        before = prior
        prior = closed_form_prior(problem.prior, terms, key=stage_key(key, "prior"))
        seconds = time.perf_counter() - started
        history = History(np.zeros(0), seconds, how="closed form")
        if problem.held_out:
            compared = [
                compare(
                    one,
                    problem.belief,
                    problem.measurement_set(),
                    key=stage_key(key, "match"),
                    draws=problem.held_out,
                )
                for one in (before, prior)
            ]
            history = replace(history, before=compared[0], after=compared[1])
    elif problem.match_given if isinstance(problem.prior, Prior) else is_matched(problem.prior):
        prior, history = _match(problem, prior, key, hooks)
    if problem.noise_apart:
        prior = NoiseNetworkPrior(prior, _noise_prior(problem))
    return prior, history


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
            network = _with_output_scales(network, problem.belief)
    return named_prior(problem.prior, network, key=stage_key(key, "prior"))


def _with_output_scales(network: MLP, belief: Belief) -> MLP | Architecture:
    """The network with rows of its last layer as large as the belief's outputs, if they differ."""
    known = isinstance(belief, SumOfTerms | Monotone)
    scales = np.array(belief.output_scales) if known else np.ones(1)
    if np.allclose(scales, scales[0]):
        return network
    parameters = Architecture(network).parameters
    base = [np.ones((1,) * len(p.shape)) for p in parameters]
    base[-2:] = [scales[:, None], scales]  # the weights and biases of the last layer
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
