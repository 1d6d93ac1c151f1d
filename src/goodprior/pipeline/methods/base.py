"""The contract of all methods."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from jaxtyping import PRNGKeyArray

from goodprior.baselines import LaplacePosterior
from goodprior.inference import Likelihood, Posterior
from goodprior.pipeline.hooks import Hooks
from goodprior.pipeline.observation import ConstantNoise
from goodprior.pipeline.problem import Problem
from goodprior.priors import Prior
from goodprior.priors.hierarchical import Form


class Target(NamedTuple):
    """The R-hat and the effective sample size of draws that are to be trusted."""

    rhat: float
    ess: float


class Run(NamedTuple):
    """All that a method works with.

    Parameters
    ----------
    problem
        Rows, belief and likelihood.
    prior
        Over the latent, with a learned noise level beside it if there is one (None: no prior).
    chains, draws, temperature
        Of the posterior.
    key
        Of all random numbers; stages fold in their names.
    hooks
        Progress, checkpoint and deadline.
    resume
        A posterior whose chains go on.
    target
        What draws are to have; where they do not, the run is followed by a longer one (None: it is
        not).
    """

    problem: Problem
    prior: Prior | None
    chains: int
    draws: int
    temperature: float
    key: PRNGKeyArray
    hooks: Hooks
    resume: Posterior | None = None
    target: Target | None = None


@dataclass(frozen=True)
class Method(ABC):
    """Turns a problem and a prior into a posterior; knows its defaults and what it refuses.

    `uses` names the settings of estimators that the method takes notice of; any other that is given
    is an error. `chains` and `draws` are its defaults (a method without chains has 1). `likelihood`
    is what `auto` stands for, and `constant_noise` how a noise level is learned.
    """

    name: ClassVar[str]
    uses: ClassVar[frozenset[str]] = frozenset(
        {"prior", "belief", "temperature", "sample_weight"}
        | {"chains", "draws", "rhat", "ess", "budget"}
    )
    has_prior: ClassVar[bool] = True
    prior_form: ClassVar[Form | None] = None  # of hierarchical priors; None: the problem's
    likelihood: ClassVar[str] = "heteroscedastic"
    constant_noise: ClassVar[ConstantNoise] = "sampled"
    likelihoods: ClassVar[tuple[type[Likelihood], ...]] = (Likelihood,)
    likelihood_kinds: ClassVar[str] = "any likelihood"

    @property
    @abstractmethod
    def chains(self) -> int:
        """How many chains there are unless said otherwise."""

    @property
    @abstractmethod
    def draws(self) -> int:
        """How many draws each has unless said otherwise."""

    def refuses(self, problem: Problem) -> list[str]:
        """Why the method cannot do this problem, in words; empty if it can."""
        return self.refuses_likelihood(problem.likelihood)

    def refuses_likelihood(self, likelihood: Likelihood) -> list[str]:
        """Why the method cannot take this likelihood, in words; empty if it can."""
        if isinstance(likelihood, self.likelihoods):
            return []
        found = type(likelihood).__name__
        return [f"method {self.name} is for {self.likelihood_kinds}, not for {found}"]

    def unused(self, given: dict[str, Any]) -> list[str]:
        """Settings that were given and that the method takes no notice of, in words."""
        return [
            f"method {self.name} takes no notice of {name}: leave it out"
            for name in given
            if name not in self.uses
        ]

    def resolve(self, problem: Problem) -> "Method":
        """The method for this problem: itself, but for one that chooses among others."""
        return self

    def prepare(self, problem: Problem, key: PRNGKeyArray, hooks: Hooks) -> Problem:
        """The problem with what the method itself finds in the rows before it begins."""
        return problem

    @abstractmethod
    def fit(self, run: Run) -> Posterior | LaplacePosterior:
        """The posterior."""
