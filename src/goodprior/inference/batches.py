"""Where minibatches come from: arrays in memory, or a table on disk that is larger than memory."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from goodprior.data.scaling import Scaling
from goodprior.inference.likelihoods import Likelihood

AnyArray = Array | np.ndarray


class InMemory(NamedTuple):
    """All rows on the device; batches are gathered inside the compiled loop.

    Where rows have weights, a batch has them after inputs and targets.
    """

    X: Array
    y: Array
    row_weights: Float[Array, " rows"] | None = None

    @property
    def rows(self) -> int:
        return len(self.X)

    @property
    def batch(self) -> tuple[Array, ...]:
        """All rows as one batch."""
        return tuple(part for part in self if part is not None)

    def gather(self, rows: Int[AnyArray, "..."]) -> tuple[AnyArray, ...]:
        """These rows as a batch."""
        return tuple(part[rows] for part in self.batch)

    def part(self, rows: Int[AnyArray, " some"]) -> "InMemory":
        """These rows alone."""
        row_weights = None if self.row_weights is None else self.row_weights[rows]
        return InMemory(self.X[rows], self.y[rows], row_weights)


class OnDisk:
    """A `numpy.memmap`: a chunk's batches are gathered on the host and scanned over.

    Only the rows that are drawn are ever read, scaled and checked, so memory does not grow with
    the table.
    """

    def __init__(
        self, X: np.memmap, y: np.ndarray, scaling: Scaling | None, likelihood: Likelihood
    ):
        if X.ndim not in (2, 4) or len(X) != len(y):
            raise ValueError(
                f"X on disk must be a table (or images) with as many rows as y has: {X.shape} and "
                f"{y.shape}"
            )
        self.X, self.y, self.scaling, self.likelihood = X, y, scaling, likelihood

    @property
    def rows(self) -> int:
        return len(self.X)

    def gather(self, rows: Int[np.ndarray, "..."]) -> tuple[AnyArray, ...]:
        """These rows of inputs and targets; the disk is read in order."""
        which, back = np.unique(np.asarray(rows), return_inverse=True)
        X, y = np.asarray(self.X[which]), np.asarray(self.y[which])
        if self.scaling is not None:
            X = self.scaling.inputs(X)
        X, y = np.asarray(X, np.float32), self.likelihood.scaled_targets(y, self.scaling)
        y = np.asarray(y)
        if not np.isfinite(X).all():
            raise ValueError(
                "X must be finite; some of the rows on disk have NaN or infinite values"
            )
        back = back.reshape(rows.shape)
        return X[back], y[back]


Data = InMemory | OnDisk


def probe_rows(rows: int, points: int) -> Int[np.ndarray, " points"]:
    """Evenly spread rows at which functions are traced."""
    return np.arange(0, rows, max(1, rows // points))[:points]


def first_row(data: Data) -> tuple[Float[Array, " ..."], Array]:
    """One row, to see how networks and likelihoods take it."""
    X, y, *_ = data.gather(np.zeros(1, int))
    return jnp.asarray(X[0]), jnp.asarray(y[0])
