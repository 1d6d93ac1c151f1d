"""How good predictions are. Lower is better, except for accuracy and coverage."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from goodprior import checks
from goodprior.inference.predictive import ClassPrediction, Prediction

LEVELS = np.linspace(0.05, 0.95, 19)


def rmse(prediction: Prediction, y: object) -> float:
    """Root mean squared error of the predictive mean.

    >>> import jax.numpy as jnp
    >>> rmse(Prediction(jnp.zeros((1, 2, 1)), jnp.ones((1, 2, 1))), [3.0, 4.0])
    3.535...
    """
    return float(jnp.sqrt(jnp.mean((prediction.mean - _targets(prediction, y)) ** 2)))


def nll(prediction: Prediction, y: object) -> float:
    """Mean negative log density of the observations under the predictive mixture."""
    return -float(prediction.log_prob(_targets(prediction, y)).sum(axis=1).mean())


def nll_moment(prediction: Prediction, y: object) -> float:
    """The same under one Gaussian with the mixture's mean and variance, as the paper reports it."""
    return -float(prediction.log_prob_moment(_targets(prediction, y)).sum(axis=1).mean())


def crps(prediction: Prediction, y: object) -> float:
    """Continuous ranked probability score: the absolute error, generalised to distributions.

    The integral of the squared difference between predictive CDF and observed step, through
    `E|Y - y| - E|Y - Y'| / 2` with Y and Y' at the mixture's quantiles.
    """
    levels = (np.arange(200) + 0.5) / 200
    quantiles = prediction.quantiles(levels)
    to_observation = jnp.abs(quantiles - _targets(prediction, y)).mean(axis=0)
    # For sorted values E|Y - Y'| is a weighted sum: value i exceeds i others, is below the rest.
    weights = jnp.asarray((2 * levels - 1)[:, None, None], quantiles.dtype)
    spread = 2 * (weights * quantiles).mean(axis=0)
    return float((to_observation - 0.5 * spread).mean())


def coverage(prediction: Prediction, y: object, level: float = 0.95) -> float:
    """The share of observations inside the central interval of this level."""
    target = _targets(prediction, y)
    low, high = prediction.interval(level)
    return float(((target >= low) & (target <= high)).mean())


def calibration_error(prediction: Prediction, y: object) -> float:
    """Mean gap between the levels of central intervals and the share of observations in them."""
    target = _targets(prediction, y)
    distance = jnp.abs(2 * prediction.cdf(target) - 1)  # the level that just holds y
    inside = jnp.stack([(distance <= level).mean() for level in LEVELS])
    return float(jnp.abs(inside - LEVELS).mean())


def regression_metrics(prediction: Prediction, y: object) -> dict[str, float]:
    """All regression metrics, by name."""
    return {
        "rmse": rmse(prediction, y),
        "nll": nll(prediction, y),
        "nll_moment": nll_moment(prediction, y),
        "crps": crps(prediction, y),
        "coverage_95": coverage(prediction, y),
        "calibration_error": calibration_error(prediction, y),
    }


def accuracy(prediction: ClassPrediction, y: object) -> float:
    """The share of rows whose most probable class is the true one."""
    return float((prediction.probabilities.argmax(axis=-1) == _labels(prediction, y)).mean())


def class_nll(prediction: ClassPrediction, y: object) -> float:
    """Mean negative log predictive probability of the true class."""
    return -float(prediction.log_prob(_labels(prediction, y)).mean())


def expected_calibration_error(prediction: ClassPrediction, y: object, bins: int = 15) -> float:
    """Mean gap between confidence and accuracy, over bins of equal confidence (ECE)."""
    probabilities = np.asarray(prediction.probabilities)
    confidence = probabilities.max(axis=-1)
    right = probabilities.argmax(axis=-1) == np.asarray(_labels(prediction, y))
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [
        abs(confidence[which == b].mean() - right[which == b].mean()) * (which == b).mean()
        for b in range(bins)
        if (which == b).any()
    ]
    return float(np.sum(gaps))


def classification_metrics(prediction: ClassPrediction, y: object) -> dict[str, float]:
    """All classification metrics, by name."""
    return {
        "accuracy": accuracy(prediction, y),
        "nll": class_nll(prediction, y),
        "ece": expected_calibration_error(prediction, y),
    }


def auroc(inside: object, outside: object) -> float:
    """How well a score tells what is foreign: the area under the ROC curve.

    The probability that a score of `outside` is above one of `inside`, ties counting half. With the
    predictive entropy as the score it says whether foreign inputs are met with more uncertainty.

    >>> auroc([0.1, 0.2], [0.2, 0.9])
    0.875
    """
    from sklearn.metrics import roc_auc_score

    scores = [np.asarray(checks.table(n, v))[:, 0] for n, v in
              (("inside", inside), ("outside", outside))]  # fmt: skip
    foreign = np.repeat([0, 1], [len(part) for part in scores])
    return float(roc_auc_score(foreign, np.concatenate(scores)))


def entropy_curve(entropy: object, classes: int, points: int = 101) -> Float[np.ndarray, " points"]:
    """The share of entropies up to each of so many values from zero to `log(classes)`.

    >>> entropy_curve([0.0, 0.3, 0.69], classes=2, points=3).round(2).tolist()
    [0.33, 0.67, 1.0]
    """
    values = np.sort(np.asarray(checks.table("entropy", entropy))[:, 0])
    at = np.linspace(0, np.log(checks.whole("classes", classes, least=2)), points)
    return np.searchsorted(values, at + 1e-6, side="right") / len(values)


def _targets(prediction: Prediction, y: object) -> Float[Array, "points targets"]:
    targets = checks.table("y", y)
    if targets.shape != prediction.location.shape[1:]:
        raise ValueError(
            f"y must have a row for each predicted point and a column for each target, "
            f"{prediction.location.shape[1:]}; its shape is {targets.shape}"
        )
    return targets


def _labels(prediction: ClassPrediction, y: object) -> Int[Array, " points"]:
    _, points, classes = prediction.log_probabilities.shape
    labels = checks.labels("y", y, classes)
    if len(labels) != points:
        raise ValueError(
            f"y must have a label for each of the {points} points, it has {len(labels)}"
        )
    return labels
