"""What is ranked: numbers that do not depend on how a network's units are numbered."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.stats import norm

from goodprior.evaluation.quantities import (
    TestQuantities,
    quantities_of_draws,
    quantities_of_truth,
)
from goodprior.inference import Categorical, Gaussian, Heteroscedastic
from goodprior.networks import MLP, outputs
from goodprior.priors import GaussianPrior, LearnedNoise, NoiseNetworkPrior

X = jnp.linspace(-1, 1, 6)[:, None]
AT = np.array([1, 4])


def prior(out=1, seed=0):
    return GaussianPrior(MLP(1, (3,), out, key=jax.random.key(seed)))


@pytest.mark.parametrize(
    ("made", "likelihood", "names"),
    [
        (prior(), Gaussian(0.1), ["function at row 2", "function at row 5"]),
        (
            prior(2),
            Gaussian(0.1),
            [f"function {i} at row {row}" for row in (2, 5) for i in (1, 2)],
        ),
        (
            LearnedNoise(prior()),
            Heteroscedastic(),
            ["function at row 2", "function at row 5", "log noise"],
        ),
        (
            NoiseNetworkPrior(prior(), prior(seed=1)),
            Heteroscedastic(),
            [f"{what} at row {row}" for what in ("function", "log noise") for row in (2, 5)],
        ),
        (
            prior(3),
            Categorical(3),
            [f"function {i} at row {row}" for row in (2, 5) for i in (1, 2, 3)],
        ),
    ],
)
def test_each_number_has_a_name(made, likelihood, names):
    quantities = TestQuantities(made, likelihood, X, AT)
    assert list(quantities.names) == [*names, "log likelihood", "log prior"]
    latent = made.sample(jax.random.key(1))
    values = outputs(made.weights(latent), X)
    y = likelihood.sample(jax.random.key(2), values)
    found = quantities_of_truth(quantities, latent, y)
    assert found.shape == (len(names) + 2,)
    functions = values[AT][:, :1] if isinstance(likelihood, Heteroscedastic) else values[AT]
    np.testing.assert_allclose(found[: functions.size], functions.ravel(), rtol=1e-5)
    if isinstance(likelihood, Heteroscedastic):
        np.testing.assert_allclose(found[2], values[1, 1], rtol=1e-5)
    np.testing.assert_allclose(found[-1], made.log_prob(latent), rtol=1e-5)


def test_the_log_likelihood_is_that_of_all_rows():
    quantities, y = TestQuantities(prior(), Gaussian(0.25), X, AT), jnp.ones((6, 1))
    latent = prior().sample(jax.random.key(3))
    expected = norm.logpdf(y, outputs(prior().weights(latent), X), 0.5).sum()
    np.testing.assert_allclose(quantities_of_truth(quantities, latent, y)[-2], expected, rtol=1e-5)


def test_draws_have_the_numbers_of_each_of_them():
    quantities, y = TestQuantities(prior(), Gaussian(0.25), X, AT), jnp.ones((6, 1))
    keys = jax.random.split(jax.random.key(4), (2, 3))
    draws = jax.vmap(jax.vmap(prior().sample))(keys)
    found = quantities_of_draws(quantities, draws, y)
    assert found.shape == (2, 3, 4)
    one = jax.tree.map(lambda leaf: leaf[1, 2], draws)
    np.testing.assert_allclose(found[1, 2], quantities_of_truth(quantities, one, y), rtol=1e-5)
