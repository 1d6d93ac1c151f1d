"""Whether rows, network and likelihood fit each other, before anything is compiled."""

import jax
import numpy as np
from jaxtyping import Array, Float

from goodprior import checks
from goodprior.data.scaling import Scaling
from goodprior.inference.batches import Data, InMemory, OnDisk, first_row
from goodprior.inference.likelihoods import Likelihood
from goodprior.networks import outputs
from goodprior.priors import Prior
from goodprior.priors.base import Latent


def training_data(
    prior: Prior,
    likelihood: Likelihood,
    X: object,
    y: object,
    scaling: Scaling | None,
    row_weights: object = None,
) -> Data:
    """The rows in the network's units, once they are known to fit network and likelihood."""
    if isinstance(X, np.memmap):
        data = OnDisk(X, np.asanyarray(y), scaling, likelihood)
    else:
        X = scaled_inputs(X, scaling)
        data = InMemory(X, likelihood.scaled_targets(y, scaling), _row_weights(row_weights))
        if len(data.X) != len(data.y):
            raise ValueError(f"X and y must have as many rows: {len(data.X)} and {len(data.y)}")
        if data.row_weights is not None and len(data.row_weights) != len(data.X):
            raise ValueError(f"row_weights must have {len(data.X)} entries, one for each row of X")
    x, target = first_row(data)
    latent = jax.eval_shape(prior.sample, jax.random.key(0))
    shape = output_shape(prior, latent, x)
    needed = likelihood.outputs(1 if target.ndim == 0 else len(target))
    if shape != (needed,):
        raise ValueError(
            f"{type(likelihood).__name__} needs a network with {needed} outputs for these "
            f"targets, but it returns {shape}"
        )
    return data


def scaled_inputs(X: object, scaling: Scaling | None) -> Float[Array, "rows ..."]:
    """The inputs in the network's units, once they are known to be finite numbers."""
    return checks.rows("X", X) if scaling is None else scaling.inputs(X)


def new_inputs(
    prior: Prior, latent: Latent, X: object, scaling: Scaling | None
) -> Float[Array, "rows ..."]:
    """Inputs to predict for in the network's units, once they are known to fit the network."""
    x = scaled_inputs(X, scaling)
    output_shape(prior, latent, x[0])
    return x


def _row_weights(row_weights: object) -> Array | None:
    if row_weights is None:
        return None
    column = np.asarray(row_weights, np.float64).reshape(-1, 1)
    values = checks.matrix("row_weights", column)[:, 0]
    if bool((values < 0).any()) or not bool((values > 0).any()):
        raise ValueError("row_weights must not be negative, and some must be above zero")
    return values


def output_shape(prior: Prior, latent: Latent, row: Float[Array, " ..."]) -> tuple[int, ...]:
    """The shape of the network's outputs for a row of X, or a `ValueError` if it takes no such."""
    try:
        found = jax.eval_shape(lambda latent: outputs(prior.weights(latent), row[None]), latent)
    except TypeError as error:
        columns = f"{len(row)} columns" if row.ndim == 1 else f"images of shape {row.shape}"
        raise ValueError(
            f"the network does not take rows of X, which has {columns}: {error}"
        ) from error
    return found.shape[1:]
