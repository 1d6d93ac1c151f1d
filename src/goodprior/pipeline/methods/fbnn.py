"""Functional variational inference."""

from dataclasses import dataclass, replace
from typing import ClassVar

from jaxtyping import PRNGKeyArray

from goodprior.baselines import fit_fbnn
from goodprior.beliefs import GaussianProcess, SumOfTerms, fit_kernel
from goodprior.inference import Gaussian, Likelihood, Posterior
from goodprior.pipeline.hooks import Hooks
from goodprior.pipeline.methods.base import Run
from goodprior.pipeline.methods.trained import Rate, Trained
from goodprior.pipeline.observation import ConstantNoise
from goodprior.pipeline.problem import Problem
from goodprior.priors.learned_noise import LEAST_NOISE_VARIANCE

STEPS = 4000
BELIEF_SHARE = 0.4  # of the time, where there is a budget


@dataclass(frozen=True)
class FBNN(Trained):
    """Variational functions under a belief with a density, without a prior over weights.

    Parameters
    ----------
    epochs, batch_size, learning_rate
        Of their training.

    Examples
    --------
    >>> FBNN(epochs=5).likelihood
    'gaussian'
    """

    batch_size: int | None = 32
    learning_rate: Rate | None = 0.01
    name: ClassVar[str] = "fbnn"
    uses: ClassVar[frozenset[str]] = frozenset({"belief", "draws", "budget"})
    has_prior: ClassVar[bool] = False
    likelihood: ClassVar[str] = "gaussian"
    constant_noise: ClassVar[ConstantNoise] = "by the method"
    likelihoods: ClassVar[tuple[type[Likelihood], ...]] = (Gaussian,)
    likelihood_kinds: ClassVar[str] = "regression with the same noise everywhere"

    @property
    def draws(self) -> int:
        return 200

    def epochs_for(self, rows: int) -> int:
        return self.epochs or max(1, STEPS * self.batch(rows) // rows)

    def refuses(self, problem: Problem) -> list[str]:
        found = super().refuses(problem)
        if not problem.belief_is_default and _process(problem) is None:
            found.append(
                "method fbnn needs a belief with a density: a table such as {'lengthscale': 2.0}, "
                "a GaussianProcess, or None to fit one to the rows; the presets, whose lengths are "
                "uncertain, have none"
            )
        return found

    def prepare(self, problem: Problem, key: PRNGKeyArray, hooks: Hooks) -> Problem:
        """With a belief and a noise variance fitted to the rows, where they are not given."""
        fit = problem.belief_is_default
        learn_noise = problem.observation.constant_noise is not None
        if not fit and (process := _process(problem)) is not None:
            problem = replace(problem, belief=process)
        if not (fit or learn_noise):
            return problem
        x, y = problem.X, problem.y
        if problem.scaling is not None:
            x, y = problem.scaling.inputs(x), problem.scaling.targets(y)
        with hooks.stage("fitting the belief", share=BELIEF_SHARE) as track:
            fitted = fit_kernel(x, y, key=key, on_progress=track)
        observation = problem.observation
        if learn_noise:
            variance = max(fitted.noise_variance, LEAST_NOISE_VARIANCE)
            observation = observation._replace(likelihood=Gaussian(variance), constant_noise=None)
        belief = fitted.belief if fit else problem.belief
        return replace(problem, belief=belief, observation=observation)

    def train(self, run: Run) -> Posterior:
        problem = run.problem
        assert isinstance(problem.likelihood, Gaussian)
        assert isinstance(problem.belief, GaussianProcess)
        with run.hooks.stage("training the variational posterior", keeps=True) as track:
            return fit_fbnn(
                problem.build_network(),
                problem.likelihood,
                problem.X,
                problem.y,
                belief=problem.belief,
                draws=run.draws,
                on_progress=track,
                **self.arguments(run),
            )


def _process(problem: Problem) -> GaussianProcess | None:
    """The belief as a Gaussian process, if it is one."""
    belief = problem.belief
    if isinstance(belief, SumOfTerms):
        return belief.gaussian_process()
    return belief if isinstance(belief, GaussianProcess) else None
