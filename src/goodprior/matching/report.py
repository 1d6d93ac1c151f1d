"""How like the belief's the prior's functions are, column by column and in words."""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior.beliefs.base import Belief
from goodprior.beliefs.measurement import MeasurementSet
from goodprior.matching.distances import energy_distance, mean_distance
from goodprior.priors import Prior

DRAWS = 256
POINTS = 60  # along each column
MOST = 16  # columns
TOO_MUCH = 1 / 3  # a relative difference that is warned about
FLAT = 2e-3  # changes from point to point, relative to the amplitude, that count as none


class Along(NamedTuple):
    """What functions are like along one column, the others at their means.

    Attributes
    ----------
    spread : float
        Standard deviation of the values, over draws and points.
    roughness : float
        Root mean squared difference between neighbouring points, divided by their distance: that
        of the median draw.
    crossings : float
        How often a draw crosses its own mean.
    """

    spread: float
    roughness: float
    crossings: float


class Column(NamedTuple):
    """Belief and prior along one column.

    Attributes
    ----------
    name : str
        Of the column.
    belief, prior : Along
        In standard units.
    is_flat : bool
        Whether the belief's functions hardly change along it.
    """

    name: str
    belief: Along
    prior: Along
    is_flat: bool

    def warning(self) -> str | None:
        """What differs by more than a third, in words."""
        found = []
        pairs = zip(Along._fields, self.belief, self.prior, strict=True)
        for what, wanted, got in pairs:
            if what == "crossings" and (self.is_flat or wanted < 1.5 > got):
                continue  # nearly straight lines cross their mean once
            if what == "roughness" and self.is_flat and got < 2 * wanted:
                continue
            if abs(got / wanted - 1) > TOO_MUCH:
                found.append(f"{what} {got:.2g} where the belief's is {wanted:.2g}")
        return f"along {self.name} the prior has {', '.join(found)}" if found else None


class MatchReport(NamedTuple):
    """How well a prior carries a belief.

    Attributes
    ----------
    how : str
        `steps` or `closed form`.
    columns : tuple of Column
        At most 16, the first ones.
    distance, before : float
        Energy distance to the belief, now and before matching, on new draws at new points.
    scale : float
        The mean distance between two draws of the belief, in the same units.
    warnings : tuple of str
        What differs by more than a third, and what to do about it.

    Examples
    --------
    >>> alike = Along(1.0, 2.0, 3.0)
    >>> column = Column("age", alike, alike._replace(roughness=9.0), False)
    >>> print(MatchReport("steps", (column,), 0.1, 0.5, 1.0).warnings[0])
    along age the prior has roughness 9 where the belief's is 2: state a belief and leave ...
    """

    how: str
    columns: tuple[Column, ...]
    distance: float
    before: float
    scale: float

    @property
    def share(self) -> float:
        """The distance as a share of the distance before, at least 0."""
        return max(self.distance, 0.0) / max(self.before, 1e-12)

    @property
    def warnings(self) -> tuple[str, ...]:
        remedy = (
            "state a belief and leave hidden, activation and network out, so that a network is "
            "chosen for it"
            if self.how == "steps"
            else "give the belief longer lengthscales, or a wider network"
        )
        worst_first = sorted(self.columns, key=_difference, reverse=True)
        found = [text for column in worst_first if (text := column.warning())]
        if found:
            more = f" (and along {len(found) - 1} more)" if len(found) > 1 else ""
            return (f"{found[0]}{more}: {remedy}",)
        if self.distance > 0.1 * self.scale:
            share = f"{self.distance / self.scale:.0%} of the distance between two of the belief's"
            return (f"the prior's functions are {share} away from them: {remedy}",)
        return ()

    def __str__(self) -> str:
        left = "none" if self.distance < 0.01 * self.scale else f"{self.share:.0%}"
        by = "in closed form" if self.how == "closed form" else "by matching"
        worst = max(self.columns, key=_difference, default=None)
        text = f"like the belief {by}: {left} of the distance before is left"
        if worst is None:
            return text
        return (
            f"{text}; largest difference of roughness {_difference(worst):.0%}, along {worst.name}"
        )


def _difference(column: Column) -> float:
    return 0.0 if column.is_flat else abs(column.prior.roughness / column.belief.roughness - 1)


def report_match(
    prior: Prior,
    belief: Belief,
    points: MeasurementSet,
    *,
    lines: Sequence[Float[np.ndarray, "points in"]],
    names: Sequence[str],
    outputs: int,
    unmatched: Prior,
    how: str,
    key: PRNGKeyArray,
) -> MatchReport:
    """Compare functions of prior and belief along lines through the columns, and at new points.

    Parameters
    ----------
    prior : Prior
        As it is now.
    belief : Belief
        What it should be like.
    points : MeasurementSet
        Where distances are measured.
    lines : sequence of array
        Points along each column, in standard units.
    names : sequence of str
        Of the columns.
    outputs : int
        How many of the network's outputs are functions that the belief is about.
    unmatched : Prior
        As it was before.
    how : str
        `steps` or `closed form`.
    key : PRNGKeyArray
        Of all random numbers.
    """
    key_points, key_belief, key_prior = jax.random.split(key, 3)
    columns = []
    for name, line in [*zip(names, lines, strict=True)][:MOST]:
        x = jnp.asarray(line, jnp.float32)
        believed = np.asarray(belief.sample(key_belief, x, DRAWS), np.float64)[..., :outputs]
        ours = np.asarray(_functions(prior, key_prior, x), np.float64)[..., :outputs]
        unit = np.sqrt(np.mean(believed**2, axis=(0, 1)))
        step = float(np.linalg.norm(line[1] - line[0]))
        wanted, got = (_along(functions / unit, step) for functions in (believed, ours))
        columns.append(Column(name, wanted, got, wanted.roughness * step < FLAT))
    x = points.sample(key_points)
    target = jnp.asarray(belief.sample(key_belief, x, DRAWS), jnp.float32)[..., :outputs]
    now, before = (
        float(energy_distance(_functions(one, key_prior, x)[..., :outputs], target))
        for one in (prior, unmatched)
    )
    return MatchReport(how, tuple(columns), now, before, float(mean_distance(target)))


def _along(functions: Float[np.ndarray, "draws points out"], step: float) -> Along:
    flat = np.moveaxis(functions, 2, 1).reshape(-1, functions.shape[1])
    rough = np.sqrt(np.mean((np.diff(flat) / step) ** 2, axis=1))
    above = flat > flat.mean(axis=1, keepdims=True)
    crossings = np.mean(np.sum(above[:, 1:] != above[:, :-1], axis=1))
    spread = 1.4826 * np.median(np.abs(flat))  # a standard deviation that outliers do not move
    return Along(float(spread), float(np.median(rough)), float(crossings))


@eqx.filter_jit
def _functions(prior: Prior, key: PRNGKeyArray, x: Float[Array, "points in"]) -> Array:
    return prior.functions(key, x, DRAWS)
