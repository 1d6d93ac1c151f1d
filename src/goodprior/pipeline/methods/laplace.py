"""The Laplace approximation."""

from dataclasses import dataclass, replace
from typing import ClassVar

from goodprior.baselines import LaplacePosterior, MarginalLikelihood, fit_laplace
from goodprior.baselines.gauss_newton import weights_elsewhere
from goodprior.inference import Binary, Categorical, Gaussian, Likelihood
from goodprior.pipeline.methods.base import Run
from goodprior.pipeline.methods.trained import Trained
from goodprior.pipeline.observation import ConstantNoise
from goodprior.pipeline.problem import Problem
from goodprior.priors import GaussianPrior

EVIDENCE = MarginalLikelihood(burn_in=5, every=5, learn_noise=True, learn_prior=False)
UPDATES = 10  # of the noise, where the whole curvature matrix is formed for each
MODE_SHARE = 0.8  # of the time, where there is a budget; the rest is for the curvature


@dataclass(frozen=True)
class Laplace(Trained):
    """A Gaussian around the mode, for Gaussian priors; a noise level is learned by its evidence.

    Parameters
    ----------
    epochs, batch_size, learning_rate
        Of the way to the mode.
    marginal_likelihood
        How prior and noise are optimised on the Laplace marginal likelihood (None: the noise alone,
        where it is to be learned).

    Examples
    --------
    >>> Laplace().draws
    200
    """

    marginal_likelihood: MarginalLikelihood | None = None
    name: ClassVar[str] = "laplace"
    uses: ClassVar[frozenset[str]] = frozenset({"prior", "belief", "draws", "budget"})
    likelihood: ClassVar[str] = "gaussian"
    constant_noise: ClassVar[ConstantNoise] = "by the method"
    likelihoods: ClassVar[tuple[type[Likelihood], ...]] = (Gaussian, Categorical, Binary)
    likelihood_kinds: ClassVar[str] = "classes, or numbers with the same noise everywhere"

    @property
    def draws(self) -> int:
        return 200

    def refuses(self, problem: Problem) -> list[str]:
        found, prior = super().refuses(problem), problem.prior
        gaussian = prior in ("fg", "gpi-g") if isinstance(prior, str) else None
        if not (isinstance(prior, GaussianPrior) if gaussian is None else gaussian):
            found.append(f"method laplace needs a Gaussian prior, fg or gpi-g; prior is {prior!r}")
        return found

    def train(self, run: Run) -> LaplacePosterior:
        problem, prior, evidence = run.problem, run.prior, self.marginal_likelihood
        assert isinstance(prior, GaussianPrior)
        if evidence is None and problem.observation.constant_noise is not None:
            evidence = EVIDENCE
        arguments = self.arguments(run)
        structure = "full" if weights_elsewhere(prior.architecture) else "kron"
        if evidence is EVIDENCE and structure == "full":  # whose every look takes a second or more
            evidence = replace(EVIDENCE, every=max(EVIDENCE.every, arguments["epochs"] // UPDATES))
        if evidence is not None:
            arguments["epochs"] = max(arguments["epochs"], evidence.burn_in + 1)
        with run.hooks.stage("finding the mode", share=MODE_SHARE, keeps=True) as track:
            return fit_laplace(
                prior,
                problem.likelihood,
                problem.X,
                problem.y,
                structure=structure,
                marginal_likelihood=evidence or False,
                draws=run.draws,
                on_progress=track,
                **arguments,
            )
