"""The posterior density that samplers see."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior.inference.likelihoods import Likelihood
from goodprior.networks import outputs
from goodprior.priors import Prior
from goodprior.priors.base import Latent


class Density(eqx.Module):
    """The log density of a latent given data, up to a constant, and tempered.

    `-U(latent) / temperature` with `U = -log p(D | weights) - log p(latent)`: a cold posterior
    sharpens likelihood and prior together (paper, appendix A.4). From a minibatch the likelihood
    is scaled to all `rows`, so that its gradient is unbiased.
    """

    prior: Prior
    likelihood: Likelihood
    rows: int = eqx.field(static=True)
    temperature: float = 1.0

    @property
    def name(self) -> str:
        """What is sampled, in words."""
        return "all weights"

    @property
    def moving(self) -> PyTree[bool]:
        """Which parts of a latent samplers move, as a prefix of its tree."""
        return self.prior.moving

    def auxiliary(self, targets: Array) -> PyTree:
        """Where further variables start, which are neither in the latent nor moved: none here."""
        return None

    def complete(
        self, key: PRNGKeyArray, latent: Latent, *batch: Array, auxiliary: PyTree = None
    ) -> tuple[Latent, PyTree]:
        """Latent and auxiliary variables with what samplers do not move drawn exactly.

        It takes all rows. Nothing is drawn here.
        """
        return latent, auxiliary

    def log_likelihood(
        self, latent: Latent, X: Array, y: Array, row_weights: Array | None = None
    ) -> Float[Array, ""]:
        """The log likelihood of these rows, summed; a weight counts a row that many times."""
        each = jax.vmap(self.likelihood.log_prob)(outputs(self.prior.weights(latent), X), y)
        return jnp.sum(each if row_weights is None else row_weights * each)

    def __call__(
        self,
        latent: Latent,
        X: Array,
        y: Array,
        row_weights: Array | None = None,
        *,
        auxiliary: PyTree = None,
    ) -> Float[Array, ""]:
        """The log density, estimated from a batch of rows (all of them: exact)."""
        scale = self.rows / len(X)
        log_likelihood = scale * self.log_likelihood(latent, X, y, row_weights)
        return (log_likelihood + self.prior.log_prob(latent)) / self.temperature
