"""The method that chooses a sampler for the problem."""

from dataclasses import dataclass
from typing import ClassVar

import jax

from goodprior.baselines import LaplacePosterior
from goodprior.inference import MCLMC, Collapsed, Posterior
from goodprior.pipeline.methods.base import Method, Run
from goodprior.pipeline.methods.sampled import Sampled, default_sghmc
from goodprior.pipeline.problem import Problem
from goodprior.priors import HierarchicalPrior, Prior, named_prior


@dataclass(frozen=True)
class Automatic(Method):
    """MCLMC where the last layer can be integrated out of a table's posterior, or else SGHMC.

    Parameters
    ----------
    most_rows
        Each step of MCLMC uses all rows: of longer tables SGHMC uses minibatches.

    Examples
    --------
    >>> Automatic().name
    'auto'
    """

    most_rows: int = 4000
    name: ClassVar[str] = "auto"

    @property
    def chains(self) -> int:
        return 8

    @property
    def draws(self) -> int:
        return 25

    def resolve(self, problem: Problem) -> Method:
        if problem.rows <= self.most_rows and _can_collapse(problem):
            return Sampled.by(MCLMC())
        return Sampled(default_sghmc)

    def refuses(self, problem: Problem) -> list[str]:
        return self.resolve(problem).refuses(problem)

    def fit(self, run: Run) -> Posterior | LaplacePosterior:
        return self.resolve(run.problem).fit(run)


def _can_collapse(problem: Problem) -> bool:
    prior = problem.prior
    if not isinstance(prior, Prior):
        prior = named_prior(prior, problem.build_network(), key=jax.random.key(0))
    if isinstance(prior, HierarchicalPrior):
        prior = prior.in_form(problem.hierarchical_form)
    return Collapsed.refuses(prior, problem.likelihood) is None
