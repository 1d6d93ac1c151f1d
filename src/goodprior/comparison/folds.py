"""Folds of the rows, and the scores of one model on one of them."""

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from goodprior import checks
from goodprior.comparison.references import Task, WithConstantNoise, WithProbabilities
from goodprior.data.splits import evenly_spread
from goodprior.evaluation import classification_metrics
from goodprior.evaluation.metrics import coverage, crps, nll, rmse
from goodprior.inference.predictive import ClassPrediction

CRPS_ROWS = 500  # of a fold that the score is computed on, at most
SCORES: dict[Task, tuple[str, ...]] = {
    "regression": ("rmse", "nll", "crps", "coverage_95"),
    "classification": ("nll", "accuracy", "ece"),
}


class Interrupted(Exception):
    """A fit that was ended by Ctrl-C and kept some draws: it is not compared with whole ones."""


class Fold(NamedTuple):
    """Rows to fit and rows to score, by their numbers."""

    number: int
    train: np.ndarray
    test: np.ndarray


def make_folds(y: np.ndarray, task: Task, folds: int, random_state: int) -> list[Fold]:
    """The folds of shuffled rows; of classes, each fold has its share of every class.

    Parameters
    ----------
    y
        Targets, or labels.
    task
        Numbers or classes.
    folds
        How many.
    random_state
        Of the shuffle.

    Examples
    --------
    >>> [fold.test.tolist() for fold in make_folds(np.zeros(4), "regression", 2, 0)]
    [[2, 3], [0, 1]]
    """
    checks.whole("folds", folds, least=2)
    if folds > len(y):
        raise ValueError(f"folds must be at most the number of rows, {len(y)}; got {folds}")
    if task == "classification":
        classes, counts = np.unique(y, return_counts=True)
        if counts.min() < folds:
            raise ValueError(
                f"class {classes[counts.argmin()]} has {counts.min()} rows, fewer than the {folds} "
                "folds: lower folds, or leave its rows out"
            )
        splitter: Any = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    else:
        splitter = KFold(folds, shuffle=True, random_state=random_state)
    found = splitter.split(np.zeros(len(y)), y)
    return [Fold(i + 1, train, test) for i, (train, test) in enumerate(found)]


def score_fold(model: Any, X: Any, y: np.ndarray, fold: Fold, task: Task) -> dict[str, Any]:
    """What a model fitted to the fold's training rows says of the others, in figures.

    Parameters
    ----------
    model
        An estimator, which is cloned. One without `predict_distribution` gets noise of one size
        (regression), or its `predict_proba` is used.
    X, y
        All rows and their targets, or class numbers.
    fold
        Which of them to fit and to score.
    task
        Numbers or classes.
    """
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say of chains is in the row
        try:
            fitted = with_distribution(clone(model), task).fit(take(X, fold.train), y[fold.train])
            seconds = time.perf_counter() - started
            if "interrupted" in (getattr(fitted, "stopped_", None) or ""):
                raise Interrupted
            scores = _scores(fitted.predict_distribution(take(X, fold.test)), y[fold.test], task)
        except FloatingPointError as error:
            return {"seconds": time.perf_counter() - started, "problem": str(error)}
    return {**scores, "seconds": seconds, **_convergence(fitted), "problem": None}


def with_distribution(model: Any, task: Task) -> Any:
    """The model, or one around it that predicts distributions."""
    if hasattr(model, "predict_distribution"):
        return model
    return WithConstantNoise(model) if task == "regression" else WithProbabilities(model)


def take(X: Any, rows: np.ndarray) -> Any:
    """These rows of a DataFrame or an array."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows]


def _scores(prediction: Any, y: np.ndarray, task: Task) -> dict[str, float]:
    if isinstance(prediction, ClassPrediction):
        found = classification_metrics(prediction, y)
        return {name: found[name] for name in SCORES[task]}
    some = evenly_spread(len(y), CRPS_ROWS)
    part = type(prediction)(
        prediction.location[:, some], prediction.scale[:, some], prediction.degrees,
        prediction.origin,
    )  # fmt: skip
    return {
        "rmse": rmse(prediction, y),
        "nll": nll(prediction, y),
        "crps": crps(part, y[some]),
        "coverage_95": coverage(prediction, y),
    }


def _convergence(fitted: Any) -> dict[str, Any]:
    """The worst R-hat, where there are chains, and why sampling ended early, if it did."""
    known = getattr(fitted, "diagnostics_", None)
    return {
        "rhat": None if known is None else float(known.summary["rhat_max"]),
        "sampled": bool(getattr(getattr(fitted, "posterior_", None), "is_sampled", False)),
        "stopped": getattr(fitted, "stopped_", None),
    }
