import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.data import Scaling
from goodprior.inference import Categorical, Gaussian, Posterior, posterior
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior

CHAINS, DRAWS = 2, 3
PRIOR = GaussianPrior(MLP(2, (4,), 1, key=jax.random.key(0)))
X = np.random.default_rng(0).normal(size=(11, 2))


def _posterior(prior=PRIOR, likelihood=None, scaling=None):
    keys = jax.random.split(jax.random.key(1), (CHAINS, DRAWS))
    draws = jax.jit(jax.vmap(jax.vmap(prior.sample)))(keys)
    probe = np.zeros((CHAINS, DRAWS, 1), np.float32)
    return Posterior(prior, likelihood or Gaussian(0.25), draws, probe, {}, scaling)


def _by_hand(prior, x):
    """The functions of every draw, chain after chain, one network and one row at a time."""
    keys = jax.random.split(jax.random.key(1), (CHAINS, DRAWS)).reshape(-1)
    one = jax.jit(lambda key, row: prior.weights(prior.sample(key))(row))
    return np.array([[one(key, row) for row in jnp.asarray(x, jnp.float32)] for key in keys])


def test_functions_are_those_of_the_drawn_networks_chain_after_chain():
    found = _posterior().functions(X)
    assert found.shape == (CHAINS * DRAWS, 11, 1)
    np.testing.assert_allclose(found, _by_hand(PRIOR, X), atol=1e-5)


def test_rows_are_evaluated_in_blocks_with_the_same_result(monkeypatch):
    whole = _posterior().functions(X)
    monkeypatch.setattr(posterior, "BLOCK", 100 * CHAINS * DRAWS * 4)  # four rows at a time
    np.testing.assert_allclose(_posterior().functions(X), whole, atol=1e-6)


def test_a_prediction_is_the_mixture_over_draws():
    prediction = _posterior().predict(X)
    functions = _by_hand(PRIOR, X)
    np.testing.assert_allclose(prediction.mean, functions.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(prediction.std, np.sqrt(functions.var(axis=0) + 0.25), rtol=1e-4)


def test_a_scaling_is_undone_in_predictions():
    y = np.random.default_rng(1).normal(size=11) * 9 + 100
    scaling = Scaling.fit(X, y)
    inside = _posterior().predict(scaling.inputs(X))
    outside = _posterior(scaling=scaling).predict(X)
    np.testing.assert_allclose(outside.mean, inside.mean * y.std() + y.mean(), rtol=1e-5)
    np.testing.assert_allclose(outside.std, inside.std * y.std(), rtol=1e-5)


def test_class_probabilities_are_not_rescaled():
    prior = GaussianPrior(MLP(2, (4,), 3, key=jax.random.key(0)))
    scaling = Scaling.fit(X)
    inside = _posterior(prior, Categorical(3)).predict(scaling.inputs(X))
    outside = _posterior(prior, Categorical(3), scaling).predict(X)
    np.testing.assert_allclose(outside.probabilities, inside.probabilities, atol=1e-6)


def test_it_knows_its_chains_and_draws():
    assert (_posterior().chains, _posterior().draws_per_chain) == (CHAINS, DRAWS)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[:, :1], "the network does not take rows of X, which has 1 columns"),
        (X[0], r"X must be a table .*\(2,\)"),
        (X[:0], r"X must be a table .*\(0, 2\)"),
        (X * np.nan, "X must be finite"),
    ],
)
def test_bad_rows_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        _posterior().predict(rows)
