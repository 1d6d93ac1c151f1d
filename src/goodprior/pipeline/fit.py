"""`fit_posterior`, the one composition of matching and inference."""

from typing import Any, NamedTuple

from jaxtyping import PRNGKeyArray

from goodprior.baselines import LaplacePosterior
from goodprior.beliefs import Belief
from goodprior.inference import Posterior
from goodprior.matching.match import History
from goodprior.pipeline.hooks import Hooks
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.methods import Method, Run, Target, parse_method
from goodprior.pipeline.prior import fit_prior, with_learned_noise
from goodprior.pipeline.problem import Problem
from goodprior.priors import Prior


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
    >>> import jax, numpy as np
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
    run = Run(
        problem,
        None if prior is None else with_learned_noise(prior, problem),
        method.chains if chains is None else chains,
        method.draws if draws is None else draws,
        temperature,
        key,
        hooks,
        resume.posterior if resume and isinstance(resume.posterior, Posterior) else None,
        target if draws is None else None,
    )
    return Fit(prior, history, method.fit(run), problem.belief, hooks.deadline.stopped)
