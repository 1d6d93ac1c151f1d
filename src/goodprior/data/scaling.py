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
        checks.matrix("X", X)
        targets = (np.zeros(1), np.ones(1)) if y is None else _moments(_wide("y", y))
        return cls(*_moments(_wide("X", X)), *targets)

    def inputs(self, X: object) -> Float[Array, "rows in"]:
        """Inputs in units of training standard deviations."""
        checks.matrix("X", X)
        return checks.matrix("X", (_wide("X", X, len(self.x_mean)) - self.x_mean) / self.x_std)

    def targets(self, y: object) -> Float[Array, "rows targets"]:
        """Targets in units of training standard deviations, one column per target."""
        return checks.matrix("y", (_wide("y", y, len(self.y_mean)) - self.y_mean) / self.y_std)


def _wide(
    name: str, values: object, columns: int | None = None
) -> Float[np.ndarray, "rows columns"]:
    """The table in double precision, once it is known to be one; a vector is one column."""
    checks.table(name, values)
    wide = np.asarray(values, np.float64)
    wide = wide[:, None] if wide.ndim == 1 else wide
    if columns is not None and wide.shape[1] != columns:
        raise ValueError(
            f"{name} must have {columns} columns, as in training; its shape is {wide.shape}"
        )
    return wide


def _moments(
    wide: Float[np.ndarray, "rows columns"],
) -> tuple[Float[np.ndarray, " columns"], Float[np.ndarray, " columns"]]:
    mean, std = wide.mean(axis=0), wide.std(axis=0)
    constant = std <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return mean, np.where(constant, 1.0, std)


def unstandardise(values: Array, scaling: Scaling) -> Array:
    """Targets back on their own scale."""
    return values * jnp.asarray(scaling.y_std, values.dtype) + jnp.asarray(
        scaling.y_mean, values.dtype
    )
