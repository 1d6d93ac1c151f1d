"""Noise that is known for each row: what `noise_std` of `fit` and of predictions may be."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from goodprior.inference import KnownNoise, Prediction
from goodprior.pipeline import ObservationModel, Problem

Stds = Float[np.ndarray, "rows targets"]


def noise_table(noise_std: Any, rows: int, targets: int) -> Stds:
    """Standard deviations of the noise, a row for each row and a column for each target.

    Parameters
    ----------
    noise_std
        A number for each row, or for each row and target.
    rows, targets
        How many there are.

    Examples
    --------
    >>> noise_table([0.1, 0.2], 2, 1).tolist()
    [[0.1], [0.2]]
    """
    try:
        found = np.asarray(noise_std, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"noise_std must hold numbers only: {error}") from None
    found = found[:, None] if found.ndim == 1 else found
    if found.shape not in ((rows, 1), (rows, targets)):
        raise ValueError(
            f"noise_std must have a number for each of the {rows} rows (or a column for each of "
            f"the {targets} targets); its shape is {np.shape(noise_std)}"
        )
    bad = ~((found > 0) & np.isfinite(found)).all(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"noise_std must be finite and above zero, it is a standard deviation; row {row} has "
            f"{found[row].min():g}"
        )
    return np.broadcast_to(found, (rows, targets)).copy()


def with_known_noise(problem: Problem, noise: Stds) -> Problem:
    """The problem with each row's noise beside its targets.

    Rows to predict are taken to have the root mean square of these, where nothing else is said.
    """
    assert problem.y is not None
    assert problem.scaling is not None
    typical = np.sqrt((noise**2).mean(axis=0)) / problem.scaling.y_std
    likelihood = KnownNoise(tuple(typical.tolist()))
    y = np.concatenate([problem.y.reshape(len(noise), -1), noise], axis=1)
    return replace(
        problem, y=y, observation=ObservationModel(likelihood, problem.observation.functions)
    )


def with_noise_of_rows(prediction: Prediction, likelihood: Any, noise_std: Any) -> Prediction:
    """The prediction of observations with this noise.

    Raises
    ------
    ValueError
        If the noise was learned.
    """
    if not isinstance(likelihood, KnownNoise):
        raise ValueError(
            "the noise was learned from the rows, so noise_std of new rows is not needed: leave it "
            "out, or give noise_std to fit"
        )
    _, rows, targets = prediction.location.shape
    scale = jnp.asarray(noise_table(noise_std, rows, targets), jnp.float32)
    scale = jnp.broadcast_to(scale, prediction.location.shape)
    return Prediction(prediction.location, scale, None, prediction.origin)
