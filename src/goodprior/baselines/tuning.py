"""Choosing by validation: temperatures, noise variances, and the prior's variances themselves.

A trial fits one candidate to a part of the rows and takes the NLL of the rest. Trials come one by
one, so that whoever asks for them can keep them, stop, and go on later with those `known`.
"""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jaxtyping import PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.data.splits import hold_out
from goodprior.evaluation.metrics import class_nll, nll
from goodprior.inference.predictive import ClassPrediction, Prediction
from goodprior.networks import Architecture

TEMPERATURES = (0.5, 0.1, 0.01, 0.001, 0.0001)  # of FG+TS (paper, appendix A.4)
NOISE_VARIANCES = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5)  # on standardised targets
SCALES = (0.05, 20.0)  # the range of a prior's standard deviations in which to search


class Predicts(Protocol):
    """A `Posterior`, a `Laplace`, or anything else that predicts."""

    def predict(self, X: object) -> Prediction | ClassPrediction: ...


Fit = Callable[[Any, np.ndarray, np.ndarray, PRNGKeyArray], Predicts]
Scales = dict[str, float]  # the prior's standard deviations by parameter, as GaussianPrior takes


class Trial(NamedTuple):
    """How well a candidate did, and how long that took."""

    candidate: Any
    nll: float
    seconds: float


class Validation(NamedTuple):
    """One split of the rows, on which every candidate is tried with the same random numbers.

    A candidate whose fit leaves the finite numbers has a NaN for its NLL. All of it can be sent to
    other processes if `fit` can.
    """

    fit: Fit
    X: np.ndarray
    y: np.ndarray
    key: PRNGKeyArray
    share: float = 0.2

    def __call__(self, candidate: Any) -> Trial:
        key_rows, key_fit = jax.random.split(self.key)
        kept, held = hold_out(key_rows, len(self.X), self.share)
        started = time.perf_counter()
        try:
            fitted = self.fit(candidate, self.X[kept], self.y[kept], key_fit)
        except FloatingPointError:  # SamplingError among them: too cold a chain, say
            return Trial(candidate, float("nan"), time.perf_counter() - started)
        prediction = fitted.predict(self.X[held])
        score = nll if isinstance(prediction, Prediction) else class_nll
        return Trial(candidate, score(prediction, self.y[held]), time.perf_counter() - started)  # type: ignore[arg-type]


def trials(
    evaluate: Callable[[Any], Trial],
    candidates: Sequence[Any],
    *,
    known: Iterable[Trial] = (),
    engine: Callable[[Callable[[Any], Trial], list[Any]], Iterable[Trial]] = map,
) -> Iterator[Trial]:
    """The known trials, and then one for each candidate that is not among them.

    `engine(evaluate, candidates)` runs them: the built-in `map`, a pool's or a cluster's.

    >>> score = lambda scale: Trial(scale, abs(scale - 2.0), 0.1)
    >>> list(trials(score, [1.0, 2.0], known=[Trial(1.0, 1.0, 0.1)]))[-1].nll
    0.0
    """
    done = list(known)
    yield from done
    seen = {_name(trial.candidate) for trial in done}
    yield from engine(evaluate, [c for c in candidates if _name(c) not in seen])


def best(of: Iterable[Trial]) -> Trial:
    """The trial with the lowest NLL; those that failed (NaN) are left out."""
    finite = [trial for trial in of if np.isfinite(trial.nll)]
    if not finite:
        raise ValueError("there is no trial with a finite NLL to choose from")
    return min(finite, key=lambda trial: trial.nll)


