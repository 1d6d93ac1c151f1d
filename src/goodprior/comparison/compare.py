"""`compare_models`: several estimators on the same folds."""

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier

from goodprior import checks, devices, storage
from goodprior.beliefs.spec import parse_belief
from goodprior.comparison.folds import SCORES, Fold, Interrupted, make_folds, score_fold
from goodprior.comparison.references import Task, reference_models
from goodprior.comparison.result import ModelComparison
from goodprior.data.scaling import Scaling
from goodprior.data.table.frames import as_frame
from goodprior.estimators.validation import column_name
from goodprior.progress import tracking

COLUMNS = ("model", "fold", "seconds", "rhat", "sampled", "stopped", "problem")
FREE = ("verbose", "budget", "keep_rows")  # settings that may change between two runs


def compare_models(
    X: Any,
    y: Any,
    models: Mapping[str, Any],
    *,
    folds: int = 5,
    peers: bool = True,
    budget: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    verbose: bool = False,
) -> ModelComparison:
    """Fit several estimators to the same cross-validation folds, and score what they predict.

    Fold after fold, each model is fitted, so that models can be compared after any of them. Ctrl-C
    ends it with the fits that are done.

    Parameters
    ----------
    X, y
        Rows (an array or a DataFrame) and targets.
    models
        Estimators by name: `BNNRegressor(...)`, `BNNClassifier(...)`, or any other of scikit-learn,
        which gets noise of one size from an inner cross-validation (numbers), or whose
        `predict_proba` is used (classes).
    folds
        How many.
    peers
        Whether scikit-learn's Gaussian process and gradient boosting stand beside them.
    budget
        Seconds for all fits. What is left is shared equally by the fits to come; where a method
        cannot be ended early, it may take longer.
    checkpoint
        A folder in which scores are kept; with the same rows and folds, models that were fitted
        there are not fitted again.
    random_state
        Of the folds.
    verbose
        Whether progress is shown.

    Returns
    -------
    ModelComparison
        With `table`, `recommendation`, `plot()` and `scores`.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.dummy import DummyRegressor
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> y = 3 * X[:, 0] + np.random.default_rng(0).normal(0, 0.1, 40)
    >>> models = {"line": LinearRegression(), "mean": DummyRegressor()}
    >>> found = compare_models(X, y, models, folds=4, peers=False)
    >>> found.best
    'line'
    """
    task = _task(models)
    X, targets = _rows(X, y, task)
    for name, model in models.items():
        _check_settings(name, model, X, targets)
    if budget is not None:
        checks.positive("budget", budget)
    parts = make_folds(np.asarray(y), task, folds, random_state)
    known = task, len(parts[0].train), targets[0].size, random_state
    beside = reference_models(*known) if peers else {}
    if clash := set(beside) & set(models):
        raise ValueError(f"models must not be called as the references are: {', '.join(clash)}")
    every = {**models, **{name: model for name, (model, _) in beside.items()}}
    done = _Done(checkpoint, X, targets, folds, random_state)
    devices.prepare()

    def score(model: Any, fold: Fold) -> dict[str, Any]:
        return score_fold(model, X, targets, fold, task)

    stopped = _run(every, set(models), parts, done, score, budget, verbose)
    return ModelComparison(
        scores=done.frame(task, every, parts),
        task=task,
        names=tuple(models),
        references=tuple(beside),
        folds=folds,
        rows=len(targets),
        notes=tuple(words for _, words in beside.values()),
        stopped=stopped,
    )


def _run(
    models: dict[str, Any],
    given: set[str],
    folds: list[Fold],
    done: "_Done",
    score: Callable[[Any, Fold], dict[str, Any]],
    budget: float | None,
    verbose: bool,
) -> str | None:
    """Fit what is missing; returns why it ended early, if it did."""
    todo = [(f, name) for f in folds for name in models if not done.has(name, models[name], f)]
    end = None if budget is None else time.monotonic() + budget
    total = len(folds) * len(models)
    with tracking("comparing", quiet=not verbose) as track:
        for i, (fold, name) in enumerate(todo):
            track(total - len(todo) + i, total, f"fold {fold.number} of {len(folds)}, {name}")
            left = sum(other in given for _, other in todo[i:])
            model = models[name]
            if end is not None:
                if time.monotonic() > end:
                    return "its budget of seconds was spent"
                model = _with_budget(model, (end - time.monotonic()) / max(left, 1))
            try:
                row = score(model, fold)
            except (KeyboardInterrupt, Interrupted):
                if not done.rows:
                    raise KeyboardInterrupt from None
                return "it was interrupted"
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
            done.add(name, models[name], fold, row)
        track(total, total, "done")
    return None


