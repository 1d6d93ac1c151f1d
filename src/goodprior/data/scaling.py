"""Standardising inputs and targets with the statistics of the training rows."""

from collections.abc import Iterator

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from goodprior import checks


class Scaling(eqx.Module):
    """Means and standard deviations of the training rows; constant columns are left unscaled.

    Images (rows, height, width, channels) are scaled by channel, over all rows and pixels.

    Parameters
    ----------
    x_mean, x_std : ndarray
        Of each input.
    y_mean, y_std : ndarray
        Of each target.

    Examples
    --------
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
        """The scaling of these rows.

        Parameters
        ----------
        X : array_like
            A table, or images.
        y : array_like, optional
            Targets; without them (classification) targets are left unscaled.
        """
        targets = (np.zeros(1), np.ones(1)) if y is None else _moments("y", y)
        return cls(*_moments("X", _as_table(X)), *targets)

    def with_targets(
        self, mean: Float[np.ndarray, " targets"], std: Float[np.ndarray, " targets"]
    ) -> "Scaling":
        """The same inputs, with other scales of targets."""
        return Scaling(self.x_mean, self.x_std, np.asarray(mean), np.asarray(std))

    def inputs(self, X: object) -> Float[Array, "rows ..."]:
        """Inputs in units of training standard deviations."""
        shape = checks.rows("X", X).shape
        wide = (_wide("X", _as_table(X), len(self.x_mean)) - self.x_mean) / self.x_std
        return checks.rows("X", wide.reshape(shape))

    def targets(self, y: object) -> Float[Array, "rows targets"]:
        """Targets in units of training standard deviations, one column per target."""
        return checks.matrix("y", (_wide("y", y, len(self.y_mean)) - self.y_mean) / self.y_std)


def _as_table(X: object) -> object:
    """Images as a table with a row for each pixel and a column for each channel."""
    array = np.asanyarray(X)
    return array.reshape(-1, array.shape[-1]) if array.ndim == 4 else X


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
    name: str, values: object
) -> tuple[Float[np.ndarray, " columns"], Float[np.ndarray, " columns"]]:
    if isinstance(values, np.memmap):
        mean, std = _moments_on_disk(values.reshape(len(values), -1))
    else:
        if name == "X":
            checks.matrix(name, values)
        wide = _wide(name, values)
        mean, std = wide.mean(axis=0), wide.std(axis=0)
    constant = std <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return mean, np.where(constant, 1.0, std)


def _moments_on_disk(
    values: Float[np.ndarray, "rows columns"], rows: int = 65_536
) -> tuple[Float[np.ndarray, " columns"], Float[np.ndarray, " columns"]]:
    """Mean and standard deviation in two passes, a block of rows at a time."""

    def blocks() -> Iterator[Float[np.ndarray, "block columns"]]:
        return (np.asarray(values[i : i + rows], np.float64) for i in range(0, len(values), rows))

    mean = np.sum([block.sum(axis=0) for block in blocks()], axis=0) / len(values)
    squares = np.sum([((block - mean) ** 2).sum(axis=0) for block in blocks()], axis=0)
    return mean, np.sqrt(squares / len(values))
