"""A prior over functions beside one over log noise variances, each with a network of its own."""

from typing import NamedTuple

import jax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior.networks import WithLogNoise
from goodprior.priors.base import Form, Latent, Prior


class FunctionAndNoise(NamedTuple):
    """The latents of two priors."""

    function: Latent
    log_noise: Latent


class NoiseNetworkPrior(Prior):
    """Independent priors for functions and for their log noise variances.

    Their scales are independent: the first is matched to the belief about functions alone.

    Parameters
    ----------
    function : Prior
        Over the network whose outputs come first.
    log_noise : Prior
        Over the network whose outputs follow.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> function, noise = (GaussianPrior(MLP(2, (5,), 1, key=jax.random.key(i))) for i in (0, 1))
    >>> prior = NoiseNetworkPrior(function, noise)
    >>> prior.functions(jax.random.key(2), jax.numpy.zeros((4, 2)), 3).shape
    (3, 4, 2)
    """

    function: Prior
    log_noise: Prior

    def __init__(self, function: Prior, log_noise: Prior):
        self.function, self.log_noise = function, log_noise

    @property
    def refresh_every(self) -> int:  # type: ignore[override]
        return self.function.refresh_every

    @property
    def moving(self) -> PyTree[bool]:
        return FunctionAndNoise(self.function.moving, True)

    def sample(self, key: PRNGKeyArray) -> Latent:
        key_function, key_noise = jax.random.split(key)
        return FunctionAndNoise(
            self.function.sample(key_function), self.log_noise.sample(key_noise)
        )

    def start(self, key: PRNGKeyArray) -> Latent:
        key_function, key_noise = jax.random.split(key)
        return FunctionAndNoise(self.function.start(key_function), self.log_noise.start(key_noise))

    def in_form(self, form: Form) -> "NoiseNetworkPrior":
        function = self.function.in_form(form)
        return self if function is self.function else NoiseNetworkPrior(function, self.log_noise)

    def weights(self, latent: Latent) -> PyTree:
        return WithLogNoise(
            self.function.weights(latent.function), self.log_noise.weights(latent.log_noise)
        )

    def log_prob(self, latent: Latent) -> Float[Array, ""]:
        return self.function.log_prob(latent.function) + self.log_noise.log_prob(latent.log_noise)

    def refresh(self, key: PRNGKeyArray, latent: Latent) -> Latent:
        return FunctionAndNoise(self.function.refresh(key, latent.function), latent.log_noise)

    def deviations(self) -> Latent:
        return FunctionAndNoise(self.function.deviations(), self.log_noise.deviations())

    def gaussian_part(self, latent: Latent) -> PyTree | None:
        return self.function.gaussian_part(latent.function)

    def scale_penalty(self) -> Float[Array, ""]:
        return self.function.scale_penalty() + self.log_noise.scale_penalty()
