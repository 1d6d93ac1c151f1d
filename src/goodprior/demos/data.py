"""The paper's synthetic example, drawn here: no file is needed."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from goodprior.beliefs import GaussianProcess, rbf


class Example(NamedTuple):
    """Training rows, and the true function on a fine grid of the same standardised units."""

    X: Float[Array, "rows 1"]
    y: Float[Array, "rows 1"]
    grid: Float[Array, "grid 1"]
    truth: Float[Array, "grid 1"]


def gap_1d(seed: int = 10, rows: int = 64, noise_variance: float = 0.1) -> Example:
    """One input with a gap (paper, section 5.1), standardised.

    A draw of a GP with lengthscale 1.8 and amplitude 1.6 on [-10, 10], seen at points that leave
    40 % of the range empty, with Gaussian noise.

    >>> gap_1d().X.shape
    (64, 1)
    """
    key_x, key_f, key_noise = jax.random.split(jax.random.key(seed), 3)
    low, high, gap = -10.0, 10.0, 4.0
    u = jax.random.uniform(key_x, (rows,), minval=-1.0, maxval=1.0)
    x = jnp.sign(u) * (gap + jnp.abs(u) * (high - gap))
    grid = jnp.linspace(low, high, 400)
    everywhere = jnp.concatenate([x, grid])[:, None]
    f = GaussianProcess(rbf(1.8, 1.6**2)).sample(key_f, everywhere, 1)[0, :, 0]
    y = f[:rows] + jnp.sqrt(noise_variance) * jax.random.normal(key_noise, (rows,))

    def standard(values: Array, by: Array) -> Array:
        return ((values - by.mean()) / by.std())[:, None]

    return Example(standard(x, x), standard(y, y), standard(grid, x), standard(f[rows:], y))


def crescents(
    seed: int = 0, rows: int = 400, noise: float = 0.2
) -> tuple[Float[Array, "rows 2"], Int[Array, " rows"]]:
    """Two interleaved crescents, one for each class: points and labels 0 or 1.

    >>> X, y = crescents(rows=10)
    >>> X.shape, int(y.sum())
    ((10, 2), 5)
    """
    key_angle, key_noise = jax.random.split(jax.random.key(seed))
    y = jnp.arange(rows) % 2
    angle = jnp.pi * jax.random.uniform(key_angle, (rows,))
    x0 = jnp.where(y == 0, jnp.cos(angle), 1 - jnp.cos(angle))
    x1 = jnp.where(y == 0, jnp.sin(angle), 0.5 - jnp.sin(angle))
    return jnp.stack([x0, x1], axis=1) + noise * jax.random.normal(key_noise, (rows, 2)), y
