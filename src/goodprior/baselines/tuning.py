"""Choosing by validation: temperatures, or the prior's variances.

A trial fits one candidate to a part of the rows and takes the NLL of the rest.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jaxtyping import PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.data.splits import hold_out
from goodprior.evaluation import class_nll, nll
from goodprior.inference.predictive import ClassPrediction, Prediction
from goodprior.networks import Architecture
from goodprior.progress import StopSampling

TEMPERATURES = (0.5, 0.1, 0.01, 0.001, 0.0001)  # of FG+TS (paper, appendix A.4)
SCALES = (0.05, 20.0)  # the range of a prior's standard deviations in which to search


class Predicts(Protocol):
    """A `Posterior`, a `LaplacePosterior`, or anything else that predicts."""

    def predict(self, X: object) -> Prediction | ClassPrediction: ...


Fit = Callable[[Any, np.ndarray, np.ndarray, PRNGKeyArray], Predicts]
Scales = dict[str, float]  # the prior's standard deviations by parameter, as GaussianPrior takes


class Trial(NamedTuple):
    """A candidate, its validation NLL, and the seconds that it took."""

    candidate: Any
    nll: float
    seconds: float


class Validation(NamedTuple):
    """Evaluates candidates on one split of the rows, with the same random numbers for all.

    Calling it with a candidate gives a `Trial`, whose NLL is NaN if the fit is not finite.

    Attributes
    ----------
    fit
        `fit(candidate, X, y, key)` gives something that predicts.
    X, y
        All rows.
    key
        Determines the split, and is the source of each fit's key.
    share
        Of the rows to validate on.
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
        except FloatingPointError:  # a SamplingError is one
            return Trial(candidate, float("nan"), time.perf_counter() - started)
        prediction = fitted.predict(self.X[held])
        score = nll if isinstance(prediction, Prediction) else class_nll
        return Trial(candidate, score(prediction, self.y[held]), time.perf_counter() - started)  # type: ignore[arg-type]


def best(of: Iterable[Trial]) -> Trial:
    """The trial with the lowest NLL; those that failed (NaN) are left out.

    Parameters
    ----------
    of
        The trials.

    Returns
    -------
    Trial
        The best of them.

    Raises
    ------
    ValueError
        If all have failed.

    Examples
    --------
    >>> best([Trial("a", 2.0, 1.0), Trial("b", float("nan"), 1.0)]).candidate
    'a'
    """
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
    """Choose the candidate with the lowest validation NLL.

    Parameters
    ----------
    fit
        `fit(candidate, X, y, key)` gives something that predicts: for a temperature,
        `lambda t, X, y, key: sample_posterior(prior, likelihood, X, y, temperature=t, key=key)`.
    candidates
        What to choose from.
    X, y
        The rows.
    key
        Determines the split, and is the source of each fit's key.
    validation
        Share of the rows to validate on.
    on_progress
        Called with (candidates tried, in all, the last one's NLL in words); by raising
        `StopSampling` it has the best of these taken.

    Returns
    -------
    tuple
        The best candidate, and the trials of all.

    Examples
    --------
    >>> import jax
    >>> from goodprior.baselines import fit_map
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(MLP(1, (3,), 1, key=jax.random.key(0)))
    >>> def fit(noise_variance, X, y, key):
    ...     return fit_map(prior, Gaussian(noise_variance), X, y, epochs=3, key=key)
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> best, trials = tune(fit, [1.0, 1e6], X, X, key=jax.random.key(1))
    >>> best, len(trials)
    (1.0, 2)
    """
    if not candidates:
        raise ValueError("there are no candidates to choose from")
    rows, targets = np.asarray(checks.rows("X", X)), np.asarray(y)
    if len(rows) != len(targets):
        raise ValueError(f"X and y must have as many rows: {len(rows)} and {len(targets)}")
    evaluate = Validation(fit, rows, targets, key, validation)
    found: list[Trial] = []
    with suppress(StopSampling):
        for candidate in candidates:
            found.append(trial := evaluate(candidate))
            if on_progress is not None:
                on_progress(len(found), len(candidates), f"NLL {trial.nll:.3f}")
    return best(found).candidate, found


def bayesian_search(
    evaluate: Callable[[Scales], Trial],
    network: PyTree,
    *,
    trials: int = 50,
    seed: int = 0,
    scales: tuple[float, float] = SCALES,
) -> Iterator[Trial]:
    """Trials of prior scales that Bayesian optimisation suggests, one after another.

    The surrogate is a Gaussian process over the logarithms of the scales; the first five trials
    are at random.

    Parameters
    ----------
    evaluate
        Gives the trial of a candidate, such as a `Validation`.
    network
        Whose parameters each have a scale.
    trials
        How many.
    seed
        Of the search.
    scales
        Range of the scales.

    Yields
    ------
    Trial
        Its candidate has a scale for each parameter, as `GaussianPrior` takes them.

    Raises
    ------
    ImportError
        Without the extra `bo` (bayesian-optimization).
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

    rng = np.random.default_rng(seed)
    starts = [{name: float(rng.uniform(low, high)) for name in bounds} for _ in range(5)]
    for i in range(trials):
        logs = starts[i] if i < len(starts) else search.suggest()
        trial = evaluate({name: float(np.exp(value)) for name, value in logs.items()})
        logs = {name: float(np.log(scale)) for name, scale in trial.candidate.items()}
        search.register(params=logs, target=-trial.nll)
        yield trial


def progress_front(of: Iterable[Trial]) -> tuple[np.ndarray, np.ndarray]:
    """Quality against time: the points at which the best NLL improved.

    Parameters
    ----------
    of
        The trials, in their order.

    Returns
    -------
    seconds : ndarray
        Spent in all by then.
    lowest : ndarray
        The best NLL by then.

    Examples
    --------
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