class _Done:
    """Rows of scores by model and fold, also in a file if there is a folder for it."""

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        X: Any,
        y: np.ndarray,
        folds: int,
        random_state: int,
    ):
        self.rows: dict[str, dict[str, Any]] = {}
        self.path = None if folder is None else Path(folder) / "comparison.json"
        self.fingerprint = ""
        if self.path is None:
            return
        table = {"X": _cells(X), "y": y, "folds": folds, "random_state": random_state}
        self.fingerprint = storage.fingerprint(table)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            kept = _read(self.path)
            if kept["fingerprint"] != self.fingerprint:
                raise ValueError(
                    f"{self.path.parent} holds a comparison of other rows or folds: choose an "
                    "empty folder, or delete this one"
                )
            self.rows = kept["rows"]

    def _key(self, name: str, model: Any, fold: Fold) -> str:
        if self.path is None:
            return f"{name}/{fold.number}"
        settings = {k: v for k, v in model.get_params(deep=False).items() if k not in FREE}
        fingerprint = storage.fingerprint({"class": type(model).__name__, "settings": settings})
        return f"{name}/{fold.number}/{fingerprint}"

    def has(self, name: str, model: Any, fold: Fold) -> bool:
        """Whether this fit is done."""
        return self._key(name, model, fold) in self.rows

    def add(self, name: str, model: Any, fold: Fold, row: dict[str, Any]) -> None:
        """Keep the scores of a fit."""
        self.rows[self._key(name, model, fold)] = {"model": name, "fold": fold.number, **row}
        if self.path is not None:
            text = json.dumps({"fingerprint": self.fingerprint, "rows": self.rows})
            storage.replace_file(self.path, text.encode())

    def frame(self, task: Task, models: dict[str, Any], folds: list[Fold]) -> pd.DataFrame:
        """The rows of these models and folds, as they are done."""
        keys = (self._key(name, model, fold) for fold in folds for name, model in models.items())
        rows = [self.rows[key] for key in keys if key in self.rows]
        return pd.DataFrame(rows, columns=[*COLUMNS[:2], *SCORES[task], *COLUMNS[2:]])


def _cells(X: Any) -> Any:
    """What the rows are known by again: of a table, the names and a hash of each row."""
    if not isinstance(X, pd.DataFrame):
        return X
    names = [str(name) for name in X.columns]
    return {"names": names, "rows": pd.util.hash_pandas_object(X, index=False).to_numpy()}


def _read(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_text())
        if set(kept) == {"fingerprint", "rows"} and isinstance(kept["rows"], dict):
            return kept
    except (ValueError, TypeError):
        pass
    raise ValueError(f"{path} is no record of a comparison: delete it, or choose another folder")


def _task(models: Mapping[str, Any]) -> Task:
    if not models:
        raise ValueError("models must have one estimator or more, by name")
    kinds = {bool(is_classifier(model)) for model in models.values()}
    if len(kinds) > 1:
        raise ValueError("models must be all for numbers or all for classes, and these are both")
    return "classification" if kinds.pop() else "regression"


def _rows(X: Any, y: Any, task: Task) -> tuple[Any, np.ndarray]:
    frame = as_frame(X)
    X = np.asarray(X) if frame is None else frame
    targets = np.asarray(y)
    if len(X) != len(targets):
        raise ValueError(f"X and y must have as many rows: {len(X)} and {len(targets)}")
    if task == "classification":
        return X, np.unique(targets, return_inverse=True)[1]
    numbers = np.asarray(checks.table("y", targets))
    return X, targets.astype(np.float64) if numbers.shape[1] > 1 else targets.astype(float).ravel()


def _check_settings(name: str, model: Any, X: Any, y: np.ndarray) -> None:
    """Refuse settings, rows and beliefs that our own estimators cannot take, before any fit."""
    if not hasattr(model, "check_settings"):
        return
    try:
        model.check_settings()
        reader: Any = clone(model)
        numbers = reader._read_training(X)
        if isinstance(model.belief, str | dict | list) and model.belief != "fit":
            _check_belief(reader, numbers, y)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _check_belief(model: Any, numbers: np.ndarray, y: np.ndarray) -> None:
    """Refuse a belief that does not suit the numbers that the rows become."""
    if numbers.ndim != 2:
        return
    scaling = Scaling.fit(numbers, y if model.TASK == "regression" else None)
    parse_belief(
        model.belief,
        scaling,
        [column_name(model, i) for i in range(numbers.shape[1])],
        task=model.TASK,
        outputs=y[0].size if model.TASK == "regression" else max(1, int(y.max())),
        dates=() if model.columns_ is None else model.columns_.dates,
    )


def _with_budget(model: Any, seconds: float) -> Any:
    """The estimator with a share of the budget, where its method takes notice of one."""
    if not hasattr(model, "check_settings") or "budget" not in model.check_settings().uses:
        return model
    budget = model.budget
    limited: Any = clone(model)
    return limited.set_params(budget=seconds if budget is None else min(budget, seconds))
