"""Standardising inputs and targets with the statistics of the training rows."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from goodprior import checks


class Scaling(eqx.Module):
    """Means and standard deviations of the training rows; constant columns are left unscaled.

    >>> import numpy as np
    >>> scaling = Scaling.fit(np.array([[1.0], [3.0]]), np.array([10.0, 30.0]))
    >>> scaling.inputs(np.array([[3.0]])).item(), scaling.targets(np.array([10.0])).item()
    (1.0, -1.0)
    """

    x_mean: Float[np.ndarray, " in"] = eqx.field(converter=np.asarray)
    x_std: Float[np.ndarray, " in"] = eqx.field(converter=np.asarray)
    y_mean: Float[np.ndarray, " targets"] = eqx.field(converter=np.asarray)
    y_std: Float[np.ndarray, " targets"] = eqx.field(converter=np.asarray)

    @classmethod
    def fit(cls, X: object, y: object | None = None) -> "Scaling":
        """The scaling of these rows; without `y` (classification) targets are left alone."""
        x_mean, x_std = _moments(X)
        y_mean, y_std = (np.zeros(1), np.ones(1)) if y is None else _moments(y)
        return cls(x_mean, x_std, y_mean, y_std)

    def inputs(self, X: object) -> Float[Array, "rows in"]:
        """Inputs in units of training standard deviations."""
        wide = np.asarray(X, np.float64)
        if wide.ndim != 2 or wide.shape[1] != len(self.x_mean):
            raise ValueError(
                f"X must have {len(self.x_mean)} columns, as in training; its shape is {wide.shape}"
            )
        return checks.matrix("X", (wide - self.x_mean) / self.x_std)

    def targets(self, y: object) -> Float[Array, "rows targets"]:
        """Targets in units of training standard deviations, one column per target."""
        return checks.table("y", (_columns(y) - self.y_mean) / self.y_std)


def _columns(values: object) -> Float[np.ndarray, "rows columns"]:
    wide = np.asarray(values, np.float64)
    return wide[:, None] if wide.ndim == 1 else wide


def _moments(values: object) -> tuple[np.ndarray, np.ndarray]:
    wide = _columns(values)
    mean, std = wide.mean(axis=0), wide.std(axis=0)
    constant = std <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return mean, np.where(constant, 1.0, std)


def unstandardise(values: Array, scaling: Scaling) -> Array:
    """Targets back on their own scale."""
    return values * jnp.asarray(scaling.y_std, values.dtype) + jnp.asarray(
        scaling.y_mean, values.dtype
    )
