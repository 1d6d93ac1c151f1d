"""A network of the user's own, with none of our layers, goes all the way."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import GaussianProcess, Grid, rbf
from goodprior.inference import Gaussian, sample_posterior
from goodprior.matching import match
from goodprior.priors import GaussianPrior


class Polynomial(eqx.Module):
    """Weights, whole numbers that are not random, and a plain function."""

    coefficients: jax.Array
    powers: jax.Array
    squash: object

    def __call__(self, x):
        return self.squash((self.coefficients * x[0] ** self.powers).sum(keepdims=True))


NETWORKS = {
    "equinox's own MLP": eqx.nn.MLP(1, 1, 10, 1, activation=jnp.tanh, key=jax.random.key(0)),
    "a module by hand": Polynomial(jnp.zeros(4), jnp.arange(4), lambda y: 3 * jnp.tanh(y / 3)),
}


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS.keys())
def test_a_users_own_module_is_matched_and_sampled(network):
    belief, points = GaussianProcess(rbf(1.0, 0.3)), Grid([-1.5], [1.5], per_input=8)
    matched, history = match(
        GaussianPrior(network), belief, points, steps=40, key=jax.random.key(1)
    )
    assert history.after.energy_distance < history.before.energy_distance / 2
    X = np.linspace(-1.5, 1.5, 40)[:, None]
    y = 0.8 * X[:, 0] - 0.2
    posterior = sample_posterior(
        matched,
        Gaussian(0.01),
        X,
        y,
        chains=2,
        burn_in=1000,
        draws=5,
        thinning=200,
        key=jax.random.key(2),
    )
    prediction = posterior.predict(X)
    assert np.sqrt(np.mean((prediction.mean[:, 0] - y) ** 2)) < 0.1
    drawn = matched.weights(matched.sample(jax.random.key(3)))
    assert type(drawn) is type(network)
