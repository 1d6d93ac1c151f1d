"""Likelihoods: how a network's outputs explain the targets (paper, appendix A.2)."""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from jax.scipy.stats import t as student_t
from jaxtyping import Array, Float, Int, PRNGKeyArray

from goodprior import checks
from goodprior.data.scaling import Scaling
from goodprior.inference.predictive import ClassPrediction, Prediction


class Likelihood(eqx.Module):
    """The contract: targets are checked once, their density is stated for one row.

    Examples
    --------
    >>> likelihood: Likelihood = Gaussian(0.01)
    >>> likelihood.targets([1.0, 2.0]).shape
    (2, 1)
    >>> round(float(likelihood.log_prob(jnp.array([1.0]), jnp.array([1.1]))), 3)
    0.884
    """

    is_classification: ClassVar[bool] = False

    @abstractmethod
    def targets(self, y: object) -> Array:
        """The targets as an array with one row each, or a `ValueError` that says what is wrong."""

    def scaled_targets(self, y: object, scaling: Scaling | None) -> Array:
        """The same for targets on their original scale, if there is a scaling."""
        return self.targets(y if scaling is None else scaling.targets(y))

    @abstractmethod
    def outputs(self, targets: int) -> int:
        """How many outputs the network needs for so many targets."""

    @abstractmethod
    def log_prob(self, output: Float[Array, " out"], y: Array) -> Float[Array, ""]:
        """The log density of one row's target given the network's outputs there."""

    @abstractmethod
    def predict(self, functions: Float[Array, "draws points out"]) -> Prediction | ClassPrediction:
        """The prediction that function draws make."""

    def sample(self, key: PRNGKeyArray, outputs: Float[Array, "rows out"]) -> Array:
        """Targets of rows, simulated from the network's outputs there: those of a prediction."""
        return jnp.asarray(self.predict(outputs[None]).sample(key)[0])


class Gaussian(Likelihood):
    """Gaussian noise of a known variance, the same everywhere.

    Parameters
    ----------
    noise_variance
        On the scale of the targets that the network sees.

    Examples
    --------
    >>> Gaussian(0.1).outputs(1)
    1
    """

    noise_variance: float

    def __check_init__(self):
        checks.positive("noise_variance", self.noise_variance)

    def targets(self, y: object) -> Float[Array, "rows targets"]:
        return checks.table("y", y)

    def outputs(self, targets: int) -> int:
        return targets

    def log_prob(self, output: Float[Array, " out"], y: Float[Array, " out"]) -> Float[Array, ""]:
        return norm.logpdf(y, output, self.noise_variance**0.5).sum()

    def predict(self, functions: Float[Array, "draws points out"]) -> Prediction:
        return Prediction(functions, jnp.full_like(functions, self.noise_variance**0.5))


class StudentT(Likelihood):
    """Student-t noise: robust to outliers. `scale` is the noise scale, not its deviation.

    Parameters
    ----------
    scale
        Of the noise, on the scale of the targets that the network sees.
    degrees
        Of freedom, above 2.

    Examples
    --------
    >>> far = [float(each.log_prob(jnp.zeros(1), jnp.full(1, 5.0))) for each in
    ...        (StudentT(1.0), Gaussian(1.0))]
    >>> far[0] > far[1]  # an outlier surprises it less
    True
    """

    scale: float
    degrees: float = 4.0

    def __check_init__(self):
        checks.positive("scale", self.scale)
        _check_degrees(self.degrees)

    def targets(self, y: object) -> Float[Array, "rows targets"]:
        return checks.table("y", y)

    def outputs(self, targets: int) -> int:
        return targets

    def log_prob(self, output: Float[Array, " out"], y: Float[Array, " out"]) -> Float[Array, ""]:
        return student_t.logpdf(y, self.degrees, output, self.scale).sum()

    def predict(self, functions: Float[Array, "draws points out"]) -> Prediction:
        return Prediction(functions, jnp.full_like(functions, self.scale), self.degrees)


