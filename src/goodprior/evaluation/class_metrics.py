"""How good predictions of classes are, and how well their entropy detects unfamiliar rows."""

import numpy as np
from jaxtyping import Float

from goodprior import checks
from goodprior.evaluation.metrics import class_labels, log_predictive_density
from goodprior.inference.predictive import ClassPrediction


def accuracy(prediction: ClassPrediction, y: object) -> float:
    """The share of rows whose most probable class is the true one.

    Parameters
    ----------
    prediction, y
        The prediction, and a label (0, 1, …) for each of its points; so in all class metrics.

    Returns
    -------
    float
        Between 0 and 1.
    """
    return float((prediction.probabilities.argmax(axis=-1) == class_labels(prediction, y)).mean())


def class_nll(prediction: ClassPrediction, y: object) -> float:
    """Mean negative log predictive probability of the true class.

    Parameters
    ----------
    prediction, y
        The prediction, and a label for each of its points.

    Returns
    -------
    float
        In nats per point.
    """
    return -float(log_predictive_density(prediction, y).mean())


def expected_calibration_error(prediction: ClassPrediction, y: object, bins: int = 15) -> float:
    """Mean gap between confidence and accuracy, over bins of equal confidence (ECE).

    Parameters
    ----------
    prediction, y
        The prediction, and a label for each of its points.
    bins
        Number of bins of the confidence, the highest class probability.

    Returns
    -------
    float
        Between 0 and 1.
    """
    probabilities = np.asarray(prediction.probabilities)
    confidence = probabilities.max(axis=-1)
    right = probabilities.argmax(axis=-1) == np.asarray(class_labels(prediction, y))
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [
        abs(confidence[which == b].mean() - right[which == b].mean()) * (which == b).mean()
        for b in range(bins)
        if (which == b).any()
    ]
    return float(np.sum(gaps))


def classification_metrics(prediction: ClassPrediction, y: object) -> dict[str, float]:
    """All classification metrics, by name.

    Parameters
    ----------
    prediction, y
        The prediction, and a label for each of its points.

    Returns
    -------
    dict
        `accuracy`, `nll`, `ece`.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> found = classification_metrics(ClassPrediction(jnp.log(jnp.full((1, 2, 2), 0.5))), [0, 1])
    >>> found["accuracy"], round(found["nll"], 3)
    (0.5, 0.693)
    """
    return {
        "accuracy": accuracy(prediction, y),
        "nll": class_nll(prediction, y),
        "ece": expected_calibration_error(prediction, y),
    }


def auroc(inside: object, outside: object) -> float:
    """Area under the ROC curve of a score that is to detect out-of-distribution rows.

    Parameters
    ----------
    inside
        Scores of rows from the training distribution, such as their predictive entropies.
    outside
        Scores of other rows.

    Returns
    -------
    float
        The probability that a score of `outside` is above one of `inside`, ties counting half.

    Examples
    --------
    >>> auroc([0.1, 0.2], [0.2, 0.9])
    0.875
    """
    from sklearn.metrics import roc_auc_score

    scores = [np.asarray(checks.table(n, v))[:, 0] for n, v in
              (("inside", inside), ("outside", outside))]  # fmt: skip
    is_outside = np.repeat([0, 1], [len(part) for part in scores])
    return float(roc_auc_score(is_outside, np.concatenate(scores)))


def entropy_curve(entropy: object, classes: int, points: int = 101) -> Float[np.ndarray, " points"]:
    """Empirical distribution function of predictive entropies.

    Parameters
    ----------
    entropy
        One value per row.
    classes
        Number of classes; entropies go up to `log(classes)`.
    points
        Number of values from zero to there at which to evaluate it.

    Returns
    -------
    ndarray
        The share of entropies up to each value.

    Examples
    --------
    >>> entropy_curve([0.0, 0.3, 0.69], classes=2, points=3).round(2).tolist()
    [0.33, 0.67, 1.0]
    """
    values = np.sort(np.asarray(checks.table("entropy", entropy))[:, 0])
    at = np.linspace(0, np.log(checks.whole("classes", classes, least=2)), points)
    return np.searchsorted(values, at + 1e-6, side="right") / len(values)
