"""Networks on many rows, and normalisation by what the rows of a batch have in common.

A network is written for one example. With `BatchNorm` in it, its output also depends on the other
rows of the batch: `outputs` evaluates all rows together. For predictions the statistics are taken
once from a fixed set of rows (`batch_statistics`) and put in (`with_statistics`).
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from goodprior.networks.architecture import layers

BATCH = "batch"  # the name of the axis over rows


class Statistics(NamedTuple):
    """Mean and variance of each channel, over rows and positions."""

    mean: Float[Array, " channels"]
    variance: Float[Array, " channels"]


class BatchNorm(eqx.Module):
    """Normalise each channel by its mean and variance over the rows of a batch and all positions.

    Scale and shift are fixed at 1 and 0 and nothing is random (paper, appendix A.7).

    Parameters
    ----------
    statistics : Statistics, optional
        Used in place of the batch's, so that rows do not depend on each other.

    Examples
    --------
    >>> import jax
    >>> x = 3 + 2 * jax.random.normal(jax.random.key(0), (50, 4, 4, 2))
    >>> normal = outputs(BatchNorm(), x)
    >>> bool(abs(normal.mean()) < 1e-5), round(float(normal.std()), 3)
    (True, 1.0)
    """

    statistics: Statistics | None = None

    def __call__(self, x: Float[Array, "*positions channels"]) -> Float[Array, "..."]:
        mean, variance = self.statistics or _statistics(x)
        scale = jax.lax.rsqrt(variance + 1e-5)
        return x * scale - mean * scale


def _statistics(x: Float[Array, "*positions channels"]) -> Statistics:
    """In one pass over x, with the mean of one position as a first guess of the mean.

    The difference of squares would lose all digits where the mean is far from zero.
    """
    positions = tuple(range(x.ndim - 1))
    guess = jax.lax.stop_gradient(jax.lax.pmean(x[(0,) * len(positions)], BATCH))
    away = x - guess
    mean, square = (jax.lax.pmean(a.mean(positions), BATCH) for a in (away, away**2))
    return Statistics(guess + mean, jnp.maximum(square - mean**2, 0.0))


def outputs(network: PyTree, x: Float[Array, "rows ..."]) -> Float[Array, "rows ..."]:
    """The network's outputs for the rows, which are one batch.

    Parameters
    ----------
    network : PyTree
        A network written for one row.
    x : Array
        The rows of the batch.

    Returns
    -------
    Array
        A row of outputs for each.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> outputs(MLP(2, (5,), 1, key=jax.random.key(0)), jax.numpy.zeros((7, 2))).shape
    (7, 1)
    """
    return jax.vmap(network, axis_name=BATCH)(x)


def batch_statistics(network: PyTree, x: Float[Array, "rows ..."]) -> list[Statistics]:
    """What each `BatchNorm` finds when these rows are the batch, in the order of the leaves.

    Parameters
    ----------
    network : PyTree
        A network written for one row.
    x : Array
        The rows of the batch.

    Returns
    -------
    list of Statistics
        One for each `BatchNorm`; empty for a network without.

    Raises
    ------
    ValueError
        If the network does not use each of them once.
    """
    if not has_batch_norm(network):
        return []

    def one_row(row: Array) -> list[Statistics]:
        found: list[list[Statistics]] = [[] for _ in _norms(network)]
        eqx.tree_at(_norms, network, [_recording(into) for into in found])(row)
        if any(len(each) != 1 for each in found):
            raise ValueError("a network with batch normalisation must use each such layer once")
        return [each[0] for each in found]

    return jax.vmap(one_row, out_axes=None, axis_name=BATCH)(x)


def _recording(into: list[Statistics]) -> Callable[[Array], Array]:
    """A stand-in for a `BatchNorm` that also records the statistics, for use in one trace."""

    def normalise(x: Array) -> Array:
        into.append(_statistics(x))
        return BatchNorm(into[-1])(x)

    return normalise


def with_statistics(network: PyTree, statistics: list[Statistics]) -> PyTree:
    """The network with these statistics in its `BatchNorm` layers, whatever the batch.

    Parameters
    ----------
    network : PyTree
        A network written for one row.
    statistics : list of Statistics
        As `batch_statistics` gives them.

    Returns
    -------
    PyTree
        The network, for single rows.

    Examples
    --------
    >>> import jax
    >>> x = jax.numpy.arange(10.0)[:, None]
    >>> fixed = with_statistics(BatchNorm(), batch_statistics(BatchNorm(), x))
    >>> fixed(x[3]).item() == outputs(BatchNorm(), x)[3].item()
    True
    """
    if not statistics:
        return network
    return eqx.tree_at(_norms, network, [BatchNorm(s) for s in statistics])


def has_batch_norm(network: PyTree) -> bool:
    """Whether the outputs for a row depend on the other rows of its batch."""
    return bool(_norms(network))


def _norms(network: PyTree) -> list[BatchNorm]:
    return layers(network, BatchNorm)
