"""The posterior: draws, what they predict, and how they came about."""

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from goodprior import checks
from goodprior.data.scaling import Scaling
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.predictive import ClassPrediction, Prediction
from goodprior.priors import Prior
from goodprior.priors.base import Latent

if TYPE_CHECKING:
    from xarray import DataTree

BLOCK = 4_000_000  # outputs and hidden units evaluated at once when predicting


class Posterior(eqx.Module):
    """Draws of the latent, stacked: every leaf has leading axes (chains, draws).

    `probe` traces function values at a few points between draws, for diagnostics. `report` holds
    what the sampler says of itself (temperatures, clamped noise, divergences). With a `scaling`,
    inputs and predictions are on the original scale of the data. `ending` is where the sampler
    stood after the last draw, so that it can go on from there.
    """

    prior: Prior
    likelihood: Likelihood
    draws: Latent
    probe: Float[np.ndarray, "chains times values"]
    report: dict[str, Any]
    scaling: Scaling | None = None
    ending: Any = None

    @property
    def chains(self) -> int:
        return jax.tree.leaves(self.draws)[0].shape[0]

    @property
    def draws_per_chain(self) -> int:
        return jax.tree.leaves(self.draws)[0].shape[1]

    def functions(self, X: object) -> Float[Array, "draws points out"]:
        """The network's outputs for every draw, chain after chain, in the network's own units."""
        x = checks.matrix("X", X) if self.scaling is None else self.scaling.inputs(X)
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), self.draws)
        first = jax.tree.map(lambda leaf: leaf[0], flat)
        output_shape(self.prior, first, x[0])
        count = self.chains * self.draws_per_chain
        rows = max(1, BLOCK // (count * 100))
        # Blocks of few different sizes: less to compile, and a row's numbers do not depend on how
        # many others there are.
        rows = min(rows, max(64, 1 << (len(x) - 1).bit_length()))
        padded = jnp.concatenate([x, jnp.repeat(x[-1:], -len(x) % rows, axis=0)])
        blocks = [
            _functions(self.prior, flat, block) for block in jnp.split(padded, len(padded) // rows)
        ]
        return jnp.concatenate(blocks, axis=1)[:, : len(x)]

    def predict(self, X: object) -> Prediction | ClassPrediction:
        """What the draws say about new rows."""
        prediction = self.likelihood.predict(self.functions(X))
        if self.scaling is None or not isinstance(prediction, Prediction):
            return prediction
        return prediction.rescale(self.scaling.y_mean, self.scaling.y_std)

    def to_datatree(self) -> "DataTree":
        """The draws and the probe trace as an `xarray.DataTree`, for ArviZ or a netCDF file."""
        from goodprior.inference.export import to_datatree

        return to_datatree(self)


def output_shape(prior: Prior, latent: Latent, row: Float[Array, " in"]) -> tuple[int, ...]:
    """The shape of the network's outputs for a row of X, or a `ValueError` if it takes no such."""
    try:
        output = jax.eval_shape(lambda latent: prior.weights(latent)(row), latent)
    except TypeError as error:
        raise ValueError(
            f"the network does not take rows of X, which has {len(row)} columns: {error}"
        ) from error
    return output.shape


@eqx.filter_jit
def _functions(prior: Prior, draws: Latent, x: Array) -> Array:
    return jax.lax.map(lambda latent: jax.vmap(prior.weights(latent))(x), draws)
