import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.data import Scaling
from goodprior.inference import (
    MCLMC,
    SGHMC,
    Gaussian,
    Heteroscedastic,
    SamplingError,
    sample_posterior,
)
from goodprior.inference import chains as chains_module
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior, LearnedNoise
from goodprior.progress import Pace, StopBurnIn, StopSampling
from tests.monte_carlo import LIMIT, assert_mean

RNG = np.random.default_rng(0)
ROWS, NOISE = 60, 0.5
X = RNG.normal(size=(ROWS, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
Y = X @ [1.0, -0.5] + 0.3 + np.sqrt(NOISE) * RNG.normal(size=ROWS)
SCALES = {"layers.0.weight": 1.5, "layers.0.bias": 0.7}
LINEAR = GaussianPrior(MLP(2, (), 1, key=jax.random.key(0)), SCALES)


def _closed_form():
    """Mean and covariance of Bayesian linear regression, in the NTK-scaled weights and the bias."""
    features = np.column_stack([X / np.sqrt(2), np.ones(ROWS)])
    precision = features.T @ features / NOISE + np.diag([1.5**-2, 1.5**-2, 0.7**-2])
    covariance = np.linalg.inv(precision)
    return covariance @ features.T @ Y / NOISE, covariance


FULL = SGHMC(gradient_noise="none", burn_in=3000, thinning=500, batch_size=None)
BATCHES = SGHMC(momentum_decay=0.05, burn_in=5000, thinning=500, batch_size=20)
LINEAR_CASES = {
    "all rows": (FULL, 1.0),
    "all rows, cold": (FULL, 0.5),
    "minibatches as in the paper": (BATCHES, 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "temperature"), LINEAR_CASES.values(), ids=LINEAR_CASES.keys())
def test_linear_regression_has_its_closed_form_posterior(sampler, temperature):
    posterior = sample_posterior(
        LINEAR,
        Gaussian(NOISE),
        X,
        Y,
        sampler=sampler,
        chains=100,
        draws=20,
        temperature=temperature,
        key=jax.random.key(1),
    )
    assert abs(posterior.report.temperature_50 / temperature - 1) < 0.01
    leaves = jax.tree.leaves(posterior.draws)
    weights = np.concatenate([np.reshape(leaf, (100, 20, -1)) for leaf in leaves], axis=-1)
    mean, covariance = _closed_form()
    deviations = weights - mean
    # Draws of one chain are correlated; the chains' averages are independent.
    assert_mean(deviations.mean(axis=1), 0.0)
    products = deviations[..., :, None] * deviations[..., None, :]
    assert_mean(products.mean(axis=1), temperature * covariance)


def _sghmc(**settings):
    return SGHMC(**{"burn_in": 60, "thinning": 100, "batch_size": 16} | settings)


def _short(X=X, y=Y, *, sampler=None, **changes):
    prior = GaussianPrior(MLP(2, (5,), 1, key=jax.random.key(0)))
    arguments = {"chains": 2, "draws": 3, "key": jax.random.key(7)}
    return sample_posterior(
        prior, Gaussian(NOISE), X, y, sampler=sampler or _sghmc(), **arguments | changes
    )


@pytest.mark.slow
def test_the_same_seed_gives_the_same_draws_bit_for_bit():
    first, again, other = _short(), _short(), _short(key=jax.random.key(8))
    assert eqx.tree_equal(first.draws, again.draws)
    assert np.array_equal(first.probe, again.probe)
    assert first.report == again.report
    assert not eqx.tree_equal(first.draws, other.draws)


def test_more_draws_go_on_from_fewer():
    few, many = _short(draws=2), _short(draws=4)
    assert eqx.tree_equal(few.draws, jax.tree.map(lambda leaf: leaf[:, :2], many.draws))


def test_chains_are_different_and_draws_move():
    weights = _short().draws.layers[0].weight
    assert weights.shape == (2, 3, 5, 2)
    assert len(np.unique(weights)) == weights.size


def test_the_probe_traces_the_functions_between_draws():
    posterior = _short(sampler=_sghmc(thinning=150))
    assert posterior.probe.shape == (2, 3 * 3, 50)  # chains, every 50 steps, 50 of the 60 rows
    at_draws = posterior.probe[:, 2::3]
    functions = posterior.functions(X[:50]).reshape(2, 3, 50)
    np.testing.assert_allclose(at_draws, functions, atol=1e-4)


def test_progress_is_told_between_chunks():
    told = []
    _short(on_progress=lambda *news: told.append(news))
    assert {(60, 360, "burn-in"), (160, 360, "sampling"), (360, 360, "sampling")} <= set(told)
    assert told == sorted(told)


def _student_t():
    """Chains whose stretches end with draws of the read-out and of each row's precision."""
    network = MLP(2, (5,), 1, key=jax.random.key(0))
    return sample_posterior(
        LearnedNoise(GaussianPrior(network)),
        Heteroscedastic(1e-3, degrees=4.0),
        X,
        Y,
        sampler=MCLMC(burn_in=40, thinning=20),
        chains=2,
        draws=2,
        collapse=True,
        key=jax.random.key(7),
    )


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("sample", [lambda: _short(sampler=_sghmc(thinning=250)), _student_t])
def test_a_chunk_in_parts_is_the_same_as_at_once(sample, pieces, monkeypatch):
    monkeypatch.setattr(Pace, "took", lambda self, done, seconds: None)
    monkeypatch.setattr(Pace, "__init__", lambda self: setattr(self, "pieces", 1000))
    whole = sample()
    monkeypatch.setattr(Pace, "__init__", lambda self: setattr(self, "pieces", pieces))
    parts = sample()
    for one, other in zip(
        jax.tree.leaves((whole.draws, whole.probe)),
        jax.tree.leaves((parts.draws, parts.probe)),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-6)


def _at(step, signal):
    def on_progress(done, total, phase):
        if done >= step:
            raise signal

    return on_progress


def test_a_run_that_ends_before_its_first_draw_keeps_where_the_chains_are():
    found = _short(on_progress=_at(60, StopSampling))
    assert found.draws_per_chain == 1
    assert found.predict(X).mean.shape == (ROWS, 1)
    assert eqx.tree_equal(_short(resume=found).draws, _short().draws)  # it goes on from there


def test_a_run_that_ends_between_draws_goes_on_from_the_last(monkeypatch):
    """As if it had not been broken."""
    monkeypatch.setattr(Pace, "took", lambda self, done, seconds: None)  # a look every 50 steps
    broken = _short(on_progress=_at(210, StopSampling))
    assert broken.draws_per_chain == 1
    assert eqx.tree_equal(_short(resume=broken).draws, _short().draws)


def test_burn_in_can_be_cut_short():
    phases = []

    def on_progress(done, total, phase):
        phases.append(phase)
        if phase == "burn-in":
            raise StopBurnIn

    found = _short(sampler=_sghmc(burn_in=10_000), on_progress=on_progress)
    assert found.draws_per_chain == 3
    assert phases.count("burn-in") == 1


@pytest.mark.slow
def test_all_rows_as_a_batch_are_the_same_as_no_batches():
    as_a_batch, without = (_short(sampler=_sghmc(batch_size=size)) for size in (ROWS, None))
    assert eqx.tree_equal(as_a_batch.draws, without.draws)


@pytest.mark.slow
def test_the_report_counts_clamped_noise():
    report = _short(sampler=_sghmc(step_size=0.05, momentum_decay=0.001)).report
    assert report.steps == 360
    assert report.clamped > 0.9
    assert _short().report.clamped < 0.1


def test_the_report_measures_the_noise_of_minibatches(monkeypatch):
    """Of a linear model the variance of the minibatch gradient is known where a chain stands."""
    monkeypatch.setattr(chains_module, "NOISE_BATCHES", 4000)
    batch_size, sampler = 5, SGHMC(step_size=0.1, burn_in=0, thinning=1, batch_size=5)
    posterior = sample_posterior(
        *(LINEAR, Gaussian(NOISE), X, Y),
        **{"sampler": sampler, "chains": 20, "draws": 1, "key": jax.random.key(1)},
    )
    network = posterior.draws.layers[0]
    weights, bias = network.weight[:, 0, 0], network.bias[:, 0]
    residuals = X @ weights.T / np.sqrt(2) + bias[:, 0] - Y[:, None]  # rows, chains
    inputs = np.column_stack([X / np.sqrt(2), np.ones(ROWS)])
    gradients = residuals.T[:, :, None] * inputs / NOISE
    variance = ROWS**2 / batch_size * gradients.var(axis=1)
    state = posterior.run_state.chains.sampler
    expected = np.quantile(
        sampler.temperature(state, jnp.asarray(variance)).temperature, [0.05, 0.5, 0.95]
    )
    report = posterior.report
    found = [report.temperature_5, report.temperature_50, report.temperature_95]
    z = (found / expected - 1) / np.sqrt(2 / 4000)  # the variance of a variance
    assert np.abs(z).max() < LIMIT, z


def test_with_a_scaling_data_and_predictions_stay_on_their_own_scale():
    wide_X, wide_y = 1000 * X + 5, 50 * Y - 7
    scaling = Scaling.fit(wide_X, wide_y)
    scaled = _short(wide_X, wide_y, scaling=scaling)
    plain = _short(scaling.inputs(wide_X), scaling.targets(wide_y))
    assert eqx.tree_equal(scaled.draws, plain.draws)
    inside = plain.predict(scaling.inputs(wide_X))
    outside = scaled.predict(wide_X)
    np.testing.assert_allclose(
        outside.mean, inside.mean * scaling.y_std + scaling.y_mean, rtol=1e-4
    )
    np.testing.assert_allclose(outside.std, inside.std * scaling.y_std, rtol=1e-4)


def test_a_step_that_is_too_long_stops_the_run_and_says_why():
    with pytest.raises(
        SamplingError, match=r"left the finite numbers by step .* smaller step_size"
    ) as stop:
        _short(sampler=_sghmc(step_size=50.0, burn_in=0))
    assert stop.value.posterior is None


def test_draws_kept_before_a_failure_survive():
    # With nothing adapted the rate is step_size^2; times the largest curvature it is just unstable.
    features = np.column_stack([X / np.sqrt(2), np.ones(ROWS)])
    precision = features.T @ features / NOISE + np.diag([1.5**-2, 1.5**-2, 0.7**-2])
    unstable = np.sqrt(4.02 / np.linalg.eigvalsh(precision).max())
    settings = {"burn_in": 0, "thinning": 50, "batch_size": None}
    sampler = SGHMC(step_size=float(unstable), gradient_noise="none", **settings)
    with pytest.raises(SamplingError) as stop:
        sample_posterior(
            LINEAR,
            Gaussian(NOISE),
            X,
            Y,
            sampler=sampler,
            chains=2,
            draws=100,
            key=jax.random.key(1),
        )
    kept = stop.value.posterior
    assert kept is not None
    assert 1 <= kept.draws_per_chain < 100
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(kept.draws))
    assert np.isfinite(kept.predict(X).mean).all()
    assert kept.probe.shape[1] == kept.draws_per_chain
