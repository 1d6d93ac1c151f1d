import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arviz_stats.base.array import array_stats

from goodprior import MCLMC, NUTS, Gaussian, GaussianPrior, sample_posterior
from goodprior.inference import Heteroscedastic
from goodprior.inference.samplers.mclmc import State
from goodprior.networks import MLP, Dense, WithLogNoise
from goodprior.priors import GibbsHierarchicalPrior
from tests.monte_carlo import LIMIT, assert_mean

KEY = jax.random.key(0)
X = np.linspace(-2, 2, 30)[:, None]
Y = np.sin(2 * X) + 0.1 * np.random.default_rng(0).normal(size=X.shape)
PRIOR = GaussianPrior(MLP(1, (10,), 1, key=KEY), {"layers.0.weight": 2.0})


def run(sampler, **options):
    settings = {"chains": 4, "draws": 20, "collapse": True, "key": jax.random.key(1)} | options
    return sample_posterior(PRIOR, Gaussian(0.01), X, Y, sampler=sampler, **settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"energy_error": 0.0}, "energy_error"),
        ({"burn_in": 1}, "burn_in"),
        ({"thinning": 0}, "thinning"),
        ({"window": 0}, "window"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        MCLMC(**settings)


def test_a_prior_with_a_gibbs_step_is_refused():
    prior = GibbsHierarchicalPrior(Dense(1, 1, key=KEY))
    with pytest.raises(ValueError, match="noncentred"):
        sample_posterior(prior, Gaussian(0.1), X, Y, sampler=MCLMC(), key=KEY)


@pytest.mark.parametrize("asked", [5e-4, 5e-3])
def test_the_step_size_is_adapted_to_the_asked_energy_error(asked):
    report = run(MCLMC(asked, burn_in=600, thinning=40)).report
    assert asked / 3 < report.energy_error < 3 * asked
    assert report.energy_error_asked == asked
    assert report.acceptance > 0.99
    assert report.gradients == 4 * 20 * 40


def test_chains_share_step_size_and_scales_and_run_in_double_precision():
    state = run(MCLMC(burn_in=60), draws=2).run_state.chains.sampler
    assert np.ptp(state.log_steps / state.counted) == 0
    assert (state.step_size <= 0.95 * np.exp(state.log_steps / state.counted) * 1.0001).all()
    assert np.ptp(state.inverse_mass, axis=0).max() == 0
    np.testing.assert_allclose(np.log(state.inverse_mass[0]).mean(), 0, atol=1e-12)
    assert len(np.unique(state.inverse_mass[0])) == 2  # weights and biases of the hidden layer
    assert state.position.dtype == state.gradient.dtype == np.float64
    np.testing.assert_allclose(np.linalg.norm(state.momentum, axis=1), 1, rtol=1e-10)
    assert jnp.zeros(()).dtype == jnp.float32  # outside nothing has changed


def states_with(step_size, energy):
    one = MCLMC().init(KEY, jnp.zeros(3))
    both = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), one)
    return both._replace(
        step_size=jnp.array(step_size),
        energy=jnp.array(energy),
        log_steps=jnp.full(2, 4 * jnp.log(0.1 / 0.95)),
        counted=jnp.full(2, 4.0),
    )


def test_a_step_is_shorter_where_errors_are_large_and_never_longer_than_burn_in_found_it():
    asked, steps = 1e-3, 20
    found = MCLMC(asked).control(
        states_with([0.1, 0.1], [steps * asked * 64, steps * asked]), steps
    )
    np.testing.assert_allclose(found.step_size, [0.05, 0.1], rtol=1e-5)
    assert not found.energy.any()
    found = MCLMC(asked).control(states_with([0.05, 0.098], [0.0, 0.0]), steps)
    np.testing.assert_allclose(found.step_size, [0.055, 0.1], rtol=1e-5)


@pytest.mark.parametrize(("by", "thinning"), [(1.5, 60), (1.6, 80), (3.0, 120)])
def test_a_longer_run_has_whole_chunks_between_draws(by, thinning):
    longer = MCLMC(burn_in=1000, thinning=40).prolonged(by)
    assert (longer.thinning, longer.chunk, longer.burn_in, longer.settled) == (
        *(thinning, 20, 400, True),
    )


def test_a_run_that_goes_on_averages_the_step_over_its_own_burn_in():
    sampler = MCLMC(burn_in=400, thinning=40)
    before = run(sampler, draws=2)
    again = run(sampler.prolonged(1.0), draws=2, start=before)
    counted = [np.unique(p.run_state.chains.sampler.counted).tolist() for p in (before, again)]
    assert counted == [[3.0], [10.0]]  # windows: of the last 0.15 of burn-in, of half of it


