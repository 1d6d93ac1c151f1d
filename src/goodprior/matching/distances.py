"""Distances between two samples of functions: their contract and the ones without a critic."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.beliefs.base import Belief
from goodprior.matching.schedule import MatchSchedule

Functions = Float[Array, "draws points out"]
Others = Float[Array, "others points out"]  # a second sample, which may have another size
Points = Float[Array, "points ..."]  # where both were evaluated


@runtime_checkable
class Metric(Protocol):
    """A distance from a given belief: the value to minimise, differentiable in `functions`."""

    def __call__(
        self, state: Any, functions: Functions, target: Others, x: Points
    ) -> Float[Array, ""]:
        """How far functions of the prior are from functions of the belief, both at points `x`."""
        ...


class Distance(eqx.Module):
    """How far two samples of functions are from each other, as something to minimise.

    A distance may have a state that is fitted between two steps of the prior, such as a critic.
    How the prior follows its gradient is a `MatchSchedule`.

    Examples
    --------
    >>> import jax
    >>> from goodprior.beliefs import GaussianProcess, rbf
    >>> metric = Energy().bind(GaussianProcess(rbf()))
    >>> functions = jax.random.normal(jax.random.key(0), (50, 4, 1))
    >>> bool(metric(None, functions, functions + 1, jax.numpy.zeros((4, 1))) > 0)
    True
    """

    @property
    def default_schedule(self) -> MatchSchedule:
        """The schedule of a match that is given none."""
        return MatchSchedule()

    @property
    def redraw(self) -> int:
        """How many pairs of samples `fit` has beside the step's own; with none it has that one."""
        return 0

    def init(self, key: PRNGKeyArray, points: int) -> Any:
        """The state before the first step, for samples at so many points."""
        return None

    def fit(self, key: PRNGKeyArray, state: Any, pair: Callable[[Array], tuple[Array, Array]]):
        """The state fitted to samples; `pair(i)` gives the i-th pair (functions, target)."""
        return state

    @abstractmethod
    def bind(self, belief: Belief) -> Metric:
        """The distance from this belief, an equinox module.

        Raises
        ------
        ValueError
            If the distance needs more of the belief than its functions, and this one lacks it.
        """


class SampleDistance(Distance):
    """A distance that looks at samples of functions and at nothing else: bound to any belief."""

    def bind(self, belief: Belief) -> "SampleDistance":
        return self

    @abstractmethod
    def __call__(
        self, state: Any, functions: Functions, target: Others, x: Points | None = None
    ) -> Float[Array, ""]:
        """The value to minimise, differentiable in `functions`; `x` does not matter."""


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

    Parameters
    ----------
    a, b : Array
        Functions at the same points, (draws, points, outputs).

    Returns
    -------
    Array
        A scalar, which can be slightly negative.

    Examples
    --------
    >>> import jax
    >>> x = jax.random.normal(jax.random.key(0), (500, 10, 1))
    >>> bool(energy_distance(x[:250], x[250:]) < energy_distance(x[:250], 2 * x[250:]))
    True
    """
    return 2 * pairwise_distances(a, b).mean() - mean_distance(a) - mean_distance(b)


def mean_distance(a: Functions) -> Float[Array, ""]:
    """The mean distance between two draws of a sample, with which scales are measured."""
    return _mean_of_pairs(pairwise_distances(a, a))


def _mean_of_pairs(matrix: Float[Array, "draws draws"]) -> Float[Array, ""]:
    """The mean over all pairs of two different draws."""
    n = len(matrix)
    return (matrix.sum() - jnp.trace(matrix)) / (n * (n - 1))


def squared_mmd(
    a: Functions, b: Others, lengthscale: float | Float[Array, ""] | None = None
) -> Float[Array, ""]:
    """Squared maximum mean discrepancy with an RBF kernel, without bias (paper, appendix A.8).

    The kernel compares whole functions, by the Euclidean distance over points and outputs.

    Parameters
    ----------
    a, b : Array
        Functions at the same points, (draws, points, outputs).
    lengthscale : float, optional
        Of the kernel; the paper's is `sqrt(2 * inputs)`. By default the median distance in `b`.

    Returns
    -------
    Array
        A scalar, which can be slightly negative.

    Examples
    --------
    >>> import jax
    >>> x = jax.random.normal(jax.random.key(0), (500, 10, 1))
    >>> bool(squared_mmd(x[:250], x[250:]) < squared_mmd(x[:250], 2 * x[250:]))
    True
    """
    width = median_distance(b) if lengthscale is None else lengthscale

    def kernel(x: Array, y: Array) -> Array:
        return jnp.exp(-0.5 * (pairwise_distances(x, y) / width) ** 2)

    return _mean_of_pairs(kernel(a, a)) + _mean_of_pairs(kernel(b, b)) - 2 * kernel(a, b).mean()


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


class Energy(SampleDistance):
    """The energy distance. It needs no critic, so a step costs little more than its functions.

    Examples
    --------
    >>> Energy()(None, jnp.zeros((2, 3, 1)), jnp.ones((2, 3, 1))) > 1
    Array(True, dtype=bool)
    """

    def __call__(
        self, state: None, functions: Functions, target: Others, x: Points | None = None
    ) -> Float[Array, ""]:
        return energy_distance(functions, target)


class MMD(SampleDistance):
    """Squared maximum mean discrepancy, in units of the mean distance between belief draws.

    The kernel is an RBF with the median distance between belief draws as its lengthscale.

    Examples
    --------
    >>> import jax
    >>> x = jax.random.normal(jax.random.key(0), (200, 5, 1))
    >>> bool(MMD()(None, x[:100], x[100:]) < MMD()(None, x[:100], 2 * x[100:]))
    True
    """

    def __call__(
        self, state: None, functions: Functions, target: Others, x: Points | None = None
    ) -> Float[Array, ""]:
        return mean_distance(target) * squared_mmd(functions, target)


class Sliced(Randomised, SampleDistance):
    """The mean 1-Wasserstein distance between projections onto random directions.

    Directions are unit vectors over points and outputs, drawn anew at every step; along each, the
    distance of two samples of equal size is the mean distance of their sorted values.

    Parameters
    ----------
    directions : int
        How many directions each step averages over.

    Examples
    --------
    >>> import jax
    >>> x = jax.random.normal(jax.random.key(0), (200, 5, 1))
    >>> sliced = Sliced()
    >>> state = sliced.init(jax.random.key(1), 5)
    >>> bool(sliced(state, x[:100], x[100:]) < sliced(state, x[:100], 2 * x[100:]))
    True
    """

    directions: int = eqx.field(static=True, default=100)

    def __check_init__(self):
        checks.whole("directions", self.directions)

    def __call__(
        self, state: PRNGKeyArray, functions: Functions, target: Others, x: Points | None = None
    ) -> Float[Array, ""]:
        a, b = functions.reshape(len(functions), -1), target.reshape(len(target), -1)
        directions = jax.random.normal(state, (a.shape[1], self.directions))
        directions = directions / jnp.linalg.norm(directions, axis=0)
        along_a, along_b = jnp.sort(a @ directions, axis=0), jnp.sort(b @ directions, axis=0)
        return jnp.abs(along_a - along_b).mean()
