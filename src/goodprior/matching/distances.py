"""Distances between two samples of functions: their contract and the ones without a critic."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

Functions = Float[Array, "draws points out"]


class Distance(eqx.Module):
    """How far two samples of functions are from each other, as something to minimise.

    A distance may have a state that is fitted between two steps of the prior (a critic). It also
    says how the prior should follow its gradient: `optimiser` and the number of `steps`.
    """

    steps: eqx.AbstractVar[int]
    redraw: eqx.AbstractVar[int]  # pairs of samples that `fit` consumes (0: the step's own pair)

    def init(self, key: PRNGKeyArray, points: int) -> Any:
        """The state before the first step."""
        return None

    def fit(self, key: PRNGKeyArray, state: Any, pair: Callable[[Array], tuple[Array, Array]]):
        """The state fitted to samples; `pair(i)` gives the i-th pair (functions, target)."""
        return state

    @abstractmethod
    def __call__(self, state: Any, functions: Functions, target: Functions) -> Float[Array, ""]:
        """The value to minimise, differentiable in `functions`."""

    @abstractmethod
    def optimiser(self, steps: int) -> optax.GradientTransformation:
        """The optimiser of the prior's parameters for a run of `steps` steps."""


def pairwise_distances(a: Functions, b: Functions) -> Float[Array, "draws draws2"]:
    """Euclidean distances over all points and outputs, safe to differentiate at zero."""
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    squares = (a**2).sum(-1)[:, None] + (b**2).sum(-1)[None] - 2 * a @ b.T
    return jnp.sqrt(jnp.maximum(squares, 1e-12))


def energy_distance(a: Functions, b: Functions) -> Float[Array, ""]:
    """`2 E|X - Y| - E|X - X'| - E|Y - Y'|` between two samples, without bias.

    Zero in expectation only when both come from one distribution. Norms are Euclidean over all
    points and outputs; pairs of a draw with itself are left out.

    >>> import jax
    >>> x = jax.random.normal(jax.random.key(0), (500, 10, 1))
    >>> bool(energy_distance(x[:250], x[250:]) < energy_distance(x[:250], 2 * x[250:]))
    True
    """
    return 2 * pairwise_distances(a, b).mean() - _mean_of_pairs(a) - _mean_of_pairs(b)


def _mean_of_pairs(a: Functions) -> Float[Array, ""]:
    distances = pairwise_distances(a, a)
    n = len(a)
    return (distances.sum() - jnp.trace(distances)) / (n * (n - 1))


def squared_mmd(a: Functions, b: Functions, lengthscale: float | None = None) -> Float[Array, ""]:
    """Squared maximum mean discrepancy with an RBF kernel, without bias (paper, appendix A.8).

    The kernel compares whole functions, by the Euclidean distance over points and outputs. The
    paper's lengthscale is `sqrt(2 * inputs)`; without one, the median distance within `b` is taken.
    """
    if lengthscale is None:
        lengthscale = jnp.median(pairwise_distances(b, b))  # type: ignore[assignment]

    def kernel(x: Array, y: Array) -> Array:
        return jnp.exp(-0.5 * (pairwise_distances(x, y) / lengthscale) ** 2)

    def within(x: Array) -> Array:
        gram, n = kernel(x, x), len(x)
        return (gram.sum() - jnp.trace(gram)) / (n * (n - 1))

    return within(a) + within(b) - 2 * kernel(a, b).mean()


class Energy(Distance):
    """The energy distance. It needs no critic, so a step costs little more than its functions.

    >>> Energy(steps=50).steps
    50
    """

    steps: int = eqx.field(static=True, default=200)
    learning_rate: float = eqx.field(static=True, default=0.2)
    redraw: int = eqx.field(static=True, default=0)

    def __call__(self, state: None, functions: Functions, target: Functions) -> Float[Array, ""]:
        return energy_distance(functions, target)

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        return optax.adam(optax.cosine_decay_schedule(self.learning_rate, steps, alpha=0.05))
