import jax
import numpy as np
import pytest

from goodprior.baselines import fit_ensemble, fit_map
from goodprior.inference import Categorical, Gaussian, Heteroscedastic
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(200, 1))
NOISE = 0.05 + 0.3 * (X[:, 0] > 0)
Y = np.sin(X[:, 0]) + NOISE * RNG.normal(size=200)
TWO = MLP(1, (20,), 2, key=jax.random.key(0))
ONE = MLP(1, (), 1, key=jax.random.key(0))


@pytest.mark.slow
def test_members_differ_and_the_noise_is_where_it_is():
    ensemble = fit_ensemble(
        TWO, Heteroscedastic(), X, Y, weight_decay=1e-5, epochs=100, key=jax.random.key(1)
    )
    functions = ensemble.functions(X)
    assert functions.shape == (5, 200, 2)
    assert len(np.unique(functions[:, 0, 0])) == 5
    std = ensemble.predict(np.array([[-1.0], [1.0]])).std[:, 0]
    assert std[0] == pytest.approx(0.05, abs=0.05)
    assert std[1] == pytest.approx(0.35, abs=0.1)


@pytest.mark.slow
def test_weight_decay_is_the_precision_of_a_gaussian_prior():
    """For a linear network both have one optimum, from wherever the training starts."""
    decay, settings = 0.3, {"epochs": 400, "batch_size": None, "learning_rate": 0.05}
    ensemble = fit_ensemble(
        ONE, Gaussian(0.1), X, Y, members=2, weight_decay=decay, key=jax.random.key(1), **settings
    )
    prior = GaussianPrior(ONE, float((len(X) * decay) ** -0.5))
    mode = fit_map(prior, Gaussian(0.1), X, Y, key=jax.random.key(2), **settings)
    for member in ensemble.functions(X):
        np.testing.assert_allclose(member, mode.functions(X)[0], atol=1e-3)
    x, y = X[:, 0], Y  # ridge regression of slope and offset, both penalised
    features = np.c_[x, np.ones_like(x)]
    penalty = len(x) * decay * 0.1 * np.eye(2)
    slope, offset = np.linalg.solve(features.T @ features + penalty, features.T @ y)
    np.testing.assert_allclose(mode.functions(X)[0, :, 0], slope * x + offset, atol=1e-3)


@pytest.mark.slow
def test_weight_decay_is_chosen_by_validation():
    ensemble = fit_ensemble(
        TWO, Heteroscedastic(), X, Y,
        members=2, weight_decay=(1e-5, 10.0), epochs=50, key=jax.random.key(1),
    )  # fmt: skip
    assert ensemble.report["weight_decay"] == 1e-5
    nlls = dict(ensemble.report["validation_nll"])
    assert nlls[1e-5] < 0.3 < nlls[10.0]
    assert (ensemble.chains, ensemble.draws_per_chain) == (2, 1)


@pytest.mark.slow
def test_classes():
    labels = (X[:, 0] > 0).astype(int) + (X[:, 0] > 1)
    network = MLP(1, (20,), 3, key=jax.random.key(0))
    ensemble = fit_ensemble(
        network, Categorical(3), X, labels, weight_decay=1e-5, key=jax.random.key(1)
    )
    assert (ensemble.predict(X).probabilities.argmax(-1) == labels).mean() > 0.9


def test_the_weight_decay_must_be_positive(as_users_run_it):
    with pytest.raises(ValueError, match="weight_decay must be a finite number above zero, got 0"):
        fit_ensemble(ONE, Gaussian(0.1), X, Y, weight_decay=0, key=jax.random.key(1))
