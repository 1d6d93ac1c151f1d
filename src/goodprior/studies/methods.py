"""The methods that studies compare, in one table: a name, and a function that fits it.

A new method is one line of `METHODS` and its name of `LABELS`. JAX is imported when a method is
used, since a worker must first say how many threads it may have.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import PRNGKeyArray

    from goodprior.beliefs import Belief
    from goodprior.data import Scaling
    from goodprior.inference import ClassPrediction, Likelihood, Prediction
    from goodprior.matching import Match
    from goodprior.priors import Prior

# As the paper writes them.
LABELS = {
    "fg": "FG",
    "fg+ts": "FG+TS",
    "gpi-g": "GPi-G",
    "fh": "FH",
    "gpi-h": "GPi-H",
    "gpi-nf": "GPi-NF",
    "ensemble": "Deep Ensemble",
    "fbnn": "fBNN",
    "la-ggn": "LA-GGN",
    "la-marglik": "LA-MargLik + SGHMC",
    "gp": "GP",
}
MATCHED = ("gpi-g", "gpi-h", "gpi-nf")
SAMPLED = ("fg", "fg+ts", "fh", "la-marglik", *MATCHED)  # by chains, which have lengths


class Problem(NamedTuple):
    """Training rows on their original scale, and how they are to be explained."""

    X: "np.ndarray"
    y: "np.ndarray"
    likelihood: "Likelihood"
    scaling: "Scaling"
    belief: "Belief"
    outputs: int = 1


class Fit(NamedTuple):
    """What a method makes of a problem: predictions for new rows, and facts for the table."""

    predict: "Callable[[Any], Prediction | ClassPrediction]"
    facts: dict[str, Any]


Method = Callable[[Problem, dict[str, Any], "PRNGKeyArray"], Fit]


def regression_problem(X: "np.ndarray", y: "np.ndarray", noise_variance: float) -> Problem:
    """A table with one target, the paper's belief and Gaussian noise of a known variance."""
    from goodprior.beliefs import HierarchicalGP
    from goodprior.data import Scaling
    from goodprior.inference import Gaussian

    belief = HierarchicalGP.default(X.shape[1])
    return Problem(X, y, Gaussian(noise_variance), Scaling.fit(X, y), belief)


def classification_problem(X: "np.ndarray", y: "np.ndarray", classes: int) -> Problem:
    """A table with labels: one output for two classes, else one per class."""
    from goodprior.beliefs import HierarchicalGP
    from goodprior.data import Scaling
    from goodprior.inference import Binary, Categorical

    outputs = 1 if classes == 2 else classes
    belief = HierarchicalGP.default(X.shape[1], "classification", outputs)
    likelihood = Binary() if classes == 2 else Categorical(classes)
    return Problem(X, y, likelihood, Scaling.fit(X), belief, outputs)


def fit(problem: Problem, settings: dict[str, Any]) -> Fit:
    """The job's method on the problem; random numbers come from its seed and split."""
    import jax

    key = jax.random.fold_in(jax.random.key(settings["seed"]), settings["split"])
    return METHODS[settings["method"]](problem, settings, key)


def matched_prior(
    name: str, problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray", **options: Any
) -> "tuple[Prior, Match | None]":
    """The prior of this name, matched to the problem's belief if that is its kind."""
    import jax

    from goodprior.beliefs import rows_and_box
    from goodprior.matching import match
    from goodprior.networks import MLP
    from goodprior.priors import is_matched, named_prior

    key_network, key_prior, key_match, _ = jax.random.split(key, 4)
    hidden = (settings["width"],) * settings["depth"]
    network = MLP(problem.X.shape[1], hidden, problem.outputs, key=key_network)
    prior = named_prior(name, network, key=key_prior)
    if not is_matched(name):
        return prior, None
    points = rows_and_box(problem.scaling.inputs(problem.X))
    own = {"distance": settings.get("distance"), "draws": settings.get("match_draws")}
    options = {**own, **options}
    matched = match(prior, problem.belief, points, key=key_match, **options)
    return matched.prior, matched


def _sampled(name: str, problem: Problem, settings: dict[str, Any], key: "PRNGKeyArray") -> Fit:
    """Match the prior if it is to be matched, and sample the posterior."""
    import time

    import jax

    from goodprior.evaluation import diagnose
    from goodprior.inference import NUTS, SGHMC, sample_posterior

    started = time.perf_counter()
    prior, matched = matched_prior(name, problem, settings, key)
    found: dict[str, Any] = {}
    if matched is not None and matched.history.after is not None:
        found = {f"match_{k}": v for k, v in matched.history.after._asdict().items()}
        found["match_steps"] = len(matched.history.distance)
    between = time.perf_counter()
    sampler: NUTS | SGHMC = NUTS() if settings.get("sampler") == "nuts" else SGHMC()
    posterior = sample_posterior(
        prior,
        problem.likelihood,
        problem.X,
        problem.y,
        scaling=problem.scaling,
        key=jax.random.split(key, 4)[3],
        sampler=sampler,
        chains=settings["chains"],
        burn_in=settings["burn_in"],
        draws=settings["draws"],
        thinning=settings["thinning"],
        batch_size=settings["batch_size"],
    )
    times = {"match_seconds": between - started, "sample_seconds": time.perf_counter() - between}
    return Fit(posterior.predict, {**diagnose(posterior).summary, **found, **times})


METHODS: dict[str, Method] = {
    "fg": partial(_sampled, "fg"),
    "fh": partial(_sampled, "fh"),
    "gpi-g": partial(_sampled, "gpi-g"),
    "gpi-h": partial(_sampled, "gpi-h"),
    "gpi-nf": partial(_sampled, "gpi-nf"),
}
