"""Test quantities of a latent: what simulation-based calibration ranks."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from goodprior.inference.density import Density
from goodprior.inference.likelihoods import Heteroscedastic, Likelihood
from goodprior.networks import outputs
from goodprior.priors import LearnedNoise, Prior
from goodprior.priors.base import Latent


class TestQuantities(eqx.Module):
    """Function values at some rows, the noise where it is learned, log likelihood and log prior.

    Weights have symmetries, on which a sampler and the truth need not agree; these numbers have
    none. The log likelihood depends on the data, and so it finds draws that do not look at them.

    Parameters
    ----------
    prior, likelihood
        What latents are drawn from, and what explains targets.
    X
        The rows that targets belong to, in the network's units.
    at
        Numbers of the rows at which functions are looked at.

    Examples
    --------
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import Dense
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(Dense(1, 1, key=jax.random.key(0)))
    >>> x = jnp.arange(5.0)[:, None]
    >>> quantities = TestQuantities(prior, Gaussian(0.1), x, np.array([0, 4]))
    >>> quantities.names
    ('function at row 1', 'function at row 5', 'log likelihood', 'log prior')
    >>> quantities(prior.sample(jax.random.key(1)), x).shape
    (4,)
    """

    __test__ = False  # its name is no test's

    prior: Prior
    likelihood: Likelihood
    X: Float[Array, "rows ..."]
    at: Int[np.ndarray, " points"]

    @property
    def names(self) -> tuple[str, ...]:
        """What each of the numbers is."""
        latent = jax.eval_shape(self.prior.sample, jax.random.key(0))
        count = jax.eval_shape(self._outputs, latent).shape[1]
        learned = isinstance(self.likelihood, Heteroscedastic)
        functions = count // 2 if learned else count
        of = [""] if functions == 1 else [f" {i + 1}" for i in range(functions)]
        found = [f"function{i} at row {row + 1}" for row in self.at for i in of]
        if self._noise_is_constant:
            found += [f"log noise{i}" for i in of]
        elif learned:
            found += [f"log noise{i} at row {row + 1}" for row in self.at for i in of]
        return (*found, "log likelihood", "log prior")

    def __call__(self, latent: Latent, y: Array) -> Float[Array, " quantities"]:
        """Of one latent, given the targets of all rows."""
        values = self._outputs(latent)
        if isinstance(self.likelihood, Heteroscedastic):
            functions, noise = jnp.split(values, 2, axis=1)
            noise = noise[:1] if self._noise_is_constant else noise
            values = jnp.concatenate([functions.ravel(), noise.ravel()])
        log_likelihood = Density(self.prior, self.likelihood, len(self.X)).log_likelihood
        both = jnp.stack([log_likelihood(latent, self.X, y), self.prior.log_prob(latent)])
        return jnp.concatenate([values.ravel(), both])

    def _outputs(self, latent: Latent) -> Float[Array, "points out"]:
        return outputs(self.prior.weights(latent), self.X[self.at])

    @property
    def _noise_is_constant(self) -> bool:
        return isinstance(self.likelihood, Heteroscedastic) and isinstance(self.prior, LearnedNoise)


@eqx.filter_jit
def quantities_of_truth(
    quantities: TestQuantities, latent: Latent, y: Array
) -> Float[Array, " quantities"]:
    """The test quantities of the latent that the targets were simulated with."""
    return quantities(latent, y)


@eqx.filter_jit
def quantities_of_draws(
    quantities: TestQuantities, draws: Latent, y: Array
) -> Float[Array, "chains draws quantities"]:
    """The test quantities of a posterior's draws, whose leaves have axes over chains and draws."""
    each = jax.vmap(lambda latent: quantities(latent, y))
    return jax.lax.map(each, draws)
