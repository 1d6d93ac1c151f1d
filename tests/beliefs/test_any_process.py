"""A belief is anything with `sample(key, x, n)`: plain classes that know nothing of the library."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from scipy import stats

from goodprior import FlowPrior, GaussianPrior, Grid, MatchSchedule, Stacked, match
from goodprior.beliefs import Belief
from goodprior.matching.distances import energy_distance
from goodprior.networks import MLP

POINTS = Grid([-2], [2], per_input=12)
BRIEFLY = {"schedule": MatchSchedule(steps=150, draws=64), "held_out": 0, "key": jax.random.key(1)}
X = jnp.linspace(-2, 2, 30)[:, None]


def generator(key):
    return np.random.default_rng(np.asarray(jax.random.key_data(key)))


class StudentTProcess:
    """A Gaussian process, each draw of it stretched by a random amount."""

    def sample(self, key, x, n):
        rng, x = generator(key), np.asarray(x, np.float64)
        covariance = np.exp(-0.5 * (x - x.T) ** 2) + 1e-6 * np.eye(len(x))
        functions = rng.normal(size=(n, len(x))) @ np.linalg.cholesky(covariance).T
        return (functions / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3))[..., None]


class NeverFalls:
    """Positive steps on top of an uncertain start."""

    def sample(self, key, x, n):
        rng, knots = generator(key), np.linspace(-2, 2, 9)
        steps = rng.gamma(shape=0.5, scale=0.6, size=(n, len(knots)))
        curves = rng.normal(-1.5, 0.3, size=(n, 1)) + steps.cumsum(axis=1)
        return np.stack([np.interp(np.asarray(x)[:, 0], knots, c) for c in curves])[..., None]


class Stretched(eqx.Module):
    """A network and how far all of its outputs are stretched."""

    network: MLP
    log_stretch: Array

    def __call__(self, x):
        return jnp.exp(self.log_stretch) * self.network(x)


class RisingSteps(eqx.Module):
    """Soft steps with positive weights."""

    log_steepness: Array
    place: Array
    log_height: Array
    level: Array

    def __call__(self, x):
        steps = jnp.tanh(jnp.exp(self.log_steepness) * (x - self.place))
        return self.level + (jnp.exp(self.log_height) * steps).mean()


@eqx.filter_jit
def functions_of(prior):
    return prior.functions(jax.random.key(9), X, 1000)


def distances_to(belief, *priors):
    target = jnp.asarray(belief.sample(jax.random.key(8), X, 1000), jnp.float32)
    return [float(energy_distance(functions_of(prior), target)) for prior in priors]


@pytest.mark.slow
def test_a_student_t_process_can_be_matched():
    """The stretch of the draws is found: values have the Student-t's quantiles at any level."""
    network = MLP(1, (30,), 1, activation="sin", key=jax.random.key(0))
    prior = GaussianPrior(Stretched(network, jnp.zeros(())), {"log_stretch": 0.2})
    matched, _ = match(prior, StudentTProcess(), POINTS, **BRIEFLY)
    before, after = distances_to(StudentTProcess(), prior, matched)
    assert after < 0.1 * before
    values = np.abs(functions_of(matched))
    for level in (0.5, 0.8, 0.95):
        wanted = stats.t(3).ppf((1 + level) / 2)
        assert np.quantile(values, level) == pytest.approx(wanted, rel=0.15)


@pytest.mark.slow
def test_an_expert_who_says_that_it_never_falls_can_be_matched():
    """The direction comes with the network, the rest from the belief."""
    many = jnp.zeros(15)
    prior = FlowPrior(RisingSteps(many, many, many, jnp.zeros(1)), key=jax.random.key(0))
    matched, _ = match(prior, NeverFalls(), POINTS, **BRIEFLY)
    before, after = distances_to(NeverFalls(), prior, matched)
    assert after < 0.5 * before
    assert (np.diff(functions_of(matched), axis=1) > -1e-4).all()


def test_such_classes_are_beliefs_and_can_be_stacked():
    assert isinstance(NeverFalls(), Belief)
    stacked = Stacked((NeverFalls(), StudentTProcess(), NeverFalls()))
    functions = stacked.sample(jax.random.key(0), X, 5)
    assert functions.shape == (5, 30, 3)
    falls = (np.diff(functions, axis=1) < 0).any(axis=(0, 1))
    assert falls.tolist() == [False, True, False]
    assert not np.isin(functions[..., 0], functions[..., 2]).any()  # parts are independent


class WithoutOutputs:
    def sample(self, key, x, n):
        return np.zeros((n, len(x)))


def test_functions_of_the_wrong_shape_are_met_with_the_rule():
    prior = GaussianPrior(MLP(1, (3,), 1, key=jax.random.key(0)))
    with pytest.raises(ValueError, match=r"must return an array of shape \(n, points, outputs\)"):
        match(prior, WithoutOutputs(), POINTS, key=jax.random.key(1))
