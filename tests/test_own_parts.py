"""Networks of the user's own, with none of our layers, go all the way."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import GaussianProcess, Grid, rbf
from goodprior.evaluation import accuracy, rmse
from goodprior.inference import SGHMC, Binary, Gaussian, sample_posterior
from goodprior.matching import MatchSchedule, match
from goodprior.priors import GaussianPrior

POINTS = Grid([-1.5], [1.5], per_input=8)
X = np.linspace(-1.5, 1.5, 40)[:, None]
SAMPLER = SGHMC(burn_in=1000, thinning=200)
SETTINGS = {"sampler": SAMPLER, "chains": 2, "draws": 5, "key": jax.random.key(2)}


def _matched(network, variance):
    belief, key = GaussianProcess(rbf(1.0, variance)), jax.random.key(1)
    schedule = MatchSchedule(steps=40)
    matched, history = match(GaussianPrior(network), belief, POINTS, schedule=schedule, key=key)
    assert history.after.energy_distance < history.before.energy_distance / 2
    assert type(matched.weights(matched.sample(key))) is type(network)
    return matched


@pytest.mark.slow
def test_equinoxs_own_mlp_is_matched_and_learns_numbers():
    network = eqx.nn.MLP(1, 1, 10, 1, activation=jnp.tanh, key=jax.random.key(0))
    y = 0.8 * X[:, 0] - 0.2
    posterior = sample_posterior(_matched(network, 0.3), Gaussian(0.01), X, y, **SETTINGS)
    assert rmse(posterior.predict(X), y) < 0.1


class Polynomial(eqx.Module):
    """Weights, whole numbers that are not random, and a plain function."""

    coefficients: jax.Array
    powers: jax.Array
    squash: object

    def __call__(self, x):
        return self.squash((self.coefficients * x[0] ** self.powers).sum(keepdims=True))


@pytest.mark.slow
def test_a_module_by_hand_is_matched_and_learns_classes():
    network = Polynomial(jnp.zeros(4), jnp.arange(4), lambda y: 9 * jnp.tanh(y / 9))
    y = (np.abs(X[:, 0]) < 0.8).astype(int)
    posterior = sample_posterior(_matched(network, 16.0), Binary(), X, y, **SETTINGS)
    assert accuracy(posterior.predict(X), y) > 0.9
