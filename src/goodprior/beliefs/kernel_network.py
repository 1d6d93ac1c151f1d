"""Kernels of sums and products of kernels, with weights to learn (Sun et al., 2018)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from tinygp.kernels import Kernel

from goodprior.beliefs.kernels import matern12, matern32, rational_quadratic, rbf


class KernelNetwork(Kernel):
    """Layers of weighted sums of kernels, followed by products of neighbouring pairs.

    Sums with positive weights and products of kernels are kernels. The last layer is a sum.

    Parameters
    ----------
    parts : tuple of Kernel
        What the first layer sums over.
    weights : tuple of Array
        Of each layer, positive, (sums, kernels).
    """

    parts: tuple[Kernel, ...]
    weights: tuple[Float[Array, "_ _"], ...]

    def _combine(self, values: Float[Array, "kernels ..."]) -> Array:
        *inner, last = self.weights
        for weights in inner:
            sums = jnp.tensordot(weights, values, axes=1)
            values = sums[::2] * sums[1::2]
        return jnp.tensordot(last, values, axes=1)[0]

    def evaluate(self, X1: Array, X2: Array) -> Array:
        """The covariance of the function's values at two points."""
        return self._combine(jnp.stack([part.evaluate(X1, X2) for part in self.parts]))

    def __call__(self, X1: Array, X2: Array | None = None) -> Array:
        """The covariance matrix between two sets of points, or the variances at one."""
        return self._combine(jnp.stack([part(X1, X2) for part in self.parts]))


def kernel_network(inputs: int, key: PRNGKeyArray) -> KernelNetwork:
    """Two layers of eight and four sums over RBF, Matern and rational quadratic kernels.

    Parameters
    ----------
    inputs : int
        Columns of the standardised inputs.
    key : PRNGKeyArray
        Of the first weights of the sums.

    Returns
    -------
    KernelNetwork
        For `fit_kernel` to tune.

    Examples
    --------
    >>> import jax
    >>> kernel = kernel_network(2, jax.random.key(0))
    >>> kernel(jax.numpy.zeros((3, 2)), jax.numpy.ones((4, 2))).shape
    (3, 4)
    """
    length = jnp.full(inputs, inputs**0.5)
    parts = (
        rbf(0.5 * length),
        rbf(2.0 * length),
        matern32(length),
        matern12(2.0 * length),
        rational_quadratic(length),
    )
    widths = (len(parts), 8, 4, 1)
    kernels = (widths[0], 4, 2)  # what each layer of sums starts from: products halve
    keys = jax.random.split(key, 3)
    weights = tuple(
        jax.random.uniform(k, (sums, count), minval=0.5, maxval=1.5) / count
        for k, sums, count in zip(keys, widths[1:], kernels, strict=True)
    )
    return KernelNetwork(parts, weights)
