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

SETS = 4  # measurement sets that a comparison averages over


class Comparison(NamedTuple):
    """How like two samples of functions are, whatever was minimised to make them so.

    Attributes
    ----------
    energy_distance : float
        See `goodprior.matching.energy_distance`.
    squared_mmd : float
        See `goodprior.matching.squared_mmd`; the lengthscale is the belief's median distance.
    std_ratio : float
        Ratio of marginal standard deviations, prior over belief, averaged over the points.
    """

    energy_distance: float
    squared_mmd: float
    std_ratio: float


def compare(
    prior: Prior, belief: Belief, points: MeasurementSet, *, key: PRNGKeyArray, draws: int = 2000
) -> Comparison:
    """Compare the prior's functions with the belief's, on new draws at new points.

    A quarter of the draws each is at another measurement set, since distances depend on it: on real
    data they can be twice as large at one as at another.

    Parameters
    ----------
    prior : Prior
        Whose functions are compared.
    belief : Belief
        What they are compared with.
    points : MeasurementSet
        Where they are compared.
    key : PRNGKeyArray
        Of all random numbers.
    draws : int
        Functions of each side, at least 2.

    Returns
    -------
    Comparison
        Means over the measurement sets.

    Examples
    --------
    >>> import jax
    >>> from goodprior.beliefs import GaussianProcess, Grid, rbf
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(MLP(1, (20,), 1, key=jax.random.key(0)))
    >>> belief, points = GaussianProcess(rbf(0.5)), Grid([-1], [1], 5)
    >>> compare(prior, belief, points, key=jax.random.key(1), draws=100).energy_distance > 0
    True
    """
    checks.whole("draws", draws, least=2)
    sets = min(SETS, draws // 2)
    found = []
    for key_set in jax.random.split(key, sets):
        key_points, key_belief, key_prior = jax.random.split(key_set, 3)
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
