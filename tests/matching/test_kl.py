import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from goodprior.beliefs import GaussianProcess, Grid, HierarchicalGP, rbf
from goodprior.matching import KL, KLStein, MatchSchedule, match
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior
from tests.monte_carlo import assert_mean

POINTS = Grid([-2.0], [2.0], per_input=4)
BELIEF = GaussianProcess(rbf(1.5, 0.2))
PRIOR = GaussianPrior(MLP(1, (20,), 1, key=jax.random.key(0)))


def test_the_value_is_the_difference_of_cross_entropies():
    belief = GaussianProcess(rbf(0.7, 2.0), mean=lambda x: x[0], outputs=2)
    x = jnp.linspace(-1, 1, 5)[:, None]
    ours = jax.random.normal(jax.random.key(0), (6, 5, 2))
    theirs = belief.sample(jax.random.key(1), x, 7)
    covariance = np.asarray(belief.kernel(x, x), np.float64) + 1e-4 * 2.0 * np.eye(5)
    density = multivariate_normal(np.asarray(x)[:, 0], covariance)

    def cross_entropy(functions):
        each = [density.logpdf(f[:, o]) for f in np.asarray(functions) for o in (0, 1)]
        return -np.sum(each) / len(functions)

    found = eqx.filter_jit(KL().bind(belief))(None, ours, theirs, x)
    assert found == pytest.approx(cross_entropy(ours) - cross_entropy(theirs), rel=1e-3)


@pytest.mark.slow
def test_the_cross_entropy_stops_early_and_collapses_when_it_goes_on():
    settings = {"held_out": 1000, "key": jax.random.key(1)}
    stopped = match(PRIOR, BELIEF, POINTS, distance=KL(), **settings).history
    settings["schedule"] = MatchSchedule.published()
    gone_on = match(PRIOR, BELIEF, POINTS, distance=KL(), **settings).history
    assert len(stopped.distance) < len(gone_on.distance) == 200
    assert stopped.after.energy_distance < 0.5 * stopped.before.energy_distance
    assert gone_on.after.std_ratio < 0.5 * stopped.after.std_ratio
    assert np.mean(gone_on.distance[-20:]) < -0.5  # far more probable than the belief's functions


@pytest.mark.slow
def test_with_the_entropy_it_does_not_collapse():
    _, history = match(
        PRIOR, BELIEF, POINTS, distance="kl-ssge", held_out=1000, key=jax.random.key(1)
    )
    assert len(history.distance) == 200
    assert history.after.energy_distance < 0.5 * history.before.energy_distance
    assert history.after.std_ratio > 0.6


@pytest.mark.slow
def test_the_gradient_vanishes_where_prior_and_belief_are_one():
    """The functions are the belief's own: both terms are there, and their gradients cancel."""
    x = jnp.arange(3.0)[:, None]
    belief = GaussianProcess(rbf(1.0, 1.0))
    keys = jax.random.split(jax.random.key(0), (10, 2))

    def grads(metric):
        bound = metric.bind(belief)
        value = jax.jit(jax.grad(lambda scale, f, key: bound(key, scale * f, f, x)))
        return [float(value(1.0, belief.sample(key, x, 1000), other)) for key, other in keys]

    assert_mean(grads(KL()), 3.0)  # E |white f|^2, to within 0.1
    assert_mean(grads(KLStein(jitter=1e-2)), 0.0)


@pytest.mark.parametrize("distance", ["kl", "kl-ssge"])
def test_a_belief_without_a_density_is_refused(distance):
    with pytest.raises(ValueError, match=r"density of the belief, .* HierarchicalGP has not"):
        match(PRIOR, HierarchicalGP.default(1), POINTS, distance=distance, key=jax.random.key(0))
