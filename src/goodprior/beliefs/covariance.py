"""Draws by Cholesky factors that do not fail: double precision, and a jitter that grows."""

from collections.abc import Callable

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

JITTERS = tuple(10.0**k for k in range(-10, -1))  # relative to the mean variance


def cholesky(
    covariance: Float[Array, "points points"], jitter: Float[Array, ""] | float = 0.0
) -> Float[Array, "points points"]:
    """The lower Cholesky factor of a covariance with `jitter` of its mean variance added."""
    variance = jnp.mean(jnp.diagonal(covariance))
    noise = jitter * variance * jnp.eye(len(covariance), dtype=covariance.dtype)
    return jax.lax.linalg.cholesky(covariance + noise, symmetrize_input=False)


def with_growing_jitter(draw: Callable[[Array], Array], belief: object) -> Array:
    """`draw(jitter)` with the smallest jitter, from 1e-10 to 1e-2, that gives finite numbers.

    While JAX is tracing, values are not known, and a jitter of 1e-6 is taken.
    """
    for jitter in JITTERS:
        functions = draw(jnp.asarray(jitter))
        if isinstance(functions, jax.core.Tracer):
            return draw(jnp.asarray(1e-6))
        if np.isfinite(np.asarray(functions)).all():
            return functions
    raise ValueError(
        "the belief's covariance could not be factorised even with a jitter of "
        f"{JITTERS[-1]:g} of its variance, so it is no covariance: check the kernel's "
        f"hyper-parameters (positive and finite) and the points. The belief is {belief}"
    )
