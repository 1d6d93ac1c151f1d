"""scikit-learn's Gaussian process and gradient boosting, as rows to compare with.

Predictions are those of the other rows (`Prediction`, `ClassPrediction`), so that all are scored
by the same metrics.
"""

from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import cross_val_predict
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from goodprior.data.table.encode import Columns
from goodprior.inference.predictive import ClassPrediction, Prediction

Task = Literal["regression", "classification"]
PROCESS, BOOSTING = "gp-ard", "boosting"
MOST_ROWS = {"regression": 500, "classification": 300}  # of a process: time grows with their cube
LEAST = 1e-9  # probability of a class; a tree may say 0, which no score of logarithms survives


class Numbers(BaseEstimator):
    """Text, dates and gaps of a DataFrame as numbers, as `goodprior fit` makes them.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"kind": ["a", "b"], "size": [1.0, 2.0]})
    >>> Numbers().fit(frame).transform(frame).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 2.0]]
    """

    columns_: Columns | None

    def fit(self, X: Any, y: Any = None) -> "Numbers":
        """Learn what the columns hold."""
        self.columns_ = Columns.fit(X, impute=True) if hasattr(X, "iloc") else None
        return self

    def transform(self, X: Any) -> Float[np.ndarray, "rows columns"]:
        """Return the rows as numbers."""
        return np.asarray(X, np.float64) if self.columns_ is None else self.columns_.matrix(X)


class Process(BaseEstimator):
    """A Gaussian process with a lengthscale for each column (ARD) and Gaussian noise.

    Its hyperparameters maximise the marginal likelihood. Of more rows than `most_rows`, a random
    choice is used.

    Examples
    --------
    >>> X = np.linspace(0, 3, 20)[:, None]
    >>> prediction = Process("regression", 500).fit(X, np.sin(X[:, 0])).predict_distribution(X)
    >>> bool(np.abs(np.asarray(prediction.mean)[:, 0] - np.sin(X[:, 0])).max() < 0.01)
    True
    """

    def __init__(self, task: Task = "regression", most_rows: int = 500, random_state: int = 0):
        self.task: Task = task
        self.most_rows, self.random_state = most_rows, random_state

    def fit(self, X: Any, y: Any) -> "Process":
        """Fit the process to the rows, or to some of them."""
        self.numbers_ = Numbers().fit(X)
        rows, targets = self.numbers_.transform(X), np.asarray(y)
        if len(rows) > self.most_rows:
            rng = np.random.default_rng(self.random_state)
            chosen = _some_of_all(targets, self.most_rows, self.task, rng)
            rows, targets = rows[chosen], targets[chosen]
        lengthscales: Any = np.ones(rows.shape[1])
        kernel = ConstantKernel() * RBF(lengthscales, (1e-2, 1e3))
        if self.task == "classification":
            process: Any = GaussianProcessClassifier(kernel, random_state=self.random_state)
        else:
            kernel = kernel + WhiteKernel(0.1, (1e-8, 10.0))
            process = GaussianProcessRegressor(
                kernel, normalize_y=True, n_restarts_optimizer=1, random_state=self.random_state
            )
        self.model_ = make_pipeline(StandardScaler(), process).fit(rows, targets)
        return self

    def predict_distribution(self, X: Any) -> Prediction | ClassPrediction:
        """One Gaussian for each row, or the probabilities of the classes."""
        rows = self.numbers_.transform(X)
        if self.task == "classification":
            return class_prediction(self.model_.predict_proba(rows))
        mean, std = self.model_.predict(rows, return_std=True)
        return gaussian(mean, std)