def tune(
    fit: Fit,
    candidates: Sequence[Any],
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    validation: float = 0.2,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> tuple[Any, list[Trial]]:
    """The candidate that does best on the share `validation` of the rows, and all trials.

    `fit(candidate, X, y, key)` gives something that predicts: of a temperature, say,
    `lambda t, X, y, key: sample_posterior(prior, likelihood, X, y, temperature=t, key=key)`.
    """
    if not candidates:
        raise ValueError("there are no candidates to choose from")
    rows, targets = np.asarray(checks.rows("X", X)), np.asarray(y)
    if len(rows) != len(targets):
        raise ValueError(f"X and y must have as many rows: {len(rows)} and {len(targets)}")
    found = []
    for trial in trials(Validation(fit, rows, targets, key, validation), candidates):
        found.append(trial)
        if on_progress is not None:
            on_progress(len(found), len(candidates), f"NLL {trial.nll:.3f}")
    return best(found).candidate, found


def scale_grid(
    network: PyTree, per_parameter: int = 9, scales: tuple[float, float] = SCALES
) -> list[Scales]:
    """Every combination of so many scales per parameter, evenly spaced in their logarithm.

    For one hidden layer these are four parameters, and 6,561 combinations of nine.

    >>> import jax
    >>> from goodprior.networks import MLP
    >>> len(scale_grid(MLP(1, (50,), 1, key=jax.random.key(0))))
    6561
    """
    checks.whole("per_parameter", per_parameter, least=2)
    names = [p.name for p in Architecture(network).parameters]
    values = np.geomspace(*scales, per_parameter).tolist()
    return [dict(zip(names, each, strict=True)) for each in product(values, repeat=len(names))]


def bayesian_search(
    evaluate: Callable[[Scales], Trial],
    network: PyTree,
    *,
    trials: int = 50,
    seed: int = 0,
    known: Iterable[Trial] = (),
    scales: tuple[float, float] = SCALES,
) -> Iterator[Trial]:
    """Trials of prior scales that Bayesian optimisation suggests, up to so many with the known.

    The surrogate is a Gaussian process over the logarithms of the scales; the first five trials
    are at random. It needs the extra `bo` (bayesian-optimization).
    """
    try:
        from bayes_opt import BayesianOptimization  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError(
            "bayesian_search needs bayesian-optimization: pip install 'goodprior[bo]'"
        ) from error
    checks.whole("trials", trials)
    low, high = np.log(scales)
    bounds = {p.name: (low, high) for p in Architecture(network).parameters}
    search = BayesianOptimization(
        f=None,
        pbounds=bounds,
        random_state=seed,
        verbose=0,
        allow_duplicate_points=True,
    )

    def note(trial: Trial) -> None:
        place = {name: float(np.log(scale)) for name, scale in trial.candidate.items()}
        search.register(params=place, target=-trial.nll)

    done = list(known)
    for trial in done:
        note(trial)
    yield from done
    rng = np.random.default_rng(seed)
    beginnings = [{name: float(rng.uniform(low, high)) for name in bounds} for _ in range(5)]
    for i in range(len(done), trials):
        place = beginnings[i] if i < len(beginnings) else search.suggest()
        trial = evaluate({name: float(np.exp(value)) for name, value in place.items()})
        note(trial)
        yield trial


def progress_front(of: Iterable[Trial]) -> tuple[np.ndarray, np.ndarray]:
    """Quality against time: the seconds spent in all, and the best NLL by then, where it improved.

    >>> progress_front([Trial("a", 2.0, 1.0), Trial("b", 3.0, 1.0), Trial("c", 1.0, 2.0)])
    (array([1., 4.]), array([2., 1.]))
    """
    seconds, lowest, spent = [], [], 0.0
    for trial in of:
        spent += trial.seconds
        if np.isfinite(trial.nll) and (not lowest or trial.nll < lowest[-1]):
            seconds.append(spent)
            lowest.append(trial.nll)
    return np.array(seconds), np.array(lowest)


def _name(candidate: Any) -> Hashable:
    """What tells candidates apart; numbers that went through a file are nearly the same."""
    if isinstance(candidate, Mapping):
        return tuple(sorted((key, _name(value)) for key, value in candidate.items()))
    return f"{candidate:.6g}" if isinstance(candidate, float) else candidate
