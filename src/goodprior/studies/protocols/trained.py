"""Methods that train by gradients: ensembles, Laplace approximations, fBNN and single networks."""

import time
from typing import TYPE_CHECKING, Any

from goodprior.studies.protocols.problems import Fit, Problem, matched_prior

if TYPE_CHECKING:
    import equinox as eqx
    from jaxtyping import PRNGKeyArray

    from goodprior.baselines import LaplacePosterior
    from goodprior.priors import GaussianPrior


def ensemble(problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """Deep Ensemble: five members; for regression each says its own noise variance.

    With `falling_rate`, the learning rate is a tenth after each quarter of the epochs: for image
    networks (appendix A.1), 1e-2 to 1e-5 in 200 epochs.
    """
    from goodprior.baselines import fit_ensemble
    from goodprior.inference import Heteroscedastic

    likelihood, outputs = problem.likelihood, problem.outputs
    if problem.is_regression:
        likelihood, outputs = Heteroscedastic(), 2 * outputs
    started = time.perf_counter()
    network, given = _network_and_given(problem, settings, key, outputs)
    if settings.get("falling_rate"):
        quarter = settings["epochs"] / 4
        given["learning_rate"] = lambda epoch: 0.01 * 0.1 ** (epoch // quarter)
    if "weight_decay" in settings:
        given["weight_decay"] = settings["weight_decay"]
    fitted = fit_ensemble(network, likelihood, problem.X, problem.y, **given)
    return _fit(fitted, started, weight_decay=fitted.report["weight_decay"])


def fbnn(problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """Functional variational inference, with a Gaussian process fitted to the rows."""
    from goodprior.baselines import fit_fbnn
    from goodprior.inference import Gaussian

    assert isinstance(problem.likelihood, Gaussian)
    started = time.perf_counter()
    network, given = _network_and_given(problem, settings, key)
    fitted = fit_fbnn(network, problem.likelihood, problem.X, problem.y, **given)
    return _fit(fitted, started)


def laplace(name: str, problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """The Laplace approximation under the prior of this name."""
    from goodprior.baselines import fit_laplace

    started = time.perf_counter()
    prior, given = _prior_and_given(name, problem, settings, key)
    fitted = fit_laplace(prior, problem.likelihood, problem.X, problem.y, **given)
    return _fit(fitted, started)


def laplace_with_evidence(problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """LA-GGN: the prior is optimised on the Laplace marginal likelihood on the way."""
    started = time.perf_counter()
    fitted = with_evidence(problem, settings, key)
    return _fit(fitted, started, log_evidence=fitted.log_marginal_likelihood)


def mode(name: str, problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """The maximum a posteriori under the prior of this name."""
    from goodprior.baselines import fit_map

    started = time.perf_counter()
    prior, given = _prior_and_given(name, problem, settings, key)
    return _fit(fit_map(prior, problem.likelihood, problem.X, problem.y, **given), started)


def early_stopping(problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """Maximum likelihood, stopped after ten epochs without a better validation NLL."""
    from goodprior.baselines import fit_early_stopping

    started = time.perf_counter()
    network, given = _network_and_given(problem, settings, key)
    fitted = fit_early_stopping(network, problem.likelihood, problem.X, problem.y, **given)
    return _fit(fitted, started, epochs_trained=fitted.report["epochs"])


def with_evidence(
    problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray"
) -> "LaplacePosterior":
    """Weights, and the prior's scales by the Laplace marginal likelihood; the noise stays."""
    from goodprior.baselines import MarginalLikelihood, fit_laplace

    schedule = MarginalLikelihood(steps=settings["evidence_steps"])
    prior, given = _prior_and_given("fg", problem, settings, key)
    return fit_laplace(
        prior, problem.likelihood, problem.X, problem.y, marginal_likelihood=schedule, **given
    )


def _prior_and_given(
    name: str, problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray"
) -> "tuple[GaussianPrior, dict[str, Any]]":
    import jax

    from goodprior.priors import GaussianPrior

    prior, _ = matched_prior(name, problem, settings, key)
    assert isinstance(prior, GaussianPrior)
    return prior, _given(problem, settings, jax.random.split(key, 4)[3])


def _network_and_given(
    problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray", outputs: int | None = None
) -> "tuple[eqx.Module, dict[str, Any]]":
    import jax

    key_network, key_train = jax.random.split(key)
    network = problem.network(settings, key_network, outputs)
    return network, _given(problem, settings, key_train)


def _given(problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> dict[str, Any]:
    return {
        "scaling": problem.scaling,
        "key": key,
        "epochs": settings["epochs"],
        "batch_size": settings.get("batch_size"),
    }


def _fit(fitted: Any, started: float, **facts: Any) -> Fit:
    return Fit(fitted.predict, {**facts, "train_seconds": time.perf_counter() - started})