class WithConstantNoise(BaseEstimator):
    """Any regressor, with Gaussian noise that is the same for all rows.

    Its standard deviation is the root mean squared residual of an inner cross-validation.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X, noise = np.arange(40.0)[:, None], np.tile([1.0, -1.0], 20)
    >>> model = WithConstantNoise(LinearRegression()).fit(X, X[:, 0] + noise)
    >>> model.predict_distribution(X).std[0].round(1).tolist()
    [1.0]
    """

    def __init__(self, estimator: Any, inner_folds: int = 5):
        self.estimator, self.inner_folds = estimator, inner_folds

    def fit(self, X: Any, y: Any) -> "WithConstantNoise":
        """Fit the regressor to all rows, and its noise to residuals of rows it has not seen."""
        y = np.asarray(y, np.float64)
        held_out = cross_val_predict(clone(self.estimator), X, y, cv=min(self.inner_folds, len(y)))
        self.noise_ = np.sqrt(np.mean((y - held_out) ** 2, axis=0))
        unfitted: Any = clone(self.estimator)
        self.model_ = unfitted.fit(X, y)
        return self

    def predict_distribution(self, X: Any) -> Prediction:
        """One Gaussian for each row."""
        mean = np.asarray(self.model_.predict(X), np.float64)
        return gaussian(mean, np.broadcast_to(self.noise_, mean.shape))


class WithProbabilities(BaseEstimator):
    """Any classifier with `predict_proba`."""

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> "WithProbabilities":
        """Fit the classifier."""
        unfitted: Any = clone(self.estimator)
        self.model_ = unfitted.fit(X, y)
        return self

    def predict_distribution(self, X: Any) -> ClassPrediction:
        """The probabilities of the classes."""
        return class_prediction(self.model_.predict_proba(X))


def reference_models(
    task: Task, rows: int, targets: int, random_state: int
) -> dict[str, tuple[Any, str]]:
    """The references by name, each with a sentence that says what it is.

    Parameters
    ----------
    task
        Numbers or classes.
    rows
        Of a training fold.
    targets
        How many there are.
    random_state
        Of boosting, and of the choice of rows.

    Examples
    --------
    >>> print(reference_models("regression", 2000, 1, 0)["gp-ard"][1])
    gp-ard: scikit-learn's Gaussian process with a lengthscale for each column, on 500 of 2000 rows
    """
    most = MOST_ROWS[task]
    on = f", on {most} of {rows} rows" if rows > most else ""
    process = f"{PROCESS}: scikit-learn's Gaussian process with a lengthscale for each column{on}"
    boosting = f"{BOOSTING}: scikit-learn's histogram gradient boosting"
    if task == "classification":
        trees: Any = WithProbabilities(
            make_pipeline(Numbers(), HistGradientBoostingClassifier(random_state=random_state))
        )
    else:
        boosted: Any = HistGradientBoostingRegressor(random_state=random_state)
        boosted = MultiOutputRegressor(boosted) if targets > 1 else boosted
        trees = WithConstantNoise(make_pipeline(Numbers(), boosted))
        boosting += ", with noise of one size from residuals of an inner cross-validation"
    return {
        PROCESS: (Process(task, most, random_state), process),
        BOOSTING: (trees, boosting),
    }


def gaussian(mean: Any, std: Any) -> Prediction:
    """One Gaussian for each row and target, as a mixture of one component."""
    mean, std = (np.asarray(v, np.float64).reshape(len(v), -1) for v in (mean, std))
    origin = mean.mean(axis=0)
    location = jnp.asarray(mean - origin, jnp.float32)[None]
    scale = jnp.asarray(np.maximum(std, 1e-12), jnp.float32)[None]
    return Prediction(location, scale, None, origin)


def class_prediction(probabilities: Any) -> ClassPrediction:
    """Probabilities of classes as a mixture of one component."""
    found = np.maximum(np.asarray(probabilities, np.float64), LEAST)
    logarithms = np.log(found / found.sum(axis=1, keepdims=True))
    return ClassPrediction(jnp.asarray(logarithms, jnp.float32)[None])


def _some_of_all(
    y: np.ndarray, count: int, task: Task, rng: np.random.Generator
) -> Float[np.ndarray, " count"] | Any:
    """Random rows; of classes, at least one row of each."""
    order = rng.permutation(len(y))
    if task == "classification":
        _, first = np.unique(y[order], return_index=True)
        order = np.concatenate([order[first], np.delete(order, first)])
    return order[:count]
