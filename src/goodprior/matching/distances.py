"""Distances between two samples of functions: their contract and the ones without a critic."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior.beliefs.base import Belief

Functions = Float[Array, "draws points out"]
Others = Float[Array, "others points out"]  # a second sample, which may have another size


class Distance(eqx.Module):
    """How far two samples of functions are from each other, as something to minimise.

    A distance may have a state that is fitted between two steps of the prior (a critic). It also
    says how the prior should follow its gradient: for how many `steps` at most, with how many
    `draws` of each side at no more than `points` of the measurement set in each step, after how
    many steps to meet the belief's draws again with new draws of the prior (`bank`, a multiple of
    ten), whether to stop early at a plateau and settle (`settles`), with which `optimiser`, and how
    strongly to `pull` the prior's scales toward one against drifting along flat valleys.
    """

    steps: eqx.AbstractVar[int]
    draws: eqx.AbstractVar[int]
    points: eqx.AbstractVar[int | None]
    bank: eqx.AbstractVar[int | None]
    settles: eqx.AbstractVar[bool]
    pull: eqx.AbstractVar[float]

    @property
    def redraw(self) -> int:
        """How many pairs of samples `fit` wants beside the step's own."""
        return 0

    def init(self, key: PRNGKeyArray, points: int) -> Any:
        """The state before the first step."""
        return None

    def fit(self, key: PRNGKeyArray, state: Any, pair: Callable[[Array], tuple[Array, Array]]):
        """The state fitted to samples; `pair(i)` gives the i-th pair (functions, target)."""
        return state

    def of(self, belief: Belief) -> "Distance":
        """The distance from this belief. Most see only its functions and stay as they are."""
        return self

    def at(self, x: Float[Array, "points ..."]) -> "Distance":
        """The distance at these points, likewise."""
        return self

    def arrived(self, values: Float[np.ndarray, " steps"]) -> bool:
        """Whether to stop at once, after these values; a plateau is looked for anyway."""
        return False

    @abstractmethod
    def __call__(self, state: Any, functions: Functions, target: Others) -> Float[Array, ""]:
        """The value to minimise, differentiable in `functions`."""

    @abstractmethod
    def optimiser(self) -> optax.GradientTransformation:
        """The optimiser of the prior's parameters."""


def pairwise_distances(a: Functions, b: Others) -> Float[Array, "draws others"]:
    """Euclidean distances over all points and outputs, safe to differentiate at zero."""
    centre = b.mean(axis=0)  # large common values would cost the squares their precision
    a, b = (a - centre).reshape(len(a), -1), (b - centre).reshape(len(b), -1)
    squares = (a**2).sum(-1)[:, None] + (b**2).sum(-1)[None] - 2 * a @ b.T
    return jnp.sqrt(jnp.maximum(squares, 1e-12))


def energy_distance(a: Functions, b: Others) -> Float[Array, ""]:
    """`2 E|X - Y| - E|X - X'| - E|Y - Y'|` between two samples, without bias.

    Zero in expectation only when both come from one distribution. Norms are Euclidean over all
    points and outputs; pairs of a draw with itself are left out.

    >>> import jax
    >>> x = jax.random.normal(jax.random.key(0), (500, 10, 1))
    >>> bool(energy_distance(x[:250], x[250:]) < energy_distance(x[:250], 2 * x[250:]))
    True
    """
    return 2 * pairwise_distances(a, b).mean() - spread(a) - spread(b)


def spread(a: Functions) -> Float[Array, ""]:
    """The mean distance between two draws."""
    distances = pairwise_distances(a, a)
    n = len(a)
    return (distances.sum() - jnp.trace(distances)) / (n * (n - 1))


