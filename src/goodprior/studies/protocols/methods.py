"""What each method of the studies does: a problem, a method of the pipeline, and facts.

A new method is a function here, a line of `METHODS`, its name in `method_names.LABELS`, and its
lengths in the protocols. It imports JAX: a worker must first say how many threads it may have.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from statistics import median
from typing import Any, NamedTuple

import jax
from jaxtyping import PRNGKeyArray

from goodprior.baselines import TEMPERATURES, LaplacePosterior, MarginalLikelihood, tune
from goodprior.evaluation import diagnose
from goodprior.inference import (
    MCLMC,
    NUTS,
    SGHMC,
    ClassPrediction,
    Heteroscedastic,
    Posterior,
    Prediction,
)
from goodprior.pipeline import (
    FBNN,
    MAP,
    EarlyStopping,
    Ensemble,
    Fit,
    Laplace,
    ObservationModel,
    Problem,
    Sampled,
    Target,
    fit_posterior,
)
from goodprior.studies.engine.study import Settings
from goodprior.studies.protocols.data import problem_and_test
from goodprior.studies.protocols.problems import part
from goodprior.studies.protocols.start import StandardStart

RATE = 0.01  # of Adam, for methods that train
MEMBERS = 5  # of an ensemble
DRAWS = 100  # of methods that have a distribution to draw from


class Fitted(NamedTuple):
    """Predictions for new rows, and facts for the table."""

    predict: Callable[[Any], Prediction | ClassPrediction]
    facts: dict[str, Any]


def fit(problem: Problem, settings: Settings) -> Fitted:
    """The job's method on the problem; random numbers come from its seed and split."""
    key = jax.random.fold_in(jax.random.key(settings["seed"]), settings["split"])
    return METHODS[settings["method"]](problem, settings, key)


def chains_of(settings: Settings) -> Sampled:
    """The job's sampler; chains start as in the paper, or at draws of the prior."""
    if settings.get("sampler") == "mclmc":
        return Sampled.by(MCLMC())  # as long as its target asks for
    lengths = {"burn_in": settings["burn_in"], "thinning": settings["thinning"]}
    nuts = settings.get("sampler") == "nuts"
    sampler = NUTS(**lengths) if nuts else SGHMC(batch_size=settings["batch_size"], **lengths)
    if "start" in settings:
        return StandardStart.by(sampler)
    return Sampled.by(sampler, start="prior")  # as rows were made before


def sample(
    problem: Problem, settings: Settings, key: PRNGKeyArray, temperature: float = 1.0
) -> Posterior:
    """The posterior under the problem's prior by the job's sampler and chains."""
    return _run_chains(problem, settings, key, temperature).posterior  # type: ignore[return-value]


def _run_chains(
    problem: Problem, settings: Settings, key: PRNGKeyArray, temperature: float = 1.0
) -> Fit:
    return fit_posterior(
        problem,
        chains_of(settings),
        key=key,
        chains=settings.get("chains"),
        draws=settings.get("draws"),
        temperature=temperature,
        target=Target(*(settings[f"target_{k}"] for k in Target._fields))
        if "target_rhat" in settings
        else None,
    )


def _diagnosed(
    problem: Problem, settings: Settings, key: PRNGKeyArray, temperature: float = 1.0
) -> tuple[Fit, dict[str, Any]]:
    started = time.perf_counter()
    found = _run_chains(problem, settings, key, temperature)
    matching = 0.0 if found.history is None else found.history.seconds
    sampling = time.perf_counter() - started - matching
    facts = {"match_seconds": matching, "sample_seconds": sampling}
    return found, {**diagnose(found.posterior).summary, **facts}  # type: ignore[arg-type]


