"""`fit_posterior`, the one composition of matching and inference."""

from typing import Any, NamedTuple

from jaxtyping import PRNGKeyArray

from goodprior.baselines import LaplacePosterior
from goodprior.beliefs import Belief
from goodprior.inference import Posterior
from goodprior.matching import match
from goodprior.matching.match import History
from goodprior.pipeline.hooks import Hooks
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.methods import Method, Run, parse_method
from goodprior.pipeline.problem import Problem
from goodprior.priors import HierarchicalPrior, LearnedNoise, Prior, is_matched, named_prior
from goodprior.priors.hierarchical import Form
from goodprior.priors.learned_noise import NOISE_VARIANCE


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
        Why sampling ended early (None: it did not).
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
        How many chains, and draws of each (None: the method's own, which may depend on what it
        finds).
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
    ...                   GaussianProcess(rbf()), NetworkSpec((10,)), prior="fg")
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
    problem = method.prepare(problem, stage_key(key, "prepare"))
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
        open_ended=draws is None,
    )
    return Fit(prior, history, method.fit(run), problem.belief, hooks.deadline.reason)


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
    if isinstance(prior, HierarchicalPrior):
        prior = prior.in_form(form or problem.hierarchical_form)
    return prior, history


def _matched(problem: Problem, key: PRNGKeyArray, hooks: Hooks) -> tuple[Prior, History | None]:
    prior = problem.prior
    if isinstance(prior, Prior):
        matched = problem.match_given
    else:
        matched = is_matched(prior)
        prior = named_prior(prior, problem.build_network(), key=stage_key(key, "prior"))
    if not matched:
        return prior, None
    with hooks.tracking("matching the prior") as track:
        found = match(
            prior,
            problem.function_belief,
            problem.measurement_set(),
            distance=problem.distance,
            key=stage_key(key, "match"),
            on_progress=lambda i, n, value: track(i, n, f"distance {value:.3f}"),
            schedule=problem.schedule,
            on_prior=hooks.on_prior,
            held_out=problem.held_out,
        )
    return found.prior, found.history
