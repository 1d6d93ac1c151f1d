"""Measurement sets: the points at which belief and network are compared (paper, section 3.1)."""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks


class MeasurementSet(eqx.Module):
    """A distribution of `size` points, or a fixed set. Sets add up: `Rows(X) + Box(...)`.

    Examples
    --------
    >>> import jax
    >>> rows = jax.numpy.arange(20.0)[:, None]
    >>> both = Rows(rows, size=5) + Box([0.0], [19.0], size=3)
    >>> both.size, both.sample(jax.random.key(0)).shape
    (8, (8, 1))
    """

    size: eqx.AbstractVar[int]

    @abstractmethod
    def sample(self, key: PRNGKeyArray) -> Float[Array, "points ..."]:
        """Draw the points."""

    def __add__(self, other: "MeasurementSet") -> "Mix":
        return Mix((self, other))


class Rows(MeasurementSet):
    """Random rows of a table, or images, without repeats while they last.

    Parameters
    ----------
    X : array_like
        The rows.
    size : int
        How many are drawn.
    noise : float
        Standard deviation of Gaussian noise that is added to them.

    Examples
    --------
    >>> import jax
    >>> Rows(jax.numpy.arange(20.0)[:, None], size=5, noise=0.1).sample(jax.random.key(0)).shape
    (5, 1)
    """

    X: Float[Array, "rows ..."]
    size: int = eqx.field(static=True)
    noise: float

    def __init__(self, X: object, size: int = 100, noise: float = 0.0):
        self.X = checks.rows("X", X)
        self.size = checks.whole("size", size)
        if not (np.isfinite(noise) and noise >= 0):
            raise ValueError(f"noise must be a finite number, zero or above, got {noise!r}")
        self.noise = noise

    @eqx.filter_jit
    def sample(self, key: PRNGKeyArray) -> Float[Array, "points ..."]:
        key_rows, key_noise = jax.random.split(key)
        replace = self.size > len(self.X)
        rows = jax.random.choice(key_rows, len(self.X), (self.size,), replace=replace)
        points = self.X[rows]
        return points + self.noise * jax.random.normal(key_noise, points.shape)


class Box(MeasurementSet):
    """Uniform points between two corners, or in a region of that box.

    Parameters
    ----------
    low, high : array_like
        The corners, one number per input.
    size : int
        How many points are drawn.
    inside : callable, optional
        From one point to True or False; points outside are drawn again.

    Examples
    --------
    >>> import jax
    >>> disc = Box([-1, -1], [1, 1], size=50, inside=lambda x: (x**2).sum() < 1)
    >>> points = disc.sample(jax.random.key(0))
    >>> bool(((points**2).sum(axis=1) < 1).all())
    True
    """

    low: Float[Array, " in"]
    high: Float[Array, " in"]
    size: int = eqx.field(static=True)
    inside: Callable[[Float[Array, " in"]], Array] | None = eqx.field(static=True)

    def __init__(
        self,
        low: object,
        high: object,
        size: int = 100,
        inside: Callable[[Float[Array, " in"]], Array] | None = None,
    ):
        self.low, self.high = _corners(low, high)
        self.size = checks.whole("size", size)
        self.inside = inside

    def sample(self, key: PRNGKeyArray) -> Float[Array, "points ..."]:
        shape = (self.size, len(self.low))
        if self.inside is None:
            return jax.random.uniform(key, shape, minval=self.low, maxval=self.high)
        found: list[Array] = []
        for attempt in range(100):
            points = jax.random.uniform(
                jax.random.fold_in(key, attempt), shape, minval=self.low, maxval=self.high
            )
            found.append(points[np.asarray(jax.vmap(self.inside)(points))])
            if sum(map(len, found)) >= self.size:
                return jnp.concatenate(found)[: self.size]
        raise ValueError(
            f"only {sum(map(len, found))} of {100 * self.size} points of the box lie inside the "
            "region; give a box that fits it more closely"
        )