def worst(each: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The worst R-hat and effective sample size of several posteriors, and a middle temperature.

    >>> worst([{"rhat_max": 1.2, "ess_min": 50.0}, {"rhat_max": 1.0, "ess_min": 90.0}])
    {'rhat_max': 1.2, 'ess_min': 50.0}
    """
    how = {"rhat_max": max, "ess_min": min, "temperature_50": median}
    return {k: f([one[k] for one in each]) for k, f in how.items() if all(k in one for one in each)}


def by_chains(name: str, problem: Problem, settings: Settings, key: PRNGKeyArray) -> Fitted:
    """Match the prior of this name if it is to be matched, and sample the posterior."""
    found, facts = _diagnosed(replace(problem, prior=name), settings, key)
    if found.history is not None and found.history.after is not None:
        facts |= {f"match_{k}": v for k, v in found.history.after._asdict().items()}
        facts["match_steps"] = len(found.history.distance)
    return Fitted(found.posterior.predict, facts)


def tempered(problem: Problem, settings: Settings, key: PRNGKeyArray) -> Fitted:
    """FG+TS: a cold posterior, its temperature tuned on the training rows of split 0 only.

    Every job finds that temperature itself, so that jobs stay independent: by chains of
    `tuning_draws` draws, `tuning_thinning` apart. A worker remembers it for the set and network.
    """
    started = time.perf_counter()
    where = {k: v for k, v in settings.items() if k != "split"}
    temperature = _tuned_temperature(tuple(sorted(where.items())))
    tuning = {"tuning_seconds": time.perf_counter() - started}
    found, facts = _diagnosed(replace(problem, prior="fg"), settings, key, temperature)
    return Fitted(found.posterior.predict, {**facts, **tuning})


@cache
def _tuned_temperature(settings: tuple[tuple[str, Any], ...]) -> float:
    """Of the paper's five temperatures the one with the lowest NLL on a fifth of split 0's rows."""
    first = {**dict(settings), "split": 0}
    names = ("burn_in", "draws", "thinning")
    short = {**first, **{k: first[f"tuning_{k}"] for k in names if f"tuning_{k}" in first}}
    problem = replace(problem_and_test(first)[0], prior="fg")

    def fit(temperature: float, X: Any, y: Any, key: PRNGKeyArray) -> Posterior:
        return sample(part(problem, X, y), short, key, temperature)

    key = jax.random.key(first["seed"])
    return tune(fit, TEMPERATURES, problem.X, problem.y, key=key)[0]


def under_evidence(problem: Problem, settings: Settings, key: PRNGKeyArray) -> Fitted:
    """LA-MargLik + SGHMC: the prior of the highest Laplace marginal likelihood, and chains."""
    started = time.perf_counter()
    method, first = _laplace(settings, evidence=True), replace(problem, prior="fg")
    prior = fit_posterior(first, method, key=key, draws=DRAWS).posterior.prior
    seconds = time.perf_counter() - started
    found, facts = _diagnosed(replace(problem, prior=prior), settings, key)
    return Fitted(found.posterior.predict, {**facts, "prior_seconds": seconds})


def laplace(name: str, problem: Problem, settings: Settings, key: PRNGKeyArray) -> Fitted:
    """The Laplace approximation under the prior of this name."""
    return _train(replace(problem, prior=name), _laplace(settings), key, draws=DRAWS)


def laplace_with_evidence(problem: Problem, settings: Settings, key: PRNGKeyArray) -> Fitted:
    """LA-GGN: the prior is optimised on the Laplace marginal likelihood on the way."""
    method = _laplace(settings, evidence=True)
    return _train(replace(problem, prior="fg"), method, key, draws=DRAWS)


def _laplace(settings: Settings, *, evidence: bool = False) -> Laplace:
    schedule = MarginalLikelihood(steps=settings["evidence_steps"]) if evidence else None
    return Laplace(marginal_likelihood=schedule, **_training(settings))


def mode(name: str, problem: Problem, settings: Settings, key: PRNGKeyArray) -> Fitted:
    """The maximum a posteriori under the prior of this name."""
    return _train(replace(problem, prior=name), MAP(**_training(settings)), key)


def early_stopping(problem: Problem, settings: Settings, key: PRNGKeyArray) -> Fitted:
    """Maximum likelihood, stopped after ten epochs without a better validation NLL."""
    return _train(problem, EarlyStopping(**_training(settings)), key)


def ensemble(problem: Problem, settings: Settings, key: PRNGKeyArray) -> Fitted:
    """Deep Ensemble: five members; for regression each says its own noise variance.

    With `falling_rate`, the learning rate is a tenth after each quarter of the epochs: for image
    networks (appendix A.1), 1e-2 to 1e-5 in 200 epochs.
    """
    if not problem.likelihood.is_classification:
        both = ObservationModel(Heteroscedastic(), 2 * problem.observation.functions)
        problem = replace(problem, observation=both)
    training = _training(settings)
    if settings.get("falling_rate"):
        quarter = settings["epochs"] / 4
        training["learning_rate"] = lambda epoch: RATE * 0.1 ** (epoch // quarter)
    method = Ensemble(members=MEMBERS, weight_decay=settings.get("weight_decay"), **training)
    return _train(problem, method, key)


def fbnn(problem: Problem, settings: Settings, key: PRNGKeyArray) -> Fitted:
    """Functional variational inference, with a Gaussian process fitted to the rows."""
    problem = replace(problem, belief_is_default=True)
    return _train(problem, FBNN(**_training(settings)), key, draws=DRAWS)


def _training(settings: Settings) -> dict[str, Any]:
    return {
        "epochs": settings["epochs"],
        "batch_size": settings.get("batch_size"),
        "learning_rate": RATE,
    }


def _train(problem: Problem, method: Any, key: PRNGKeyArray, draws: int | None = None) -> Fitted:
    """Train, and tell how long it took and what was found on the way."""
    started = time.perf_counter()
    found = fit_posterior(problem, method, key=key, draws=draws).posterior
    facts: dict[str, Any] = {"train_seconds": time.perf_counter() - started}
    if isinstance(found, LaplacePosterior):
        evidence = {"log_evidence": found.log_marginal_likelihood}
        return Fitted(found.predict, {**facts, **(evidence if method.marginal_likelihood else {})})
    names = {"epochs": "epochs_trained", "weight_decay": "weight_decay"}
    told = {name: found.report[k] for k, name in names.items() if k in found.report}
    return Fitted(found.predict, {**facts, **told})


METHODS: dict[str, Callable[[Problem, Settings, PRNGKeyArray], Fitted]] = {
    **{name: partial(by_chains, name) for name in ("fg", "fh", "gpi-g", "gpi-h", "gpi-nf")},
    "fg+ts": tempered,
    "la-marglik": under_evidence,
    "la-ggn": laplace_with_evidence,
    "fg+la": partial(laplace, "fg"),
    "gpi-g+la": partial(laplace, "gpi-g"),
    "ensemble": ensemble,
    "fbnn": fbnn,
    "early-stopping": early_stopping,
    "map-fg": partial(mode, "fg"),
    "map-gpi-g": partial(mode, "gpi-g"),
}
