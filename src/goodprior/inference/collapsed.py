"""The posterior density with the linear read-out of the network integrated out.

Given all other weights and the noise, a network is a linear model in the weights of its last layer.
With a Gaussian prior over these and Gaussian noise both their evidence and their conditional
distribution are known, so that samplers need not move them: what is left is far less stiff.

Student-t noise is Gaussian with a precision for each row that is Gamma distributed: given these
all of it holds, and given the rest they are drawn exactly, too.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior.inference.density import Density
from goodprior.inference.gamma import gamma_draws
from goodprior.inference.inverse_root import inverse_root
from goodprior.inference.known_noise import KnownNoise
from goodprior.inference.likelihoods import Gaussian, Heteroscedastic, Likelihood
from goodprior.networks import WithLogNoise
from goodprior.priors import Prior
from goodprior.priors.base import Latent
from goodprior.priors.learned_noise import NoisyNetwork


class Readout(NamedTuple):
    """The conditional distribution of a read-out's weights: N(mean, root' root)."""

    mean: Float[Array, " features"]
    root: Float[Array, "features features"]


@jax.custom_vjp
def log_evidence(features: Float[Array, "rows features"], y: Float[Array, " rows"]) -> Array:
    """The log density of `y` under N(0, I + features features'), up to its constant.

    Rows of both are divided by their noise. The gradient has a closed form, so that no Cholesky
    factor is differentiated.

    Examples
    --------
    >>> round(float(log_evidence(jnp.zeros((2, 3)), jnp.ones(2))), 4)
    -1.0
    """
    return solve(features, y)[0]


def solve(
    features: Float[Array, "rows features"], y: Float[Array, " rows"]
) -> tuple[Float[Array, ""], Readout]:
    """The log evidence of standard normal weights, and their conditional distribution."""
    eye = jnp.eye(features.shape[1], dtype=features.dtype)
    root = inverse_root(features.T @ features + eye)
    projected = root @ (features.T @ y)
    value = -0.5 * (y @ y - projected @ projected) + jnp.sum(jnp.log(jnp.diag(root)))
    return value, Readout(root.T @ projected, root)


def _forward(features: Array, y: Array) -> tuple[Array, tuple[Array, Array, Readout]]:
    value, readout = solve(features, y)
    return value, (features, y, readout)


def _backward(kept: tuple[Array, Array, Readout], g: Array) -> tuple[Array, Array]:
    features, y, (mean, root) = kept
    residual = y - features @ mean
    return g * (residual[:, None] * mean - features @ (root.T @ root)), -g * residual


log_evidence.defvjp(_forward, _backward)


class Collapsed(Density):
    """The density of all weights but those of the read-out, which are integrated out.

    Latents are those of `Density`; the read-out in them counts for nothing until `complete` has
    drawn it. Every call needs all rows. Features have the precision of the rows, and what follows
    has that of the latent. At a temperature T the read-out is that of the tempered density: its
    conditional covariance is T times as large.

    It is for networks with a method `features` and a `readout` (an `MLP`, also as the function of
    `WithLogNoise` or under `LearnedNoise`), priors with a `gaussian_part`, and Gaussian noise of
    any kind. Student-t noise that is learned has the precision of each row and target as auxiliary
    variables; rows have no weights then, and the temperature is 1.

    Examples
    --------
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(MLP(1, (5,), 1, key=jax.random.key(0)))
    >>> Collapsed.refuses(prior, Gaussian(0.1)) is None
    True
    >>> density = Collapsed(prior, Gaussian(0.1), 3)
    >>> x, y = jnp.arange(3.0)[:, None], jnp.ones((3, 1))
    >>> latent = prior.sample(jax.random.key(1))
    >>> other, _ = density.complete(jax.random.key(2), latent, x, y)
    >>> bool(density(latent, x, y) == density(other, x, y))
    True
    """

    @staticmethod
    def refuses(prior: Prior, likelihood: Likelihood) -> str | None:
        """Why the read-out cannot be integrated out, in words; None if it can."""
        # those that say the noise of each row
        if not isinstance(likelihood, Gaussian | Heteroscedastic | KnownNoise):
            return f"the noise of {type(likelihood).__name__} is not Gaussian"
        latent = jax.eval_shape(prior.sample, _key())
        network = eqx.filter_eval_shape(prior.weights, latent)
        function, part = _function(network), prior.gaussian_part(latent)
        if not (hasattr(function, "readout") and hasattr(function, "features")):
            return f"{type(function).__name__} has no linear last layer called `readout`"
        if part is None or _function(part).readout.weight is None or prior.refresh_every:
            return (
                f"under {type(prior).__name__} the last layer's weights are not Gaussian "
                "whatever the other weights are"
            )
        return None

    @staticmethod
    def refuses_rows(likelihood: Likelihood, temperature: float, weighted: bool) -> str | None:
        """Why it cannot be done for these rows, in words; None if it can."""
        if _degrees(likelihood) is None or (temperature == 1 and not weighted):
            return None
        return "Student-t noise needs a temperature of 1, and rows that count once"

    @staticmethod
    def features(prior: Prior) -> int:
        """How many weights each output of the read-out has, which are integrated out."""
        readout = _function(prior.gaussian_part(jax.eval_shape(prior.sample, _key()))).readout
        return readout.weight.shape[1] + (readout.bias is not None)

    @property
    def name(self) -> str:
        """What is sampled, in words."""
        return "all weights but the last layer's, which are drawn exactly"

    @property
    def moving(self) -> PyTree[bool]:
        """All of the latent but the read-out."""
        shapes = jax.eval_shape(self.prior.sample, _key())
        return self._with_readout(jax.tree.map(lambda _: True, shapes), [False, False])

    def __call__(
        self,
        latent: Latent,
        X: Array,
        y: Array,
        row_weights: Array | None = None,
        *,
        auxiliary: PyTree = None,
    ) -> Float[Array, ""]:
        """The log density of the rest of the latent, given all rows."""
        features, y, normalisation = self._linear_model(latent, X, y, row_weights, auxiliary)
        evidence = jax.vmap(log_evidence)(features, y).sum()
        nothing = [jnp.zeros_like(leaf) for leaf in self._readout(latent)]
        prior = self.prior.log_prob(self._with_readout(latent, nothing))
        return evidence + (prior - normalisation) / self.temperature

    def auxiliary(self, targets: Array) -> Array | None:
        """Precisions of rows and targets, 1 at first, where the noise is Student-t."""
        return None if _degrees(self.likelihood) is None else jnp.ones_like(targets)

    def complete(
        self, key: PRNGKeyArray, latent: Latent, *batch: Array, auxiliary: PyTree = None
    ) -> tuple[Latent, PyTree]:
        """The latent with a read-out drawn from its conditional distribution given all rows.

        Precisions of Student-t noise are drawn after it, given the residuals.
        """
        key_readout, key_rows = jax.random.split(key)
        X, y, *weights = batch
        row_weights = weights[0] if weights else None
        features, y, _ = self._linear_model(latent, X, y, row_weights, auxiliary)
        _, (mean, root) = jax.vmap(solve)(features, y)
        draw = jax.random.normal(key_readout, mean.shape, y.dtype)
        units = jnp.sqrt(self.temperature) * (mean + jnp.einsum("kij,ki->kj", root, draw))
        weight, *bias = self._readout(self.prior.deviations())
        drawn = [weight * units[:, : weight.shape[1]], *(b * units[:, -1] for b in bias)]
        latent = self._with_readout(latent, drawn)
        if auxiliary is None:
            return latent, None
        residuals = (y - jnp.einsum("knf,kf->kn", features, units)).T / jnp.sqrt(auxiliary)
        degrees = _degrees(self.likelihood)
        gamma = gamma_draws(key_rows, (degrees + 1) / 2, residuals)
        return latent, (2 * gamma / (degrees + residuals**2)).astype(auxiliary.dtype)

    def _linear_model(
        self,
        latent: Latent,
        X: Array,
        y: Array,
        row_weights: Array | None = None,
        row_precisions: Float[Array, "rows targets"] | None = None,
    ) -> tuple[Float[Array, "targets rows features"], Float[Array, "targets rows"], Array]:
        """Features and targets in units of noise, for standard normal weights of the read-out.

        The last is the sum of the logarithms of the noise.
        """
        if len(X) != self.rows:
            raise ValueError(f"{len(X)} rows were given, and all {self.rows} are needed")
        dtype = jnp.result_type(*jax.tree.leaves(latent))
        deviations = self._readout(self.prior.deviations())
        latent = self._with_readout(latent, deviations)
        network = self.prior.weights(jax.tree.map(lambda leaf: leaf.astype(X.dtype), latent))
        function = _function(network)
        if isinstance(self.likelihood, KnownNoise):
            y, noise = jnp.split(y, 2, axis=1)
        else:
            noise = self._noise(network, X, y.shape[1])
        noise = noise.astype(dtype)
        scales, targets = function.readout, y.shape[1]
        precision = 1 / noise if row_weights is None else jnp.sqrt(row_weights)[:, None] / noise
        if row_precisions is not None:
            precision = precision * jnp.sqrt(row_precisions)
        counted = jnp.log(noise) if row_weights is None else row_weights[:, None] * jnp.log(noise)
        hidden = (jax.vmap(function.features)(X) * _gain(scales)).astype(dtype)
        features = hidden * scales.weight[:, None, :].astype(dtype)
        if scales.bias is not None:
            bias = scales.bias[:, None, None].astype(dtype)
            ones = jnp.broadcast_to(bias, (targets, len(X), 1))
            features = jnp.concatenate([features, ones], axis=2)
        scaled = (y * precision).T / jnp.sqrt(self.temperature)
        return features * precision.T[:, :, None], scaled, jnp.sum(counted)

    def _noise(self, network: Any, X: Array, targets: int) -> Float[Array, "rows targets"]:
        """The noise's standard deviation for each row and target."""
        outputs = jnp.zeros((len(X), targets), X.dtype)
        if isinstance(network, WithLogNoise):
            outputs = jnp.concatenate([outputs, jax.vmap(network.log_noise)(X)], axis=1)
        elif isinstance(network, NoisyNetwork):
            level = jnp.broadcast_to(network.log_variance, outputs.shape)
            outputs = jnp.concatenate([outputs, level], axis=1)
        return self.likelihood.predict(outputs[None]).scale[0]  # type: ignore[union-attr]

    def _readout(self, latent: Latent) -> list[Any]:
        """Weight and bias, if there is one, of the read-out in a latent."""
        readout = _function(self.prior.gaussian_part(latent)).readout
        return [leaf for leaf in (readout.weight, readout.bias) if leaf is not None]

    def _with_readout(self, latent: Latent, leaves: list[Any]) -> Latent:
        """The latent with other entries there."""
        return eqx.tree_at(self._readout, latent, leaves[: len(self._readout(latent))])


def _degrees(likelihood: Likelihood) -> Any:
    """Of freedom of the noise; None where it is Gaussian."""
    return getattr(likelihood, "degrees", None)


def _function(network: Any) -> Any:
    """The network that functions are made by, without what says the noise."""
    if isinstance(network, WithLogNoise):
        return network.function
    return network.network if isinstance(network, NoisyNetwork) else network


def _gain(readout: Any) -> Array:
    """By which factor a read-out multiplies features beside its weights."""
    one = eqx.tree_at(lambda layer: layer.weight, readout, jnp.ones_like(readout.weight))
    first = jnp.zeros(readout.weight.shape[1], readout.weight.dtype).at[0].set(1.0)
    return (one(first) - one(jnp.zeros_like(first)))[0]


def _key() -> PRNGKeyArray:
    return jax.random.key(0)
