"""How good predictions of numbers are, and the density that scores all predictions."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp, ndtr
from jax.scipy.stats import norm
from jax.scipy.stats import t as student_t
from jaxtyping import Array, Float, Int

from goodprior import checks
from goodprior.inference.mixture_quantiles import central_cdf
from goodprior.inference.predictive import ClassPrediction, Prediction

LEVELS = np.linspace(0.05, 0.95, 19)  # of the central intervals in `calibration_error`
CRPS_NODES = 200  # distances from the observation, at which probabilities are looked at


def log_predictive_density(
    prediction: Prediction | ClassPrediction, y: object
) -> Float[Array, " points"]:
    """The log density (or probability) of each observation under the predictive mixture.

    Parameters
    ----------
    prediction
        What a posterior predicts: a mixture with one component per draw.
    y
        A row of targets, or a label, for each point.

    Returns
    -------
    Array
        One value per point. Several targets have one joint density: given a draw they are
        independent, but the mixture over draws is not.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> draws = jnp.array([[[0.0, 0.0]], [[10.0, 10.0]]])
    >>> log_predictive_density(Prediction(draws, jnp.ones((2, 1, 2))), [[0.0, 10.0]]).round(1)
    Array([-51.8], dtype=float32)
    """
    if isinstance(prediction, ClassPrediction):
        return prediction.log_prob(class_labels(prediction, y))
    prediction, targets = _centred(prediction, y)
    z = (targets - prediction.location) / prediction.scale
    degrees = prediction.degrees
    each = norm.logpdf(z) if degrees is None else student_t.logpdf(z, degrees)
    joint = (each - jnp.log(prediction.scale)).sum(axis=-1)
    return logsumexp(joint, axis=0) - jnp.log(len(joint))


def rmse(prediction: Prediction, y: object) -> float:
    """Root mean squared error of the predictive mean.

    Parameters
    ----------
    prediction, y
        The prediction, and a row of observed targets for each of its points; so in all metrics.

    Returns
    -------
    float
        In the targets' units.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> rmse(Prediction(jnp.zeros((1, 2, 1)), jnp.ones((1, 2, 1))), [3.0, 4.0])
    3.535...
    """
    prediction, targets = _centred(prediction, y)
    return float(jnp.sqrt(jnp.mean((prediction.mean - targets) ** 2)))


def nll(prediction: Prediction, y: object) -> float:
    """Mean negative log density of the observations under the predictive mixture.

    Several targets of a point have one joint density (`log_predictive_density`).

    Parameters
    ----------
    prediction, y
        The prediction, and a row of observed targets for each of its points.

    Returns
    -------
    float
        In nats per point.
    """
    return -float(log_predictive_density(prediction, y).mean())


def nll_moment(prediction: Prediction, y: object) -> float:
    """Mean negative log density under one Gaussian with the mixture's mean and variance.

    This is what the paper reports. Several targets count as independent.

    Parameters
    ----------
    prediction, y
        The prediction, and a row of observed targets for each of its points.

    Returns
    -------
    float
        In nats per point.
    """
    prediction, targets = _centred(prediction, y)
    return -float(prediction.log_prob_moment(targets).sum(axis=1).mean())


def crps(prediction: Prediction, y: object) -> float:
    """Continuous ranked probability score: the absolute error, generalised to distributions.

    Parameters
    ----------
    prediction, y
        The prediction, and a row of observed targets for each of its points.

    Returns
    -------
    float
        In the targets' units, a mean over points and targets.

    Notes
    -----
    The integral of the squared difference between the predictive CDF and the observed step, as
    `E|Y - y| - E|Y - Y'| / 2`. Of mixtures of Gaussians both means have a closed form (Grimit and
    others, Quarterly Journal of the Royal Meteorological Society 132, 2006); of Student-t noise
    the integral is taken by Gauss and Legendre's rule.
    """
    prediction, targets = _centred(prediction, y)
    if prediction.degrees is None:
        return float(_gaussian_crps(prediction, targets).mean())
    return float(_integrated_crps(prediction, targets).mean())


@eqx.filter_jit
def _integrated_crps(
    prediction: Prediction, y: Float[Array, "points targets"]
) -> Float[Array, "points targets"]:
    """The integral below and above the observation, over all distances from it by `t / (1 - t)`."""
    cdf = central_cdf(prediction.degrees)
    unit = prediction.std + jnp.abs(prediction.mean - y)
    nodes, weights = np.polynomial.legendre.leggauss(CRPS_NODES)

    def squares(at: tuple[Array, Array]) -> Array:
        t, weight = at
        distance, rate = unit * t / (1 - t), unit / (1 - t) ** 2
        below, above = (
            cdf((y + sign * distance - prediction.location) / prediction.scale).mean(axis=0)
            for sign in (-1, 1)
        )
        return weight * rate * (below**2 + (1 - above) ** 2)

    found = (jnp.asarray(0.5 * (nodes + 1), y.dtype), jnp.asarray(0.5 * weights, y.dtype))
    return jax.lax.map(squares, found).sum(axis=0)


@eqx.filter_jit
def _gaussian_crps(
    prediction: Prediction, y: Float[Array, "points targets"]
) -> Float[Array, "points targets"]:
    """The score of each point; pairs of draws are formed for one point at a time."""

    def one(point: tuple[Array, Array, Array]) -> Array:
        location, scale, y = point
        to_observation = _mean_absolute(location - y, scale).mean(axis=0)
        between = _mean_absolute(
            location[:, None] - location, jnp.sqrt(scale[:, None] ** 2 + scale**2)
        )
        return to_observation - 0.5 * between.mean(axis=(0, 1))

    by_point = (jnp.moveaxis(part, 1, 0) for part in (prediction.location, prediction.scale))
    return jax.lax.map(one, (*by_point, y))


def _mean_absolute(mean: Array, std: Array) -> Array:
    """The mean of the absolute value of a Gaussian."""
    z = mean / std
    return mean * (2 * ndtr(z) - 1) + 2 * std * norm.pdf(z)


def coverage(prediction: Prediction, y: object, level: float = 0.95) -> float:
    """The share of observations inside the central interval of this level.

    Parameters
    ----------
    prediction, y
        The prediction, and a row of observed targets for each of its points.
    level
        The interval's probability.

    Returns
    -------
    float
        Near `level` if predictions are calibrated.
    """
    prediction, target = _centred(prediction, y)
    low, high = prediction.interval(level)
    return float(((target >= low) & (target <= high)).mean())


def calibration_error(prediction: Prediction, y: object) -> float:
    """Mean gap between the levels of central intervals and the share of observations in them.

    Parameters
    ----------
    prediction, y
        The prediction, and a row of observed targets for each of its points.

    Returns
    -------
    float
        Between 0 and 1, over the levels 0.05, 0.1, …, 0.95.
    """
    prediction, target = _centred(prediction, y)
    distance = jnp.abs(2 * prediction.cdf(target) - 1)  # the level that just holds y
    inside = jnp.stack([(distance <= level).mean() for level in LEVELS])
    return float(jnp.abs(inside - LEVELS).mean())


def regression_metrics(prediction: Prediction, y: object) -> dict[str, float]:
    """All regression metrics, by name.

    Parameters
    ----------
    prediction, y
        The prediction, and a row of observed targets for each of its points.

    Returns
    -------
    dict
        `rmse`, `nll`, `nll_moment`, `crps`, `coverage_95`, `calibration_error`.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> prediction = Prediction(jnp.zeros((1, 2, 1)), jnp.ones((1, 2, 1)))
    >>> found = regression_metrics(prediction, [0.0, 1.0])
    >>> round(found["nll"], 3), found["coverage_95"]
    (1.169, 1.0)
    """
    return {
        "rmse": rmse(prediction, y),
        "nll": nll(prediction, y),
        "nll_moment": nll_moment(prediction, y),
        "crps": crps(prediction, y),
        "coverage_95": coverage(prediction, y),
        "calibration_error": calibration_error(prediction, y),
    }


def _centred(
    prediction: Prediction, y: object
) -> tuple[Prediction, Float[Array, "points targets"]]:
    """Prediction and targets, counted from the prediction's origin."""
    targets = np.asarray(y, np.float64)
    targets = targets[:, None] if targets.ndim == 1 else targets
    if targets.shape != prediction.location.shape[1:]:
        raise ValueError(
            f"y must have a row for each predicted point and a column for each target, "
            f"{prediction.location.shape[1:]}; its shape is {targets.shape}"
        )
    origin = 0.0 if prediction.origin is None else prediction.origin
    return prediction.centred, checks.table("y", targets - origin)


def class_labels(prediction: ClassPrediction, y: object) -> Int[Array, " points"]:
    """The labels, once they are known to fit the prediction."""
    _, points, classes = prediction.log_probabilities.shape
    labels = checks.labels("y", y, classes)
    if len(labels) != points:
        raise ValueError(
            f"y must have a label for each of the {points} points, it has {len(labels)}"
        )
    return labels