class Heteroscedastic(Likelihood):
    """Noise whose variance is the network's to say, Gaussian or Student-t.

    The first half of the outputs are means, the second half log variances, in units of
    `typical_variance`. With the prior wrapped in `LearnedNoise` the log variances are constants
    that are sampled with the weights; with a network of twice the outputs, and a belief for them,
    they depend on the input.

    The variance is kept above `least_variance`, so that a few rows explained perfectly cannot run
    the density up without limit.

    Parameters
    ----------
    least_variance
        Of the noise, or one for each target.
    typical_variance
        Where the log variance is zero.
    degrees
        Of freedom of Student-t noise, above 2; its squared scale stands for the variance then
        (None: the noise is Gaussian).

    Examples
    --------
    >>> likelihood = Heteroscedastic()
    >>> prediction = likelihood.predict(jnp.array([[[3.0, jnp.log(4.0)]]]))
    >>> likelihood.outputs(1), float(prediction.mean[0, 0]), round(float(prediction.std[0, 0]), 3)
    (2, 3.0, 2.0)
    """

    least_variance: float | tuple[float, ...] = 1e-6
    typical_variance: float = 1.0
    degrees: float | None = None

    def __check_init__(self):
        for least in np.atleast_1d(np.asarray(self.least_variance, object)):
            checks.positive("least_variance", least)
        checks.positive("typical_variance", self.typical_variance)
        if self.degrees is not None:
            _check_degrees(self.degrees)

    def targets(self, y: object) -> Float[Array, "rows targets"]:
        return checks.table("y", y)

    def outputs(self, targets: int) -> int:
        return 2 * targets

    def _split(self, outputs: Float[Array, "*shape out"]) -> tuple[Array, Array]:
        mean, log_variance = jnp.split(outputs, 2, axis=-1)
        variance = self.typical_variance * jnp.exp(log_variance)
        return mean, jnp.sqrt(variance + jnp.asarray(self.least_variance))

    def log_prob(
        self, output: Float[Array, " out"], y: Float[Array, " targets"]
    ) -> Float[Array, ""]:
        mean, std = self._split(output)
        if self.degrees is None:
            return norm.logpdf(y, mean, std).sum()
        return student_t.logpdf(y, self.degrees, mean, std).sum()

    def predict(self, functions: Float[Array, "draws points out"]) -> Prediction:
        return Prediction(*self._split(functions), self.degrees)


class Categorical(Likelihood):
    """Classes 0 … classes - 1 with softmax probabilities, one output per class.

    Parameters
    ----------
    classes
        How many.

    Examples
    --------
    >>> prediction = Categorical(3).predict(jnp.zeros((2, 1, 3)))
    >>> prediction.probabilities.round(3).tolist()
    [[0.333..., 0.333..., 0.333...]]
    """

    is_classification: ClassVar[bool] = True

    classes: int = eqx.field(static=True)

    def __check_init__(self):
        checks.whole("classes", self.classes, least=2)

    def targets(self, y: object) -> Int[Array, " rows"]:
        return checks.labels("y", y, self.classes)

    def outputs(self, targets: int) -> int:
        return self.classes

    def log_prob(self, output: Float[Array, " out"], y: Int[Array, ""]) -> Float[Array, ""]:
        return jax.nn.log_softmax(output)[y]

    def predict(self, functions: Float[Array, "draws points out"]) -> ClassPrediction:
        return ClassPrediction(jax.nn.log_softmax(functions, axis=-1))


class Binary(Likelihood):
    """Two classes, 0 and 1, with one output: the logit of class 1.

    Examples
    --------
    >>> Binary().predict(jnp.zeros((2, 1, 1))).probabilities.tolist()
    [[0.5, 0.5]]
    """

    is_classification: ClassVar[bool] = True

    def targets(self, y: object) -> Int[Array, " rows"]:
        return checks.labels("y", y, 2)

    def outputs(self, targets: int) -> int:
        return 1

    def log_prob(self, output: Float[Array, " out"], y: Int[Array, ""]) -> Float[Array, ""]:
        return jax.nn.log_sigmoid(jnp.where(y == 1, output[0], -output[0]))

    def predict(self, functions: Float[Array, "draws points out"]) -> ClassPrediction:
        return ClassPrediction(
            jnp.concatenate([jax.nn.log_sigmoid(-functions), jax.nn.log_sigmoid(functions)], -1)
        )


def _check_degrees(degrees: float) -> None:
    if not 2 < degrees < float("inf"):
        raise ValueError(f"degrees must be above 2 (a finite variance), got {degrees!r}")