class Grid(MeasurementSet):
    """A regular grid; the same points every time.

    Parameters
    ----------
    low, high : array_like
        The corners, one number per input.
    per_input : int
        Points along each input.

    Examples
    --------
    >>> import jax
    >>> Grid([-6], [6], per_input=200).sample(jax.random.key(0)).shape
    (200, 1)
    """

    points: Float[Array, "points in"]
    size: int = eqx.field(static=True)

    def __init__(self, low: object, high: object, per_input: int = 100):
        first, last = _corners(low, high)
        checks.whole("per_input", per_input, least=2)
        if per_input ** len(first) > 10_000:
            raise ValueError(
                f"a grid of {per_input} points along {len(first)} inputs has "
                f"{per_input ** len(first):,} points; use rows or a box instead"
            )
        axes = [np.linspace(a, b, per_input) for a, b in zip(first, last, strict=True)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        self.points = jnp.asarray(grid, jnp.float32)
        self.size = len(grid)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "points ..."]:
        return self.points


class Near(MeasurementSet):
    """A random one of some points and its nearest neighbours, `size` in all.

    Over the whole range of the inputs a distance hardly depends on how rough functions are from one
    point to the next; in such a neighbourhood it does.

    Parameters
    ----------
    points : MeasurementSet
        Where the points come from.
    size : int
        How many, the first among them.

    Examples
    --------
    >>> import jax
    >>> Near(Grid([-6], [6], per_input=200), size=20).sample(jax.random.key(0)).shape
    (20, 1)
    """

    points: MeasurementSet
    size: int = eqx.field(static=True)

    def __init__(self, points: MeasurementSet, size: int):
        if checks.whole("size", size, least=2) > points.size:
            raise ValueError(f"size is {size}, but there are only {points.size} points")
        self.points, self.size = points, size

    def sample(self, key: PRNGKeyArray) -> Float[Array, "points ..."]:
        key_points, key_centre = jax.random.split(key)
        x = self.points.sample(key_points)
        centre = jax.random.choice(key_centre, x)
        _, nearest = jax.lax.top_k(-((x - centre) ** 2).reshape(len(x), -1).sum(axis=1), self.size)
        return x[nearest]


class Mix(MeasurementSet):
    """Several measurement sets together.

    Parameters
    ----------
    parts : tuple of MeasurementSet
        With the same number of inputs each.
    """

    parts: tuple[MeasurementSet, ...]

    def __init__(self, parts: tuple[MeasurementSet, ...]):
        self.parts = parts

    @property
    def size(self) -> int:  # type: ignore[override]
        return sum(part.size for part in self.parts)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "points ..."]:
        keys = jax.random.split(key, len(self.parts))
        points = [p.sample(k) for p, k in zip(self.parts, keys, strict=True)]
        widths = [part.shape[1:] for part in points]
        if len(set(widths)) > 1:
            found = " and ".join("x".join(map(str, width)) for width in widths)
            raise ValueError(f"the parts of a mix must have as many inputs, they have {found}")
        return jnp.concatenate(points)


def rows_and_box(X: object, size: int = 100, share: float = 0.7) -> Mix:
    """The paper's measurement set: 70 % rows of the training inputs, 30 % uniform in their box.

    Parameters
    ----------
    X : array_like
        Standardised training inputs.
    size : int
        Points in all.
    share : float
        The part of them that are rows.

    Returns
    -------
    Mix
        `Rows` and a `Box`.

    Examples
    --------
    >>> import jax
    >>> rows_and_box(jax.numpy.arange(20.0).reshape(10, 2)).sample(jax.random.key(0)).shape
    (100, 2)
    """
    table = checks.matrix("X", X)
    checks.whole("size", size, least=2)
    if not 0 < share < 1:
        raise ValueError(f"share must be between 0 and 1, got {share!r}")
    rows = min(max(round(share * size), 1), size - 1)
    return Rows(table, rows) + Box(table.min(axis=0), table.max(axis=0), size - rows)


def _corners(low: object, high: object) -> tuple[Array, Array]:
    first = checks.matrix("low", np.atleast_1d(np.asarray(low))[None])[0]
    last = checks.matrix("high", np.atleast_1d(np.asarray(high))[None])[0]
    if first.shape != last.shape or not bool((first <= last).all()):
        raise ValueError(
            f"low must not be above high for any input, got {first.tolist()} and {last.tolist()}"
        )
    return first, last
