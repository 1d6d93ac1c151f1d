"""`calibrate`: simulate data with known answers, fit them all, rank the answers among the draws."""

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from goodprior import checks
from goodprior.evaluation.calibration import Calibration, calibration_of
from goodprior.evaluation.quantities import quantities_of_draws, quantities_of_truth
from goodprior.inference import Posterior, StopSampling
from goodprior.pipeline.deadline import Deadline
from goodprior.pipeline.fit import fit_posterior
from goodprior.pipeline.hooks import Hooks
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.methods import Method, Sampled, Target, parse_method
from goodprior.pipeline.prior import fit_prior, with_learned_noise
from goodprior.pipeline.problem import Problem
from goodprior.pipeline.simulator import Simulated, Simulator

MOST_ROWS = 200  # that are simulated, unless said otherwise
POINTS = 3  # rows at which function values are ranked

Sample = Callable[[Problem, PRNGKeyArray, Hooks], Posterior]


class Simulations(NamedTuple):
    """What simulated data sets came to.

    Parameters
    ----------
    truth, draws
        Test quantities of what each data set was simulated with, and of the posterior's draws.
    failed
        How many data sets could not be fitted, because a chain left the finite numbers.
    """

    truth: list[Float[np.ndarray, " quantities"]]
    draws: list[Float[np.ndarray, "chains draws quantities"]]
    failed: int = 0


def calibrate(
    problem: Problem,
    method: object,
    *,
    key: PRNGKeyArray,
    simulations: int = 100,
    rows: int = MOST_ROWS,
    points: int = POINTS,
    around: Posterior | None = None,
    chains: int | None = None,
    draws: int | None = None,
    target: Target | None = None,
    hooks: Hooks | None = None,
) -> Calibration:
    """Simulation-based calibration of a prior, rows, a likelihood and a sampler.

    Again and again a latent is drawn from the prior, targets are simulated at the rows, and they
    are fitted as `fit_posterior` fits data. Where the sampler is right, ranks of the truth among
    its draws are uniform: those of function values at some rows, of the noise where it is learned,
    of the log likelihood and of the log prior density.

    Parameters
    ----------
    problem
        Rows, belief, network, likelihood and prior, which is matched once if it is to be. Targets
        count only `around` a posterior, row weights never.
    method
        One that samples, by name or as an object.
    key
        Of all random numbers; each simulation has its own.
    simulations
        How many data sets.
    rows
        Of more rows so many are used, evenly spread over the table in its order.
    points
        At how many of them function values are ranked.
    around
        A posterior given the problem's rows and targets. The truth is then one of its draws, and
        fits are given those rows and the simulated ones together ("posterior SBC", Säilynoja et al.
        2025): this is about the region that the data have left, not all that the prior allows.
    chains, draws, target
        As in `fit_posterior`.
    hooks
        Progress, and a deadline; a simulation that it interrupts does not count.

    Returns
    -------
    Calibration
        Of as many simulations as were finished.

    Raises
    ------
    StopSampling
        If not one was.

    Examples
    --------
    >>> from goodprior import NUTS, Gaussian, GaussianProcess, rbf
    >>> from goodprior.pipeline import NetworkSpec, ObservationModel
    >>> X = np.linspace(-1, 1, 8)[:, None]
    >>> problem = Problem(X, None, ObservationModel(Gaussian(0.1), 1), GaussianProcess(rbf()),
    ...                   network=NetworkSpec((3,)), prior="fg")
    >>> found = calibrate(problem, NUTS(burn_in=20, thinning=1), chains=2, draws=4, points=2,
    ...                   simulations=2, key=jax.random.key(0))
    >>> [each.name for each in found.quantities]
    ['function at row 1', 'function at row 8', 'log likelihood', 'log prior']
    """
    hooks, chosen = hooks or Hooks(), _that_samples(method, problem)
    for name, number in (("simulations", simulations), ("rows", rows), ("points", points)):
        checks.whole(name, number)
    if around is not None and problem.y is None:
        raise ValueError("around a posterior the problem needs the targets that it was fitted to")

    def sample(problem: Problem, key: PRNGKeyArray, hooks: Hooks) -> Posterior:
        how = {"chains": chains, "draws": draws, "target": target}
        posterior = fit_posterior(problem, chosen, key=key, hooks=hooks, **how).posterior
        assert isinstance(posterior, Posterior)
        return posterior

    prior, _ = fit_prior(problem, form=chosen.prior_form, key=key, hooks=hooks)
    prior = with_learned_noise(prior, problem)
    simulator = Simulator(problem, prior, rows=rows, points=points, around=around)
    found = run_simulations(simulator, sample, range(simulations), key=key, hooks=hooks)
    if not found.truth:
        reason = hooks.deadline.reason or f"{found.failed} failed"
        raise StopSampling(f"not one simulation was finished: {reason}")
    return calibration_of(
        simulator.quantities.names,
        np.stack(found.truth),
        np.stack(found.draws),
        asked=simulations,
        failed=found.failed,
    )


