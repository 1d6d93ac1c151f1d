"""Methods that sample a posterior by chains: the paper's priors, FG+TS, LA-MargLik + SGHMC."""

import time
from functools import cache
from typing import TYPE_CHECKING, Any

from goodprior.studies.protocols.problems import Fit, Problem, matched_prior
from goodprior.studies.protocols.trained import with_evidence

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from goodprior.inference import Posterior
    from goodprior.inference.sample import Progress
    from goodprior.priors import Prior


def by_chains(name: str, problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """Match the prior of this name if it is to be matched, and sample the posterior."""
    started = time.perf_counter()
    prior, matched = matched_prior(name, problem, settings, key)
    found: dict[str, Any] = {}
    if matched is not None and matched.history.after is not None:
        found = {f"match_{k}": v for k, v in matched.history.after._asdict().items()}
        found["match_steps"] = len(matched.history.distance)
    found["match_seconds"] = time.perf_counter() - started
    return _sampled(prior, problem, settings, key, found)


def tempered(problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """FG+TS: a cold posterior, its temperature tuned on the training rows of split 0 only.

    Every job finds that temperature itself, so that jobs stay independent: by chains of
    `tuning_draws` draws, `tuning_thinning` apart. A worker remembers it for the set and network.
    """
    started = time.perf_counter()
    where = {k: v for k, v in settings.items() if k != "split"}
    temperature = _tuned_temperature(tuple(sorted(where.items())))
    found = {"tuning_seconds": time.perf_counter() - started}
    prior, _ = matched_prior("fg", problem, settings, key)
    return _sampled(prior, problem, settings, key, found, temperature)


def under_evidence(problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """LA-MargLik + SGHMC: the prior of the highest Laplace marginal likelihood, and chains."""
    started = time.perf_counter()
    prior = with_evidence(problem, settings, key).prior
    found = {"prior_seconds": time.perf_counter() - started}
    return _sampled(prior, problem, settings, key, found)


@cache
def _tuned_temperature(settings: tuple[tuple[str, Any], ...]) -> float:
    """Of the paper's five temperatures the one with the lowest NLL on a fifth of split 0's rows."""
    import jax

    from goodprior.baselines import TEMPERATURES, tune
    from goodprior.studies.protocols.data import problem_and_test

    first = {**dict(settings), "split": 0}
    names = ("burn_in", "draws", "thinning")
    short = {**first, **{k: first[f"tuning_{k}"] for k in names if f"tuning_{k}" in first}}
    problem, _, _ = problem_and_test(first)
    key_prior, key = jax.random.split(jax.random.key(first["seed"]))
    prior, _ = matched_prior("fg", problem, short, key_prior)

    def fit(temperature: float, X: Any, y: Any, key: "PRNGKeyArray") -> "Posterior":
        return sample(prior, problem.part(X, y), short, key, temperature)

    temperature, _ = tune(fit, TEMPERATURES, problem.X, problem.y, key=key)
    return temperature


def _sampled(
    prior: "Prior",
    problem: Problem,
    settings: dict[str, Any],
    key: "PRNGKeyArray",
    found: dict[str, Any],
    temperature: float = 1.0,
) -> Fit:
    import jax

    from goodprior.evaluation import diagnose

    started = time.perf_counter()
    pace: list[tuple[int, float]] = []
    posterior = sample(
        *(prior, problem, settings, jax.random.split(key, 4)[3], temperature),
        on_progress=lambda done, _, phase: pace.append((done, time.perf_counter())),
    )
    found = {**found, "sample_seconds": time.perf_counter() - started}
    if len(pace) > 1:  # the last stretch, when nothing is compiled any more
        (before, then), (after, now) = pace[-2:]
        found["seconds_per_step"] = (now - then) / (after - before)
    return Fit(posterior.predict, {**diagnose(posterior).summary, **found})


def sample(
    prior: "Prior",
    problem: Problem,
    settings: dict[str, Any],
    key: "PRNGKeyArray",
    temperature: float = 1.0,
    on_progress: "Progress | None" = None,
) -> "Posterior":
    """The posterior by the job's sampler and chains."""
    from goodprior.inference import NUTS, SGHMC, sample_posterior

    sampler: NUTS | SGHMC = NUTS() if settings.get("sampler") == "nuts" else SGHMC()
    return sample_posterior(
        prior,
        problem.likelihood,
        problem.X,
        problem.y,
        scaling=problem.scaling,
        key=key,
        sampler=sampler,
        temperature=temperature,
        chains=settings["chains"],
        burn_in=settings["burn_in"],
        draws=settings["draws"],
        thinning=settings["thinning"],
        batch_size=settings["batch_size"],
        on_progress=on_progress,
    )
