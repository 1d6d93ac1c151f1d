"""The spectral Stein gradient estimator: a score from samples alone (Shi et al., 2018)."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from goodprior.matching.distances import pairwise_distances


def stein_score(
    samples: Float[Array, "draws dim"], share: float = 0.99
) -> Float[Array, "draws dim"]:
    """`grad log q` at samples of q, whose density is not known.

    Parameters
    ----------
    samples : Array
        Draws of q, a row each.
    share : float
        Keep the leading eigenfunctions that make up this share of the sum of eigenvalues.

    Returns
    -------
    Array
        The score at each sample.

    Notes
    -----
    The score is expanded in the leading eigenfunctions of an RBF kernel on the samples, with the
    median distance as lengthscale; Stein's identity gives the coefficients. With `K = U L U^T` the
    kernel matrix, at the samples themselves this is `-U L^-1 U^T D` over the leading eigenvectors,
    `D` being the kernel's gradients summed over the samples.

    Examples
    --------
    >>> import jax
    >>> x = jax.random.normal(jax.random.key(0), (500, 1))
    >>> bool(jax.numpy.corrcoef(stein_score(x)[:, 0], -x[:, 0])[0, 1] > 0.9)
    True
    """
    distances = pairwise_distances(samples[..., None], samples[..., None])
    scale = jnp.median(distances[jnp.triu_indices(len(samples), 1)])
    kernel = jnp.exp(-0.5 * (distances / scale) ** 2)
    # The gradients by x_m of k(x_m, x_n), summed over m.
    grads = (kernel.sum(axis=0)[:, None] * samples - kernel.T @ samples) / scale**2
    values, vectors = jnp.linalg.eigh(kernel)  # in ascending order
    above = jnp.cumsum(values[::-1])[::-1] - values  # the sum of the larger ones
    leading = above < share * values.sum()
    inverse = jnp.where(leading, 1 / jnp.where(leading, values, 1.0), 0.0)
    return -(vectors * inverse) @ (vectors.T @ grads)