def run_simulations(
    simulator: Simulator,
    sample: Sample,
    numbers: Iterable[int],
    *,
    key: PRNGKeyArray,
    hooks: Hooks | None = None,
) -> Simulations:
    """Test quantities of simulated data sets, until all are fitted or the deadline has come.

    Shapes are those of the data set before, so that nothing is compiled anew.

    Parameters
    ----------
    simulator
        Where data sets come from.
    sample
        From a problem, a key and hooks to the posterior.
    numbers
        Of the simulations: what each is depends on its number and the key alone.
    key
        Of all random numbers.
    hooks
        Progress and a deadline.
    """
    hooks, numbers = hooks or Hooks(), list(numbers)
    ranked, truth, draws, failed = simulator.quantities, [], [], 0
    started = time.monotonic()
    kept = hooks.deadline.stage("calibrating", keeps=True)
    with hooks.tracking("calibrating") as track, kept:
        for done, number in enumerate(numbers, start=1):
            each = stage_key(jax.random.fold_in(key, number), "simulation")
            try:
                simulated = simulator.simulate(each)
                posterior = _sample(sample, simulated, stage_key(each, "fit"), hooks.deadline)
            except FloatingPointError:
                failed += 1
                continue
            except StopSampling:
                break
            truth.append(np.asarray(quantities_of_truth(ranked, simulated.latent, simulated.y)))
            draws.append(_of_draws(simulator, simulated, posterior))
            track(done, len(numbers), f"{(time.monotonic() - started) / done:.1f} s each")
    return Simulations(truth, draws, failed)


def _that_samples(method: object, problem: Problem) -> Method:
    """The method, which must sample."""
    found = parse_method(method).resolve(problem)
    if not isinstance(found, Sampled):
        raise ValueError(
            f"calibration ranks the truth among draws of a sampler, and method {found.name} has "
            "none: use auto, mclmc, sghmc or nuts"
        )
    if reasons := found.refuses(problem):
        raise ValueError("; ".join(reasons))
    return found


def _sample(
    sample: Sample, simulated: Simulated, key: PRNGKeyArray, deadline: Deadline
) -> Posterior:
    """The posterior, unless the deadline comes before it is what it would be without one."""
    deadline.look()
    inner = _Inner(deadline)
    posterior = sample(simulated.problem, key, Hooks(deadline=inner))
    if inner.reason is not None:
        raise StopSampling(inner.reason)
    return posterior


class _Inner(Deadline):
    """Ends with another, but is none that a sampler would plan its run by."""

    def __init__(self, outer: Deadline):
        super().__init__(None)
        self.outer = outer

    def look(self, *, burning_in: bool = False) -> None:
        try:
            self.outer.look()
        except StopSampling as stop:
            self.reason = str(stop)
            raise


def _of_draws(simulator: Simulator, simulated: Simulated, posterior: Posterior) -> np.ndarray:
    drawn = jax.tree.map(jnp.asarray, posterior.draws)
    return np.asarray(quantities_of_draws(simulator.quantities, drawn, simulated.y))
