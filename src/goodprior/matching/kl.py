"""Matching by the KL divergence: what was tried before Wasserstein (paper, section 5.3).

`KL(prior || belief) = -E log p_belief(f) + E log p_prior(f)` over functions drawn from the prior.
The first term needs the belief's density; the second, an entropy, is not known for a network.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.beliefs.base import Belief, as_points
from goodprior.beliefs.covariance import cholesky
from goodprior.beliefs.gaussian_process import GaussianProcess
from goodprior.matching.distances import Distance, Functions, Others, Points, Randomised
from goodprior.matching.schedule import MatchSchedule
from goodprior.matching.stein import stein_score


class CrossEntropy(eqx.Module):
    """How much less probable under the belief some functions are than the belief's own.

    A share `jitter` of the belief's variance is added to its covariance.
    """

    belief: GaussianProcess
    jitter: float = eqx.field(static=True)

    def __call__(
        self, state: Any, functions: Functions, target: Others, x: Points
    ) -> Float[Array, ""]:
        return self.cross_entropy(functions, x) - self.cross_entropy(target, x)

    def cross_entropy(self, functions: Functions, x: Points) -> Float[Array, ""]:
        """`-E log p_belief(f)`, up to a constant; outputs are independent."""
        x = as_points("x", x)
        centred = functions - self.belief.mean_at(x)
        grad = jax.lax.stop_gradient(self._precision_times(centred, x))
        product = (grad * centred).sum(axis=(1, 2)).mean()
        return product - 0.5 * jax.lax.stop_gradient(product)

    def _precision_times(self, centred: Functions, x: Float[Array, "points in"]) -> Functions:
        """The inverse of the belief's covariance at the points, times each function."""
        flat = jnp.moveaxis(centred, 1, 0).reshape(len(x), -1)
        with jax.enable_x64(True):
            wide = x.astype(jnp.float64)
            factor = cholesky(self.belief.kernel(wide, wide), self.jitter)
            solved = cho_solve((factor, True), flat.astype(jnp.float64)).astype(jnp.float32)
        return jnp.moveaxis(solved.reshape(len(x), len(centred), -1), 0, 1)


class SteinDivergence(CrossEntropy):
    """The same value with the gradient of the KL divergence, entropy and all.

    So that the functions have a density, noise with the variance of the jitter is added to them.
    The entropy's gradient is estimated from the leading eigenfunctions of a kernel on them, which
    make up a `share` of the eigenvalues' sum (`stein_score`).
    """

    share: float = eqx.field(static=True)

    def __call__(
        self, state: PRNGKeyArray, functions: Functions, target: Others, x: Points
    ) -> Float[Array, ""]:
        return self.divergence(state, functions, x) - self.cross_entropy(target, x)

    def divergence(self, key: PRNGKeyArray, functions: Functions, x: Points) -> Float[Array, ""]:
        """Something with the gradient of `KL(prior || belief)`, and the cross-entropy's value."""
        variance = jnp.mean(self.belief.kernel(as_points("x", x)))
        noise = jax.random.normal(key, functions.shape)
        noisy = functions + jnp.sqrt(self.jitter * variance) * noise
        flat = noisy.reshape(len(noisy), -1)
        score = jax.lax.stop_gradient(stein_score(flat, self.share))
        entropy = jnp.sum(score * flat, axis=1).mean()  # its gradient is that of E log p_prior(f)
        return self.cross_entropy(noisy, x) + entropy - jax.lax.stop_gradient(entropy)


class KL(Distance):
    """The cross-entropy term alone, stopped early (Flam-Shepherd et al., 2017).

    What it reports is how much less probable under the belief the prior's functions are than the
    belief's own. Its minimum is a prior whose functions are all the same, so its schedule stops as
    soon as they are as probable (`stop_below=0`). The belief must be a `GaussianProcess`, since a
    hierarchical belief has no density.

    Parameters
    ----------
    jitter : float
        This share of the belief's variance is added to its covariance: functions of smooth beliefs
        have next to no density otherwise.

    Examples
    --------
    >>> from goodprior.beliefs import rbf
    >>> metric, x = KL().bind(GaussianProcess(rbf(1.0))), jnp.zeros((2, 1))
    >>> float(metric(None, jnp.ones((3, 2, 1)), jnp.ones((3, 2, 1)), x))
    0.0
    """

    jitter: float = eqx.field(static=True, default=1e-4)

    def __check_init__(self):
        checks.positive("jitter", self.jitter)

    @property
    def default_schedule(self) -> MatchSchedule:
        return MatchSchedule.published(stop_below=0.0)

    def bind(self, belief: Belief) -> CrossEntropy:
        return CrossEntropy(_with_density(belief), self.jitter)


class KLStein(Randomised):
    """KL with the entropy's gradient from the spectral Stein estimator (Sun et al., 2019).

    The value that it reports is still the cross-entropy's; only the gradient has both terms.

    Parameters
    ----------
    jitter : float
        As for `KL`; noise of this variance is also added to the prior's functions.
    share : float
        Share of the kernel's eigenvalues that the estimator keeps.

    Examples
    --------
    >>> KLStein(share=0.9).default_schedule == MatchSchedule.published()
    True
    """

    jitter: float = eqx.field(static=True, default=1e-4)
    share: float = eqx.field(static=True, default=0.99)

    def __check_init__(self):
        checks.positive("jitter", self.jitter)

    @property
    def default_schedule(self) -> MatchSchedule:
        return MatchSchedule.published()

    def bind(self, belief: Belief) -> SteinDivergence:
        return SteinDivergence(_with_density(belief), self.jitter, self.share)


def _with_density(belief: Belief) -> GaussianProcess:
    if not isinstance(belief, GaussianProcess):
        raise ValueError(
            "the KL distances need the density of the belief, which a GaussianProcess has and "
            f"a {type(belief).__name__} has not; match with another distance"
        )
    return belief
