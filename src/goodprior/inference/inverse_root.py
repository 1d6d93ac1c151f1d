"""The inverse Cholesky factor of a small matrix, with next to no LAPACK.

LAPACK's triangular solver, and its Cholesky factor of more than a hundred rows, start threads of
their own: beside other work on the machine they wait for each other a thousand times longer than
they compute. Products of blocks do not.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

LARGEST = 64  # rows that are given to LAPACK's Cholesky


def inverse_root(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The lower triangular R with R' R the inverse of a symmetric positive definite matrix.

    Parameters
    ----------
    matrix
        Not positive definite: the result has NaN.

    Returns
    -------
    Array
        The inverse of the Cholesky factor.

    Examples
    --------
    >>> jnp.diag(inverse_root(jnp.diag(jnp.array([4.0, 16.0])))).tolist()
    [0.5, 0.25]
    """
    size = len(matrix)
    if size <= LARGEST:
        return _inverse_of_triangle(jnp.linalg.cholesky(matrix))
    half = size // 2
    first = inverse_root(matrix[:half, :half])
    below = matrix[half:, :half] @ first.T
    second = inverse_root(matrix[half:, half:] - below @ below.T)
    return _triangle(first, -second @ below @ first, second)


def _inverse_of_triangle(factor: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The inverse of a lower triangle: of its diagonal, then of blocks twice as wide each time."""
    size = len(factor)
    full = 1 << (size - 1).bit_length()
    padded = jnp.eye(full, dtype=factor.dtype).at[:size, :size].set(factor)
    inverse, width = 1 / jnp.diag(padded)[:, None, None], 1
    while width < full:
        count = full // (2 * width)
        blocks = padded.reshape(count, 2 * width, count, 2 * width)
        below = jnp.moveaxis(jnp.diagonal(blocks, axis1=0, axis2=2), -1, 0)[:, width:, :width]
        first, second = inverse[0::2], inverse[1::2]
        inverse = _triangle(first, -second @ below @ first, second)
        width *= 2
    return inverse[0, :size, :size]


def _triangle(
    first: Float[Array, "*blocks a a"],
    corner: Float[Array, "*blocks b a"],
    second: Float[Array, "*blocks b b"],
) -> Float[Array, "*blocks n n"]:
    nothing = jnp.zeros_like(jnp.swapaxes(corner, -1, -2))
    top = jnp.concatenate([first, nothing], axis=-1)
    return jnp.concatenate([top, jnp.concatenate([corner, second], axis=-1)], axis=-2)
