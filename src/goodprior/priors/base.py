"""The one contract of all priors."""

from abc import abstractmethod
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior.networks import outputs, vectorize

Form = Literal["gibbs", "marginal", "noncentred"]  # of hierarchical priors
Latent = PyTree  # the coordinates in which a prior's density is stated and sampled


class Prior(eqx.Module):
    """A distribution over the weights of a network.

    A prior is stated in a latent of its own choosing, a pytree of floating-point arrays. Samplers
    know nothing else: they ask for `log_prob`, turn a latent into a network with `weights`, move
    the parts of the latent that `moving` marks (all by default), and call `refresh` every
    `refresh_every` steps for the others (0: never).

    The prior's own floating-point arrays are its tunable parameters, unconstrained: any value is
    valid, so that `match` can follow gradients. Anything else must not be an array of floats.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(MLP(1, (5,), 1, key=jax.random.key(0)))
    >>> latent = prior.sample(jax.random.key(1))
    >>> prior.log_prob(latent).shape, prior.weights(latent)(jax.numpy.zeros(1)).shape
    ((), (1,))
    """

    refresh_every: eqx.AbstractVar[int]

    @property
    def moving(self) -> PyTree[bool]:
        """Which parts of a latent samplers move, as a prefix of its tree."""
        return True

    @abstractmethod
    def sample(self, key: PRNGKeyArray) -> Latent:
        """One latent draw, differentiable in the prior's arrays."""

    @abstractmethod
    def weights(self, latent: Latent) -> PyTree:
        """The network that a latent stands for."""

    @abstractmethod
    def log_prob(self, latent: Latent) -> Float[Array, ""]:
        """The log density of a latent (normalised), in the latent's own coordinates."""

    def refresh(self, key: PRNGKeyArray, latent: Latent) -> Latent:
        """Resample what is drawn exactly between the sampler's steps. Nothing by default."""
        return latent

    def start(self, key: PRNGKeyArray) -> Latent:
        """A latent for a chain to start from: a draw, unless draws can be extreme."""
        return self.sample(key)

    def in_form(self, form: Form) -> "Prior":
        """The same distribution of weights in other coordinates, where there is a choice."""
        return self

    def latent_of(self, arrays: PyTree) -> Latent:
        """A latent that stands for these weights, arrays as `architecture.network` takes them."""
        raise NotImplementedError(f"{type(self).__name__} has no latent for weights alone")

    def deviations(self) -> Latent:
        """The scale of each entry of a latent, by which samplers may divide it: 1 by default."""
        shapes = jax.eval_shape(self.sample, jax.random.key(0))
        return jax.tree.map(lambda leaf: jnp.ones(leaf.shape, leaf.dtype), shapes)

    def gaussian_part(self, latent: Latent) -> PyTree | None:
        """The part of a latent in the shape of the network's weights, as far as it is Gaussian.

        Its entries are independent N(0, deviations^2), whatever the rest of the latent is, and each
        weight of the network is its entry times a factor; arrays of which that is not so are None.
        None instead of all, the default: there is no such part.
        """
        return None

    def scale_penalty(self) -> Float[Array, ""]:
        """Sum of squared log scales; keeps scales near 1 during matching."""
        return jnp.zeros(())

    def functions(
        self, key: PRNGKeyArray, x: Float[Array, "points ..."], n: int
    ) -> Float[Array, "n points out"]:
        """Draw functions of the prior, all evaluated at the same points.

        Parameters
        ----------
        key : PRNGKeyArray
            Of the random numbers.
        x : Array
            Points in rows; one batch, for networks with batch normalisation.
        n : int
            How many functions.

        Returns
        -------
        Array
            Independent draws, (n, points, outputs).
        """

        def one(key: PRNGKeyArray) -> Array:
            return outputs(self.weights(self.sample(key)), x)

        each = vectorize(self)
        if each is not jax.vmap:
            one = jax.checkpoint(one)  # the gradient needs the activations of one draw at a time
        return each(one)(jax.random.split(key, n))
