"""Noise whose size is known for each row, such as that of an instrument."""

import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import Array, Float

from goodprior import checks
from goodprior.data.scaling import Scaling
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.predictive import Prediction


class KnownNoise(Likelihood):
    """Gaussian noise of a known standard deviation in each row.

    A row of `y` has the targets first, and then the standard deviation of each target's noise.

    Parameters
    ----------
    typical
        Standard deviation of each target's noise in rows to predict, where nothing else is said.

    Examples
    --------
    >>> likelihood = KnownNoise((0.5,))
    >>> y = likelihood.targets([[1.0, 0.1], [2.0, 3.0]])
    >>> densities = [likelihood.log_prob(jnp.zeros(1), row) for row in y]
    >>> likelihood.outputs(2), [round(float(density), 2) for density in densities]
    (1, [-48.62, -2.24])
    """

    typical: tuple[float, ...]

    def __check_init__(self):
        for value in self.typical:
            checks.positive("typical", value)

    def targets(self, y: object) -> Float[Array, "rows columns"]:
        self._check_width(np.shape(y))  # type: ignore[arg-type]
        found = checks.matrix("y", y)
        if not bool((found[:, len(self.typical) :] > 0).all()):
            raise ValueError("the noise's standard deviations in y must be above zero")
        return found

    def scaled_targets(self, y: object, scaling: Scaling | None) -> Float[Array, "rows columns"]:
        if scaling is None:
            return self.targets(y)
        self._check_width(np.shape(y))  # type: ignore[arg-type]
        numbers, noise = np.split(np.asarray(y, np.float64), 2, axis=1)
        parts = [np.asarray(scaling.targets(numbers)), noise / scaling.y_std]
        return self.targets(np.concatenate(parts, axis=1))

    def _check_width(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or shape[1] != 2 * len(self.typical):
            raise ValueError(
                "the noise of each row is known, so y needs a column with its standard deviation "
                f"beside each of the {len(self.typical)} targets (noise_std); its shape is {shape}"
            )

    def outputs(self, targets: int) -> int:
        return targets // 2

    def log_prob(self, output: Float[Array, " out"], y: Float[Array, " columns"]) -> Array:
        numbers, noise = jnp.split(y, 2)
        return norm.logpdf(numbers, output, noise).sum()

    def predict(self, functions: Float[Array, "draws points out"]) -> Prediction:
        scale = jnp.broadcast_to(jnp.asarray(self.typical, functions.dtype), functions.shape)
        return Prediction(functions, scale)
