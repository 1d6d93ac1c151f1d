"""Predictions: mixtures over posterior draws, for numbers and for classes.

Intervals for the function and for an observation are two things: the first says where the curve
is, the second where the next measurement will fall.
"""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp, xlogy
from jax.scipy.stats import norm
from jax.scipy.stats import t as student_t
from jaxtyping import Array, Float, Int

from goodprior import checks
from goodprior.inference.mixture_quantiles import mixture_quantiles, noise_cdf

Of = Literal["observation", "function"]
AnyArray = Array | np.ndarray


class Prediction(eqx.Module):
    """A mixture with one component per posterior draw: location plus scale times noise.

    The noise is Gaussian, or Student-t with `degrees` degrees of freedom. `location` holds the
    function draws themselves, from the `origin` of each target (None: zero): targets far from zero
    keep their digits, which single precision does not have.

    Parameters
    ----------
    location, scale
        Of each draw at each point: (draws, points, targets).
    degrees
        Of freedom of Student-t noise (None: it is Gaussian).

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> p = Prediction(jnp.array([[[0.0]], [[2.0]]]), jnp.ones((2, 1, 1)))
    >>> p.mean.item(), p.function_std.item(), round(p.std.item(), 4)
    (1.0, 1.0, 1.4142)
    """

    location: Float[Array, "draws points targets"]
    scale: Float[Array, "draws points targets"]
    degrees: float | None = None
    origin: Float[np.ndarray, " targets"] | None = None

    @property
    def centred(self) -> "Prediction":
        """The same prediction for targets that are counted from the origin."""
        return Prediction(self.location, self.scale, self.degrees)

    @property
    def functions(self) -> Float[AnyArray, "draws points targets"]:
        """The function draws."""
        return self._from_zero(self.location)

    @property
    def mean(self) -> Float[AnyArray, "points targets"]:
        """The predictive mean."""
        return self._from_zero(self.location.mean(axis=0))

    def _from_zero(self, values: Array) -> AnyArray:
        return values if self.origin is None else self.origin + np.asarray(values, np.float64)

    def _from_origin(self, y: AnyArray) -> Array:
        return jnp.asarray(y if self.origin is None else np.asarray(y, np.float64) - self.origin)

    @property
    def function_std(self) -> Float[Array, "points targets"]:
        """The standard deviation of the function, without observation noise."""
        return self.location.std(axis=0)

    @property
    def std(self) -> Float[Array, "points targets"]:
        """The standard deviation of an observation: function and noise."""
        heavier = 1.0 if self.degrees is None else self.degrees / (self.degrees - 2)
        return jnp.sqrt(self.function_std**2 + heavier * (self.scale**2).mean(axis=0))

    def log_prob(self, y: Float[AnyArray, "points targets"]) -> Float[Array, "points targets"]:
        """The log density of observations under the mixture."""
        z = (self._from_origin(y) - self.location) / self.scale
        each = norm.logpdf(z) if self.degrees is None else student_t.logpdf(z, self.degrees)
        return logsumexp(each - jnp.log(self.scale), axis=0) - jnp.log(len(self.location))

    def log_prob_moment(
        self, y: Float[AnyArray, "points targets"]
    ) -> Float[Array, "points targets"]:
        """The log density under one Gaussian with the mixture's mean and variance (the paper's)."""
        return norm.logpdf(self._from_origin(y), self.centred.mean, self.std)

    def cdf(self, y: Float[AnyArray, "points targets"]) -> Float[Array, "points targets"]:
        """The probability that an observation falls below `y`."""
        z = (self._from_origin(y) - self.location) / self.scale
        return noise_cdf(self.degrees)(z).mean(axis=0)

    def quantiles(
        self, levels: Float[np.ndarray, " levels"] | list[float], of: Of = "observation"
    ) -> Float[AnyArray, "levels points targets"]:
        """Quantiles of an observation, or of the function."""
        levels = np.asarray(levels, np.float64)
        if not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"quantile levels must lie strictly between 0 and 1, got {levels}")
        narrow = jnp.asarray(levels, jnp.float32)
        if checks.one_of("of", of, ("observation", "function")) == "function":
            return self._from_zero(jnp.quantile(self.location, narrow, axis=0))
        return self._from_zero(mixture_quantiles(self.location, self.scale, narrow, self.degrees))

    def interval(
        self, level: float = 0.95, of: Of = "observation"
    ) -> tuple[Float[AnyArray, "points targets"], Float[AnyArray, "points targets"]]:
        """The central interval that holds a share `level` of the probability."""
        low, high = self.quantiles([(1 - level) / 2, (1 + level) / 2], of)
        return low, high

    def probability(
        self, *, above: float | None = None, below: float | None = None, of: Of = "observation"
    ) -> Float[np.ndarray, "points targets"]:
        """The probability that an observation, or the function, is above and below thresholds.

        The probability of each draw, averaged over draws; in the tails it is computed on the side
        that is small, so that rare events keep their digits.
        """
        low, high = thresholds(above, below)
        if checks.one_of("of", of, ("observation", "function")) == "function":
            functions = np.asarray(self.functions)
            return ((functions > low) & (functions < high)).mean(axis=0)
        if high == np.inf:
            flipped = Prediction(-self.location, self.scale, self.degrees, self._flipped_origin)
            return np.asarray(flipped.cdf(np.full(self.location.shape[1:], -low)), np.float64)
        upper = np.asarray(self.cdf(np.full(self.location.shape[1:], high)), np.float64)
        if low == -np.inf:
            return upper
        lower = np.asarray(self.cdf(np.full(self.location.shape[1:], low)), np.float64)
        return np.maximum(upper - lower, 0.0)

    @property
    def _flipped_origin(self) -> np.ndarray | None:
        return None if self.origin is None else -self.origin

    def sample(self, key: Array) -> Float[AnyArray, "draws points targets"]:
        """One observation per draw and point."""
        if self.degrees is None:
            noise = jax.random.normal(key, self.location.shape)
        else:
            noise = jax.random.t(key, self.degrees, self.location.shape)
        return self._from_zero(self.location + self.scale * noise)

    def rescale(self, mean: np.ndarray, std: np.ndarray) -> "Prediction":
        """The same prediction for targets `mean + std * y`."""
        s = jnp.asarray(std, jnp.float32)
        origin = np.asarray(mean, np.float64)
        return Prediction(self.location * s, self.scale * s, self.degrees, origin)


