"""The posterior: draws, what they predict, and how they came about."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from goodprior.data.scaling import Scaling
from goodprior.inference.batches import AnyArray, Data, probe_rows
from goodprior.inference.chains import RunState
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.predictive import ClassPrediction, Prediction
from goodprior.inference.validation import new_inputs
from goodprior.networks.batch_norm import (
    Statistics,
    batch_statistics,
    has_batch_norm,
    outputs,
    with_statistics,
)
from goodprior.priors import Prior
from goodprior.priors.base import Latent

BLOCK = 4_000_000  # outputs and hidden units evaluated at once when predicting
PIXELS = 1_000_000  # inputs evaluated at once: an image needs more memory than its outputs
REFERENCE = 256  # rows whose statistics stand for all in networks with batch normalisation


class Posterior(eqx.Module):
    """Draws of the latent, and what is needed to predict with them.

    Parameters
    ----------
    prior, likelihood
        What the draws are the posterior of.
    draws
        Latents, stacked: every leaf has leading axes (chains, draws).
    probe
        Trace of function values at a few training rows between draws, for diagnostics.
    report
        What the sampler says of itself, a `SamplerReport`; a dict if the weights were trained.
    scaling
        If there is one, inputs and predictions are on the original scale of the data.
    run_state
        Where the sampler stood after the last draw, to go on from there (None: not sampled).
    reference
        Training rows whose statistics normalise a network with batch normalisation, so that a
        prediction does not depend on the other rows (None where there is no such layer).

    Examples
    --------
    >>> import jax
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(MLP(1, (5,), 1, key=jax.random.key(0)))
    >>> draws = jax.vmap(jax.vmap(prior.sample))(jax.random.split(jax.random.key(1), (2, 3)))
    >>> posterior = Posterior(prior, Gaussian(0.1), draws, np.zeros((2, 0, 0)), {})
    >>> posterior.chains, posterior.draws_per_chain, posterior.predict(np.zeros((4, 1))).mean.shape
    (2, 3, (4, 1))
    """

    prior: Prior
    likelihood: Likelihood
    draws: Latent
    probe: Float[np.ndarray, "chains times values"]
    report: Any
    scaling: Scaling | None = None
    run_state: RunState | None = None
    reference: Float[AnyArray, "rows ..."] | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether a sampler drew it, so that it has chains that can go on."""
        return self.run_state is not None

    @property
    def chains(self) -> int:
        """How many chains there are."""
        return jax.tree.leaves(self.draws)[0].shape[0]

    @property
    def draws_per_chain(self) -> int:
        """How many draws each chain has."""
        return jax.tree.leaves(self.draws)[0].shape[1]

    def functions(self, X: object) -> Float[Array, "draws points out"]:
        """The network's outputs for every draw, chain after chain, in the network's own units."""
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), self.draws)
        first = jax.tree.map(lambda leaf: leaf[0], flat)
        x = new_inputs(self.prior, first, X, self.scaling)
        count = self.chains * self.draws_per_chain
        rows = max(1, min(BLOCK // (count * 100), PIXELS // x[0].size))
        # Blocks of few different sizes: less to compile, and a row's numbers do not depend on how
        # many others there are.
        rows = min(rows, max(64, 1 << (len(x) - 1).bit_length()))
        padded = jnp.concatenate([x, jnp.repeat(x[-1:], -len(x) % rows, axis=0)])
        statistics = _statistics(self.prior, flat, self.reference)
        blocks = [
            _functions(self.prior, flat, statistics, block)
            for block in jnp.split(padded, len(padded) // rows)
        ]
        return jnp.concatenate(blocks, axis=1)[:, : len(x)]

    def predict(self, X: object) -> Prediction | ClassPrediction:
        """What the draws say about new rows."""
        prediction = self.likelihood.predict(self.functions(X))
        if self.scaling is None:
            return prediction
        return prediction.rescale(self.scaling.y_mean, self.scaling.y_std)


def reference_rows(prior: Prior, data: Data) -> Float[np.ndarray, "rows ..."] | None:
    """Evenly spread training rows, if the network normalises by the statistics of a batch."""
    network = eqx.filter_eval_shape(lambda key: prior.weights(prior.sample(key)), jax.random.key(0))
    if not has_batch_norm(network):
        return None
    X, *_ = data.gather(probe_rows(data.rows, REFERENCE))
    return np.asarray(X)


@eqx.filter_jit
def _statistics(prior: Prior, draws: Latent, reference: AnyArray | None) -> list[Statistics]:
    """Each draw's statistics of the reference rows, for each layer that needs them."""
    if reference is None:
        return []
    rows = jnp.asarray(reference)
    return jax.lax.map(lambda latent: batch_statistics(prior.weights(latent), rows), draws)


@eqx.filter_jit
def _functions(prior: Prior, draws: Latent, statistics: list[Statistics], x: Array) -> Array:
    def one(draw: tuple[Latent, list[Statistics]]) -> Array:
        latent, statistics = draw
        return outputs(with_statistics(prior.weights(latent), statistics), x)

    return jax.lax.map(one, (draws, statistics))
