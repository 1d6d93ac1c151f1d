"""How like a prior's functions and a belief's are, whatever was minimised to make them so."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.beliefs.base import Belief
from goodprior.beliefs.measurement import MeasurementSet
from goodprior.matching.distances import Functions, energy_distance, squared_mmd
from goodprior.priors import Prior

SETS = 4


class Comparison(NamedTuple):
    """How like two samples of functions are, whatever was minimised to make them so.

    `std_ratio` is the ratio of marginal standard deviations, prior over belief, averaged over the
    points.
    """

    energy_distance: float
    squared_mmd: float
    std_ratio: float


def compare(
    prior: Prior, belief: Belief, points: MeasurementSet, *, key: PRNGKeyArray, draws: int = 2000
) -> Comparison:
    """Compare the prior's functions with the belief's, on fresh draws at fresh points.

    A quarter of the draws each is at another measurement set, since distances depend on it: on real
    data they can be twice as large at one as at another.
    """
    checks.whole("draws", draws, least=2)
    sets = min(SETS, draws // 2)
    found = []
    for one in jax.random.split(key, sets):
        key_points, key_belief, key_prior = jax.random.split(one, 3)
        x = points.sample(key_points)
        target = jnp.asarray(belief.sample(key_belief, x, draws // sets), jnp.float32)
        found.append(_compare(prior, key_prior, x, target))
    return Comparison(*map(float, jnp.mean(jnp.array(found), axis=0)))


@eqx.filter_jit
def _compare(
    prior: Prior, key: PRNGKeyArray, x: Float[Array, "points ..."], target: Functions
) -> tuple[Array, Array, Array]:
    functions = prior.functions(key, x, len(target))
    ratio = jnp.mean(functions.std(0) / target.std(0))
    return energy_distance(functions, target), squared_mmd(functions, target), ratio