def thresholds(above: float | None, below: float | None) -> tuple[float, float]:
    """The thresholds of an event as its ends, infinite where there is none.

    Examples
    --------
    >>> thresholds(1.0, None)
    (1.0, inf)
    """
    if above is None and below is None:
        raise ValueError("say which event is meant: above, below, or both for between")
    for name, value in (("above", above), ("below", below)):
        if value is not None and not np.isfinite(value):
            raise ValueError(f"{name} must be a finite number; got {value!r}")
    low = -np.inf if above is None else float(above)
    high = np.inf if below is None else float(below)
    if not low < high:
        raise ValueError(
            f"above must be less than below, got {low:g} and {high:g}: no number is above the one "
            "and below the other"
        )
    return low, high


class ClassPrediction(eqx.Module):
    """Class probabilities of every posterior draw.

    Parameters
    ----------
    log_probabilities
        Of each draw at each point: (draws, points, classes).

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> p = ClassPrediction(jnp.log(jnp.array([[[0.9, 0.1]], [[0.1, 0.9]]])))
    >>> p.probabilities.round(2).tolist(), bool(p.mutual_information[0] > 0.3)
    ([[0.5, 0.5]], True)
    """

    log_probabilities: Float[Array, "draws points classes"]

    def rescale(self, mean: np.ndarray, std: np.ndarray) -> "ClassPrediction":
        """The same prediction: classes have no units."""
        return self

    @property
    def probabilities(self) -> Float[Array, "points classes"]:
        """The predictive probabilities, averaged over draws."""
        return jnp.exp(self.log_probabilities).mean(axis=0)

    @property
    def entropy(self) -> Float[Array, " points"]:
        """The entropy of the predictive probabilities, in nats: all uncertainty."""
        return _entropy(self.probabilities)

    def sample(self, key: Array) -> Int[Array, "draws points"]:
        """One label per draw and point."""
        return jax.random.categorical(key, self.log_probabilities)

    @property
    def mutual_information(self) -> Float[Array, " points"]:
        """How much a label would tell about the function: what more data could remove."""
        return self.entropy - _entropy(jnp.exp(self.log_probabilities)).mean(axis=0)

    def log_prob(self, y: Array) -> Float[Array, " points"]:
        """The log probability of the labels, `y` in 0 … classes - 1."""
        picked = jnp.take_along_axis(self.log_probabilities, y[None, :, None], axis=-1)[..., 0]
        return logsumexp(picked, axis=0) - jnp.log(len(self.log_probabilities))


def _entropy(probabilities: Float[Array, "*shape classes"]) -> Float[Array, "*shape"]:
    return -xlogy(probabilities, probabilities).sum(axis=-1)