def squared_mmd(
    a: Functions, b: Others, lengthscale: float | Float[Array, ""] | None = None
) -> Float[Array, ""]:
    """Squared maximum mean discrepancy with an RBF kernel, without bias (paper, appendix A.8).

    The kernel compares whole functions, by the Euclidean distance over points and outputs. The
    paper's lengthscale is `sqrt(2 * inputs)`; without one, the median distance within `b` is taken.
    """
    width = median_distance(b) if lengthscale is None else lengthscale

    def kernel(x: Array, y: Array) -> Array:
        return jnp.exp(-0.5 * (pairwise_distances(x, y) / width) ** 2)

    def within(x: Array) -> Array:
        gram, n = kernel(x, x), len(x)
        return (gram.sum() - jnp.trace(gram)) / (n * (n - 1))

    return within(a) + within(b) - 2 * kernel(a, b).mean()


def median_distance(a: Functions) -> Float[Array, ""]:
    """The median of the distances between functions, `squared_mmd`'s own lengthscale."""
    return jnp.median(pairwise_distances(a, a)[jnp.triu_indices(len(a), 1)])


class Randomised(Distance):
    """A distance with random numbers of its own: its state is a key, another one in each step."""

    def init(self, key: PRNGKeyArray, points: int) -> PRNGKeyArray:
        return key

    def fit(
        self, key: PRNGKeyArray, state: PRNGKeyArray, pair: Callable[[Array], tuple[Array, Array]]
    ) -> PRNGKeyArray:
        return key


class Direct(Distance):
    """What the distances without a critic share: Adam, a plateau to stop at, a weak pull.

    Steps are small (64 draws at 50 of the points, others in each step): twice the draws at twice
    the points come about as near to the belief, and cost four times as much.
    """

    steps: int = eqx.field(static=True, default=400)
    draws: int = eqx.field(static=True, default=64)
    points: int | None = eqx.field(static=True, default=50)
    bank: int | None = eqx.field(static=True, default=100)
    learning_rate: float = eqx.field(static=True, default=0.2)
    settles: bool = eqx.field(static=True, default=True)
    pull: float = eqx.field(static=True, default=5e-5)

    def optimiser(self) -> optax.GradientTransformation:
        return optax.adam(self.learning_rate)


class AsPublished(Distance):
    """What the paper's distances share: RMSprop for 200 steps, with new draws in each."""

    steps: int = eqx.field(static=True, default=200)
    draws: int = eqx.field(static=True, default=128)
    points: int | None = eqx.field(static=True, default=None)
    bank: int | None = eqx.field(static=True, default=None)
    learning_rate: float = eqx.field(static=True, default=0.05)
    settles: bool = eqx.field(static=True, default=False)
    pull: float = eqx.field(static=True, default=0.0)

    def optimiser(self) -> optax.GradientTransformation:
        return optax.rmsprop(self.learning_rate, decay=0.99, eps=1e-8)


class Energy(Direct):
    """The energy distance. It needs no critic, so a step costs little more than its functions.

    >>> Energy(steps=50).steps
    50
    """

    def __call__(self, state: None, functions: Functions, target: Others) -> Float[Array, ""]:
        return energy_distance(functions, target)


class MMD(Direct):
    """Squared maximum mean discrepancy, in units of the belief's spread.

    The kernel is an RBF with the median distance between belief draws as its lengthscale.
    """

    def __call__(self, state: None, functions: Functions, target: Others) -> Float[Array, ""]:
        return spread(target) * squared_mmd(functions, target)


class Sliced(Randomised, Direct):
    """The mean 1-Wasserstein distance between projections onto random directions.

    Directions are unit vectors over points and outputs, drawn anew at every step; along each, the
    distance of two samples of equal size is the mean distance of their sorted values.
    """

    directions: int = eqx.field(static=True, default=100)

    def __call__(
        self, state: PRNGKeyArray, functions: Functions, target: Others
    ) -> Float[Array, ""]:
        a, b = functions.reshape(len(functions), -1), target.reshape(len(target), -1)
        ways = jax.random.normal(state, (a.shape[1], self.directions))
        ways = ways / jnp.linalg.norm(ways, axis=0)
        along_a, along_b = jnp.sort(a @ ways, axis=0), jnp.sort(b @ ways, axis=0)
        return jnp.abs(along_a - along_b).mean()
