import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from goodprior.baselines import fit_early_stopping, fit_map
from goodprior.data import Scaling
from goodprior.evaluation import class_nll, nll
from goodprior.inference import Binary, Gaussian
from goodprior.networks import MLP
from goodprior.priors import (
    FlowPrior,
    GaussianPrior,
    GibbsHierarchicalPrior,
    MarginalHierarchicalPrior,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
Y = X @ [1.0, -0.5] + 0.3 + 0.5 * RNG.normal(size=60)
LINEAR = MLP(2, (), 1, key=jax.random.key(0))
SMALL = MLP(2, (5,), 1, key=jax.random.key(0))


def _fading(epoch):
    return 0.05 * 0.99**epoch


@pytest.mark.slow
def test_map_of_a_linear_network_is_ridge_regression():
    scale, noise = 0.5, 0.25
    prior = GaussianPrior(LINEAR, {"layers.0.weight": scale, "layers.0.bias": 1e3})
    posterior = fit_map(
        prior, Gaussian(noise), X, Y,
        epochs=1000, learning_rate=_fading, batch_size=None, key=jax.random.key(1),
    )  # fmt: skip
    # The layer divides by sqrt(2), so its weights are N(0, scale^2 / 2) on the inputs themselves.
    ridge = Ridge(alpha=noise / (scale**2 / 2)).fit(X, Y)
    np.testing.assert_allclose(posterior.predict(X).mean[:, 0], ridge.predict(X), atol=2e-3)
    weights = posterior.draws.layers[0].weight
    np.testing.assert_allclose(weights[0, 0, 0] / np.sqrt(2), ridge.coef_, atol=2e-3)
    assert (posterior.chains, posterior.draws_per_chain) == (1, 1)


def test_minibatches_lead_to_the_same_mode():
    fits = [
        fit_map(GaussianPrior(LINEAR), Gaussian(0.25), X, Y, batch_size=size, epochs=600,
                learning_rate=_fading, key=jax.random.key(1)).predict(X).mean
        for size in (None, 20)
    ]  # fmt: skip
    np.testing.assert_allclose(*fits, atol=5e-3)


def test_with_a_scaling_everything_stays_on_its_own_scale():
    wide = 100 * Y + 7
    posterior = fit_map(
        GaussianPrior(LINEAR), Gaussian(0.25), X, wide, scaling=Scaling.fit(X, wide), epochs=300,
        learning_rate=0.05, key=jax.random.key(1),
    )  # fmt: skip
    assert np.corrcoef(posterior.predict(X).mean[:, 0], wide)[0, 1] > 0.85
    assert abs(float(posterior.predict(X).mean.mean()) - wide.mean()) < 10


@pytest.mark.slow
def test_patience_keeps_rows_aside_and_stops():
    posterior = fit_map(
        GaussianPrior(SMALL), Gaussian(0.25), X, Y, epochs=2000, patience=10, key=jax.random.key(1)
    )
    assert 10 <= posterior.report["epochs"] < 2000
    assert posterior.report["validation_nll"] < 1.5


@pytest.mark.slow
def test_early_stopping_keeps_the_weights_that_did_best_on_rows_kept_aside():
    """Twelve noisy rows and far too low a noise variance: going on makes it worse."""
    few, targets = X[:12], Y[:12] + RNG.normal(size=12)
    settings = {"batch_size": None, "learning_rate": 0.05, "validation": 0.5, "epochs": 500}
    stopped, longest = (
        fit_early_stopping(
            SMALL,
            Gaussian(0.05),
            few,
            targets,
            patience=patience,
            key=jax.random.key(1),
            **settings,
        )
        for patience in (10, 500)
    )
    assert stopped.report["epochs"] < 500 == longest.report["epochs"]
    assert longest.report["validation_nll"] <= stopped.report["validation_nll"]
    fresh = RNG.normal(size=(500, 2))
    truth = fresh @ [1.0, -0.5] + 0.3
    whole = fit_map(
        GaussianPrior(SMALL, 100.0), Gaussian(0.05), few, targets, epochs=500, learning_rate=0.05,
        batch_size=None, key=jax.random.key(1),
    )  # fmt: skip
    assert nll(stopped.predict(fresh), truth) < nll(whole.predict(fresh), truth)


@pytest.mark.slow
def test_a_classifier_separates_two_blobs():
    labels = (X[:, 0] > 0).astype(int)
    posterior = fit_early_stopping(SMALL, Binary(), X, labels, epochs=100, key=jax.random.key(1))
    assert class_nll(posterior.predict(X), labels) < 0.4


@pytest.mark.slow
@pytest.mark.parametrize(
    "prior", [MarginalHierarchicalPrior(SMALL), FlowPrior(SMALL, 2, key=jax.random.key(0))]
)
def test_other_priors_have_a_mode_too(prior):
    posterior = fit_map(prior, Gaussian(0.25), X, Y, epochs=100, key=jax.random.key(1))
    assert float(jnp.abs(posterior.predict(X).mean[:, 0] - Y).mean()) < 0.6


def test_row_weights_count_without_a_penalty():
    """Weighted least squares: the rows without weight are far off, and others count twice."""
    weights = RNG.integers(0, 3, 60).astype(float)
    targets = np.where(weights > 0, Y, 100.0)
    posterior = fit_map(
        GaussianPrior(LINEAR), Gaussian(0.25), X, targets, row_weights=weights, penalised=False,
        epochs=600, learning_rate=_fading, batch_size=None, key=jax.random.key(1),
    )  # fmt: skip
    exact = LinearRegression().fit(X, targets, weights)
    np.testing.assert_allclose(posterior.predict(X).mean[:, 0], exact.predict(X), atol=5e-3)


def test_row_weights_count_in_validation():
    """Early stopping sees the validation rows with their weights: the wild ones have none."""
    targets = Y.copy()
    targets[::3] += 1000.0
    weights = np.ones(60)
    weights[::3] = 0.0
    posterior = fit_early_stopping(
        LINEAR, Gaussian(0.25), X, targets, row_weights=weights, epochs=300, learning_rate=0.05,
        batch_size=None, key=jax.random.key(1),
    )  # fmt: skip
    assert posterior.report["validation_nll"] < 2


def test_validation_rows_must_have_some_weight():
    weights = np.zeros(60)
    weights[0] = 1.0
    with pytest.raises(ValueError, match="all of the 12 validation rows have a weight of zero"):
        fit_early_stopping(LINEAR, Gaussian(0.25), X, Y, row_weights=weights, key=jax.random.key(1))


def test_a_prior_with_a_gibbs_step_is_refused():
    with pytest.raises(ValueError, match="use its marginal form"):
        fit_map(GibbsHierarchicalPrior(SMALL), Gaussian(0.25), X, Y, key=jax.random.key(1))


def test_rows_that_do_not_fit_are_met_with_the_same_words_as_in_sampling(as_users_run_it):
    with pytest.raises(ValueError, match="as many rows: 60 and 59"):
        fit_map(GaussianPrior(SMALL), Gaussian(0.25), X, Y[1:], key=jax.random.key(1))
    with pytest.raises(ValueError, match="needs a network with 2 outputs"):
        fit_map(GaussianPrior(SMALL), Gaussian(0.25), X, np.c_[Y, Y], key=jax.random.key(1))