def test_chains_that_meet_a_stiffer_place_go_on_with_shorter_steps():
    """As if all places that burn-in had seen were less stiff: steps five times too long."""
    sampler = MCLMC(burn_in=400, thinning=40)
    before = run(sampler, draws=2)
    chains = before.run_state.chains
    states = chains.sampler
    states = states._replace(
        step_size=5 * states.step_size, log_steps=states.log_steps + np.log(5) * states.counted
    )
    state = before.run_state._replace(chains=chains._replace(sampler=states))
    after = run(sampler, draws=12, resume=eqx.tree_at(lambda p: p.run_state, before, state))
    ratio = np.asarray(after.run_state.chains.sampler.step_size / states.step_size)
    assert ((ratio > 0.1) & (ratio < 0.6)).all(), ratio  # 0.2 is right, give or take one halving


def test_starts_where_the_density_is_not_finite_find_back():
    sampler = MCLMC(burn_in=200)

    def target(position, batch):
        return jnp.where(jnp.abs(position).max() < 3, -0.5 * jnp.sum(position**2), jnp.nan)

    state = sampler.init(KEY, jnp.full(5, 20.0))
    for step in range(20):
        state, _ = sampler.warm_up(KEY, state, None, target, jnp.asarray(step))
    assert isinstance(state, State)
    assert np.isfinite(state.log_density)
    assert np.abs(state.position).max() < 3


@pytest.mark.slow
def test_function_values_are_those_of_nuts_with_all_weights():
    """Quantiles of functions and noise, within Monte Carlo error of both."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-2, 2, 25))[:, None]
    y = np.sin(2 * x) + 0.2 * rng.normal(size=x.shape)
    network = WithLogNoise(MLP(1, (4,), 1, key=KEY), MLP(1, (2,), 1, key=KEY))
    prior = GaussianPrior(network, {"function.layers.0.weight": 1.5})
    likelihood, grid = Heteroscedastic(1e-3, 0.1), np.linspace(-2, 2, 9)[:, None]
    samplers = (NUTS(0.9, burn_in=600, thinning=2), MCLMC(burn_in=600))
    values = []
    for sampler in samplers:
        found = sample_posterior(
            *(prior, likelihood, x, y),
            **{"sampler": sampler, "chains": 8, "draws": 500, "key": KEY},
            collapse=sampler.name == "mclmc",
        )
        values.append(np.asarray(found.functions(grid), np.float64).reshape(8, 500, -1))
    for level in (0.05, 0.5, 0.95):
        pooled = np.quantile(np.concatenate(values, axis=1), level, axis=(0, 1))
        below = [np.moveaxis((v < pooled).astype(float), -1, 0) for v in values]
        error = np.hypot(*(np.asarray(array_stats.mcse(b)) for b in below))
        z = (below[0].mean((1, 2)) - below[1].mean((1, 2))) / error
        assert np.abs(z).max() < LIMIT, (level, z)


SCALES = jnp.array([1.0, 0.5, 2.0, 1.0, 1.0, 0.7, 1.5, 1.0])


def gaussian(position, batch):
    return -0.5 * jnp.sum((position / SCALES) ** 2)


def test_steps_draw_from_a_gaussian():
    """Moments in closed form, from means over stretches that are longer than the memory."""
    sampler = MCLMC()
    state = sampler.recompute(sampler.init(KEY, SCALES), None, gaussian)
    state = state._replace(step_size=jnp.asarray(0.5))

    def step(state, key):
        state, info = sampler.step(key, state, None, gaussian)
        return state, (state.position, info.acceptance)

    keys = jax.random.split(jax.random.key(3), 60_000)
    _, (positions, made) = jax.jit(lambda: jax.lax.scan(step, state, keys))()
    assert made.all()
    stretches = np.asarray(positions / SCALES).reshape(200, 300, -1)
    assert_mean(stretches.mean(axis=1), 0.0)
    assert_mean((stretches**2).mean(axis=1), 1.0)


def test_burn_in_begins_with_a_descent():
    sampler = MCLMC(burn_in=1000)
    state = sampler.init(KEY, 2.0 * SCALES)

    def step(state, number):
        return sampler.warm_up(KEY, state, None, gaussian, number)[0], None

    numbers = jnp.arange(sampler.burn_in // 10)
    state, _ = jax.jit(lambda: jax.lax.scan(step, state, numbers))()
    assert gaussian(2.0 * SCALES, None) == -16.0
    assert gaussian(state.position, None) > -4.0
