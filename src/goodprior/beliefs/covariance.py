"""Cholesky factors that do not fail: in double precision, with a jitter that grows when it must."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

FIRST_JITTER = 1e-10  # relative to the mean variance
LAST_JITTER = 1e-2


def cholesky(
    covariance: Float[Array, "points points"],
) -> tuple[Float[Array, "points points"], Float[Array, ""]]:
    """The lower Cholesky factor of `covariance + jitter`, and the relative jitter it took.

    The jitter starts at 1e-10 of the mean variance and grows tenfold until the factor is finite.
    Beyond 1e-2 the factor stays NaN; `check_factor` turns that into an error.
    """
    size = covariance.shape[-1]
    unit = jnp.mean(jnp.diagonal(covariance)) * jnp.eye(size, dtype=covariance.dtype)

    def attempt(jitter: Array) -> Array:
        return jnp.linalg.cholesky(covariance + jitter * unit)

    def failed(carry: tuple[Array, Array]) -> Array:
        factor, jitter = carry
        # A failed factorisation is NaN throughout, so its last entry tells.
        return ~jnp.isfinite(factor[-1, -1]) & (jitter < LAST_JITTER)

    def grow(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        _, jitter = carry
        return attempt(10 * jitter), 10 * jitter

    first = jnp.asarray(FIRST_JITTER, covariance.dtype)
    return jax.lax.while_loop(failed, grow, (attempt(first), first))


def check_functions(functions: Array, belief: object) -> None:
    """Say clearly when a belief gave no finite functions. Nothing to check while tracing."""
    if isinstance(functions, jax.core.Tracer) or np.isfinite(np.asarray(functions)).all():
        return
    raise ValueError(
        "the belief's covariance could not be factorised even with a jitter of "
        f"{LAST_JITTER:g} of its variance, so it is no covariance: check the kernel's "
        f"hyper-parameters (positive and finite) and the points. The belief is {belief}"
    )
