"""Matching by the KL divergence: what was tried before Wasserstein (paper, section 5.3).

`KL(prior || belief) = -E log p_belief(f) + E log p_prior(f)` over functions drawn from the prior.
The first term needs the belief's density; the second, an entropy, is not known for a network.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.beliefs.base import Belief, as_points
from goodprior.beliefs.covariance import cholesky
from goodprior.beliefs.gaussian_process import GaussianProcess
from goodprior.matching.distances import AsPublished, Functions, Others, Randomised
from goodprior.matching.schedule import CHUNK
from goodprior.matching.stein import stein_score


class KL(AsPublished):
    """The cross-entropy term alone, stopped early (Flam-Shepherd et al., 2017).

    What it reports is how much less probable under the belief the prior's functions are than the
    belief's own. Its minimum is a prior whose functions are all the same, so it stops as soon as
    they are as probable; with `early_stopping=False` it goes on. A share `jitter` of the belief's
    variance is added to it: functions of smooth beliefs have next to no density otherwise.

    The belief must be a `GaussianProcess`, since a hierarchical belief has no density.
    """

    jitter: float = eqx.field(static=True, default=1e-4)
    early_stopping: bool = eqx.field(static=True, default=True)
    belief: GaussianProcess | None = None
    x: Float[Array, "points in"] | None = None

    def __check_init__(self):
        checks.positive("jitter", self.jitter)

    def of(self, belief: Belief) -> "KL":
        if not isinstance(belief, GaussianProcess):
            raise ValueError(
                "the KL distances need the density of the belief, which a GaussianProcess has and "
                f"a {type(belief).__name__} has not; match with another distance"
            )
        return eqx.tree_at(lambda d: d.belief, self, belief, is_leaf=lambda x: x is None)

    def at(self, x: Float[Array, "points ..."]) -> "KL":
        return eqx.tree_at(lambda d: d.x, self, as_points("x", x), is_leaf=lambda a: a is None)

    def arrived(self, values: Float[np.ndarray, " steps"]) -> bool:
        return self.early_stopping and float(np.nanmean(values[-CHUNK:])) <= 0

    def surprise(self, functions: Functions) -> Float[Array, ""]:
        """`-E log p_belief(f)`, up to a constant; outputs are independent."""
        assert self.belief is not None
        assert self.x is not None
        away = functions - self.belief.mean_at(self.x)
        grad = jax.lax.stop_gradient(self._precision_times(away))
        product = (grad * away).sum(axis=(1, 2)).mean()
        return product - 0.5 * jax.lax.stop_gradient(product)

    def _precision_times(self, away: Functions) -> Functions:
        """The inverse of the belief's covariance at the points, times each function."""
        belief, x = self.belief, self.x
        assert belief is not None
        assert x is not None
        flat = jnp.moveaxis(away, 1, 0).reshape(len(x), -1)
        with jax.enable_x64(True):
            wide = x.astype(jnp.float64)
            factor = cholesky(belief.kernel(wide, wide), self.jitter)
            solved = cho_solve((factor, True), flat.astype(jnp.float64)).astype(jnp.float32)
        return jnp.moveaxis(solved.reshape(len(x), len(away), -1), 0, 1)

    def __call__(self, state: Any, functions: Functions, target: Others) -> Float[Array, ""]:
        return self.surprise(functions) - self.surprise(target)


class KLStein(Randomised, KL):
    """With the entropy's gradient from the spectral Stein estimator (Sun et al., 2019).

    The value that it reports is still the cross-entropy's; only the gradient has both terms. So
    that the functions have a density, noise with the variance of the jitter is added to them.
    """

    early_stopping: bool = eqx.field(static=True, default=False)
    share: float = eqx.field(static=True, default=0.99)

    def divergence(self, key: PRNGKeyArray, functions: Functions) -> Float[Array, ""]:
        """Something with the gradient of `KL(prior || belief)`, and the cross-entropy's value."""
        assert self.belief is not None
        assert self.x is not None
        variance = jnp.mean(self.belief.kernel(self.x))
        noise = jax.random.normal(key, functions.shape)
        noisy = functions + jnp.sqrt(self.jitter * variance) * noise
        flat = noisy.reshape(len(noisy), -1)
        score = jax.lax.stop_gradient(stein_score(flat, self.share))
        grad = jnp.sum(score * flat, axis=1).mean()  # its gradient is that of E log p_prior(f)
        return self.surprise(noisy) + grad - jax.lax.stop_gradient(grad)

    def __call__(self, state: Any, functions: Functions, target: Others) -> Float[Array, ""]:
        return self.divergence(state, functions) - self.surprise(target)
