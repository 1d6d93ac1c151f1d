"""Data sets with known answers: latents of a prior or of a posterior, and targets made of them."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from goodprior.data.splits import evenly_spread
from goodprior.evaluation.quantities import TestQuantities
from goodprior.inference import Likelihood, Posterior
from goodprior.inference.validation import scaled_inputs
from goodprior.networks import outputs
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.problem import Problem
from goodprior.priors import Prior
from goodprior.priors.base import Latent


class Simulated(NamedTuple):
    """A data set and its answer.

    Parameters
    ----------
    latent
        What the targets were simulated with.
    problem
        With the targets on their original scale.
    y
        All targets as the likelihood has them.
    """

    latent: Latent
    problem: Problem
    y: Array


class Simulator:
    """Simulates targets at the rows of a problem.

    Parameters
    ----------
    problem
        Rows, likelihood and scaling.
    prior
        Over the latent, a learned noise level included.
    rows
        Of more rows so many are simulated, evenly spread over the table in its order.
    points
        At how many of them function values are looked at, evenly spread as well.
    around
        A posterior whose draws are simulated from (None: the prior is). Its rows and targets, those
        of the problem, come before the simulated ones.
    """

    def __init__(
        self, problem: Problem, prior: Prior, *, rows: int, points: int, around: Posterior | None
    ):
        chosen = evenly_spread(problem.rows, rows)
        observed = np.arange(problem.rows if around is not None else 0)
        observation = problem.observation._replace(noise_belief=None, constant_noise=None)
        self.problem = replace(
            problem,
            X=np.asarray(problem.X)[np.concatenate([observed, chosen])],
            y=None if around is None else np.asarray(problem.y),
            observation=observation,  # the prior has all of the noise
            prior=prior,
            match_given=False,
            row_weights=None,
        )
        self.prior, self.observed, self.around = prior, len(observed), around
        scaling, X = problem.scaling, self.problem.X
        x = scaled_inputs(X, scaling)
        at = self.observed + evenly_spread(len(chosen), points)
        self.quantities = TestQuantities(prior, problem.likelihood, x, at)

    def simulate(self, key: PRNGKeyArray) -> Simulated:
        """One data set."""
        latent = self._latent(stage_key(key, "latent"))
        x, key = self.quantities.X[self.observed :], stage_key(key, "targets")
        likelihood, scaling = self.problem.likelihood, self.problem.scaling
        targets = np.asarray(_targets(self.prior, likelihood, latent, x, key))
        if not np.isfinite(targets).all():
            raise FloatingPointError("a draw of the prior has values that are not finite")
        if scaling is not None and not likelihood.is_classification:
            targets = scaling.y_mean + scaling.y_std * np.asarray(targets, np.float64)
        if self.problem.y is not None:
            targets = np.concatenate([self.problem.y.reshape(-1, *targets.shape[1:]), targets])
        known = targets
        if scaling is not None and not likelihood.is_classification:
            known = scaling.targets(targets)
        return Simulated(latent, replace(self.problem, y=targets), likelihood.targets(known))

    def _latent(self, key: PRNGKeyArray) -> Latent:
        if self.around is None:
            return _sampled(self.prior, key)
        chains, draws = self.around.chains, self.around.draws_per_chain
        chain, draw = divmod(int(jax.random.randint(key, (), 0, chains * draws)), draws)
        return jax.tree.map(lambda leaf: jnp.asarray(leaf[chain, draw]), self.around.draws)


@eqx.filter_jit
def _sampled(prior: Prior, key: PRNGKeyArray) -> Latent:
    return prior.sample(key)


@eqx.filter_jit
def _targets(
    prior: Prior, likelihood: Likelihood, latent: Latent, x: Array, key: PRNGKeyArray
) -> Array:
    return likelihood.sample(key, outputs(prior.weights(latent), x))
