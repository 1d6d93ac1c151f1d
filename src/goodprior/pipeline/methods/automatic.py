"""The method that chooses a sampler for the problem."""

from dataclasses import dataclass
from typing import ClassVar

import jax

from goodprior.baselines import LaplacePosterior
from goodprior.inference import MCLMC, Collapsed, Posterior
from goodprior.pipeline.methods.base import Method, Run
from goodprior.pipeline.methods.sampled import Sampled, default_sghmc
from goodprior.pipeline.prior import unmatched_prior
from goodprior.pipeline.problem import Problem
from goodprior.priors import HierarchicalPrior


@dataclass(frozen=True)
class Automatic(Method):
    """MCLMC where the last layer can be integrated out of a table's posterior, or else SGHMC.

    Parameters
    ----------
    most_work
        Each step of MCLMC multiplies the features of all rows with each other: where rows times
        squared features are more than this, SGHMC uses minibatches instead.

    Examples
    --------
    >>> Automatic().name
    'auto'
    """

    most_work: float = 8e7
    name: ClassVar[str] = "auto"
    likelihood: ClassVar[str] = Sampled.likelihood

    @property
    def chains(self) -> int:
        return 4

    @property
    def draws(self) -> int:
        return 100

    def resolve(self, problem: Problem) -> Method:
        features = _features(problem)
        if features is not None and problem.rows * features**2 <= self.most_work:
            return Sampled.by(MCLMC())
        return Sampled(default_sghmc)

    def refuses(self, problem: Problem) -> list[str]:
        return self.resolve(problem).refuses(problem)

    def fit(self, run: Run) -> Posterior | LaplacePosterior:
        return self.resolve(run.problem).fit(run)


def _features(problem: Problem) -> int | None:
    """How many weights a read-out has that can be integrated out (None: none can)."""
    prior = unmatched_prior(problem, jax.random.key(0))
    if isinstance(prior, HierarchicalPrior):
        prior = prior.in_form(problem.hierarchical_form)
    weighted = problem.row_weights is not None
    if Collapsed.refuses_rows(problem.likelihood, 1.0, weighted) is not None:
        return None
    if Collapsed.refuses(prior, problem.likelihood) is not None:
        return None
    return Collapsed.features(prior)
