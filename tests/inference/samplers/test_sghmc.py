"""SGHMC one step at a time, on a quadratic in one dimension where everything is known."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

from goodprior.fast_normal import fast_normal
from goodprior.inference import SGHMC
from goodprior.inference.samplers.sghmc import State
from tests.monte_carlo import LIMIT

WEIGHTS = 20_000  # independent copies of the one-dimensional problem


class Case(NamedTuple):
    """A sampler, the frozen estimates, the true noise of the gradient, what DESIGN predicts."""

    sampler: SGHMC
    square: float  # V
    mean: float  # g, so that V - g^2 is the noise that is assumed when it is estimated
    noise: float  # B
    temperature: float


CASES = {
    # Full batch with the noise told: exact.
    "exact": Case(SGHMC(gradient_noise="none"), 1e4, 0.0, 0.0, 1.0),
    "exact, with JAX's own noise": Case(
        SGHMC(gradient_noise="none", noise="gaussian"), 1e4, 0.0, 0.0, 1.0
    ),
    # The paper's correction: right when B = V, too cold by eps^2 sqrt(V) / (2 alpha) without noise.
    "minibatch": Case(SGHMC(), 1e4, 0.0, 1e4, 1.0),
    "cold": Case(SGHMC(), 1e4, 0.0, 0.0, 0.5),
    "half cold": Case(SGHMC(), 1e4, 0.0, 0.5e4, 0.75),
    # Clamped, sqrt(V) > 2 alpha / eps^2 = 200: too hot, by sqrt(V) / 200.
    "hot": Case(SGHMC(), 1e6, 0.0, 1e6, 5.0),
    "hot without correction": Case(SGHMC(gradient_noise="none"), 1e4, 0.0, 1e4, 1.5),
    # Estimated: B = V - g^2 is what is there.
    "estimated": Case(SGHMC(gradient_noise="estimated"), 1e4, 80.0, 1e4 - 80.0**2, 1.0),
    # Friction per weight keeps the noise positive where it was clamped.
    "per weight": Case(SGHMC(friction="per-weight"), 1e6, 0.0, 1e6, 1.0),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def _curvature(case):
    """Such that the rate times the curvature is 0.01: fast, and with a small known bias."""
    return 0.01 * np.sqrt(case.square) / case.sampler.step_size**2


def _state(case, position):
    full = jnp.full_like(position, 1.0)
    return State(position, 0 * full, case.square * full, case.mean * full, full)


@pytest.mark.slow
@each_case
def test_the_variance_of_the_chain_follows_the_effective_temperature(case):
    k = _curvature(case)

    def target(position, key):
        noise = jnp.sqrt(case.noise) * jax.random.normal(key, position.shape)
        return -jnp.sum(k / 2 * position**2 + noise * position)

    def step(i, state):
        key_batch, key_step = jax.random.split(jax.random.fold_in(jax.random.key(0), i))
        return case.sampler.step(key_step, state, key_batch, target)[0]

    start = jax.random.normal(jax.random.key(1), (WEIGHTS,)) * np.sqrt(case.temperature / k)
    state = jax.jit(lambda state: jax.lax.fori_loop(0, 1500, step, state))(_state(case, start))
    friction = 0.1 if case.sampler.friction == "per-weight" else 0.01
    # At rate 0.01 the discretisation inflates the variance by a known factor, below 0.3 percent.
    expected = case.temperature / k / (1 - 0.01 / (2 * (2 - friction)))
    z = (np.mean(np.asarray(state.position) ** 2) / expected - 1) / np.sqrt(2 / WEIGHTS)
    assert abs(z) < LIMIT


@each_case
def test_the_reported_temperature_is_the_predicted_one(case):
    state = _state(case, jnp.zeros(2))
    found = case.sampler.temperature(state, jnp.full(2, case.noise))
    np.testing.assert_allclose(found.temperature, case.temperature, rtol=1e-4)
    assert found.clamped.tolist() == [float(case == CASES["hot"])] * 2


@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("friction", [0.01, 0.4])
def test_the_discretisation_has_the_stationary_variance_that_the_tests_assume(rate, friction):
    """`T / k / (1 - rate k / (2 (2 - friction)))` solves the discrete Lyapunov equation."""
    move = np.array([[1 - rate, 1 - friction], [-rate, 1 - friction]])  # position, momentum; k = 1
    noise = 2 * friction * rate * np.ones((2, 2))
    variance = solve_discrete_lyapunov(move, noise)[0, 0]
    assert variance == pytest.approx(1 / (1 - rate / (2 * (2 - friction))))


@pytest.mark.slow
@pytest.mark.parametrize("pull", [0.01, 3.0])
def test_momenta_are_hot_where_the_step_is_long(pull):
    """The rate times the curvature is `pull`; at 4 the step is no longer stable."""
    case = CASES["exact"]
    rate = case.sampler.step_size**2 / np.sqrt(case.square)
    move = np.array([[1 - pull, 0.99], [-pull, 0.99]])
    expected = solve_discrete_lyapunov(move, 2 * 0.01 * rate * np.ones((2, 2)))[1, 1] / rate

    def step(state, key):
        return case.sampler.step(key, state, None, lambda x, _: -jnp.sum(pull / rate / 2 * x**2))

    keys = jax.random.split(jax.random.key(0), 1500)
    state = _state(case, jnp.zeros(WEIGHTS))
    _, info = jax.jit(lambda state: jax.lax.scan(step, state, keys))(state)
    found = float(info.kinetic_temperature[-1])
    assert abs(found / expected - 1) / np.sqrt(2 / WEIGHTS) < LIMIT
    assert (found > 3) == (pull > 1)


def test_without_a_measurement_the_noise_is_taken_from_the_estimates():
    case = CASES["estimated"]
    state = _state(case, jnp.zeros(2))
    assert case.sampler.temperature(state).temperature == pytest.approx(1.0, rel=1e-4)


def test_each_step_tells_one_gradient_and_the_kinetic_temperature_it_ends_with():
    case = CASES["exact"]
    state = _state(case, jnp.ones(3))
    state, info = case.sampler.step(jax.random.key(0), state, None, lambda x, _: -jnp.sum(x**2))
    rate = case.sampler.step_size**2 / np.sqrt(case.square)
    assert info.kinetic_temperature == pytest.approx(
        float(jnp.mean(state.momentum**2)) / rate, rel=1e-5
    )
    assert (info.gradients, info.acceptance, info.divergent) == (1, 1.0, False)


def test_a_step_moves_by_the_papers_equations():
    sampler = SGHMC(step_size=0.1, momentum_decay=0.2)
    state = State(*(jnp.array([v]) for v in (1.0, 0.5, 4.0, 0.0, 1.0)))
    # The same key twice: without friction and force only the noise is left.
    still = State(*(jnp.array([v]) for v in (0.0, 0.0, 4.0, 0.0, 1.0)))
    noise = sampler.step(jax.random.key(0), still, None, lambda p, _: jnp.sum(0 * p))[0].momentum
    moved = sampler.step(jax.random.key(0), state, None, lambda p, _: -jnp.sum(1.5 * p**2))[0]
    rate = 0.1**2 / np.sqrt(4.0)
    momentum = (1 - 0.2) * 0.5 - rate * 3.0 * 1.0 + float(noise[0])
    np.testing.assert_allclose(moved.momentum, [momentum], rtol=1e-5)
    np.testing.assert_allclose(moved.position, [1.0 + momentum], rtol=1e-5)
    assert moved.square.item() == 4.0  # frozen


@pytest.mark.parametrize("noise", ["fast", "gaussian"])
def test_the_noise_is_the_one_that_was_asked_for(noise):
    sampler = SGHMC(noise=noise, gradient_noise="none")
    state = _state(CASES["exact"], jnp.zeros(5))
    moved, _ = sampler.step(jax.random.key(3), state, None, lambda p, _: jnp.sum(0 * p))
    normal = fast_normal if noise == "fast" else jax.random.normal
    variance = 2 * 0.01 * 0.01**2 / 100
    expected = np.sqrt(variance) * normal(jax.random.key(3), (5,))
    np.testing.assert_allclose(moved.momentum, expected, rtol=1e-5)


def test_a_short_step_runs_as_long_and_with_as_many_rows():
    short = SGHMC(burn_in=7, thinning=9, batch_size=None).with_short_step()
    assert (short.burn_in, short.thinning, short.batch_size) == (7, 9, None)
    assert (short.step_size, short.friction) == (7e-4, "per-weight")
    assert short.gradient_noise == "estimated"


def test_burn_in_follows_the_papers_running_averages():
    sampler = SGHMC(momentum_decay=0.05)
    grads = [3.0, -1.0, 2.0, 0.5]
    g = v = tau = 1.0
    state = sampler.init(jax.random.key(0), jnp.zeros(1))
    for i, grad in enumerate(grads):
        state, _ = sampler.warm_up(
            jax.random.key(i), state, grad, lambda x, batch: -jnp.sum(batch * x), jnp.asarray(i)
        )
        tau = tau + 1 - tau * g**2 / v
        g = (1 - 1 / (tau + 1)) * g + grad / (tau + 1)
        v = (1 - 1 / (tau + 1)) * v + grad**2 / (tau + 1)
    np.testing.assert_allclose(state.mean, [g], rtol=1e-5)
    np.testing.assert_allclose(state.square, [v], rtol=1e-5)
    np.testing.assert_allclose(state.window, [tau], rtol=1e-5)


def test_burn_in_finds_the_moments_of_the_gradient():
    sampler = SGHMC()

    def target(position, key):
        return -jnp.sum(5.0 * jax.random.normal(key, position.shape) * position)

    def step(i, state):
        keys = jax.random.split(jax.random.fold_in(jax.random.key(0), i))
        return sampler.warm_up(keys[0], state, keys[1], target, i)[0]

    state = sampler.init(jax.random.key(0), jnp.zeros(200))
    state = jax.jit(lambda s: jax.lax.fori_loop(0, 3000, step, s))(state)
    np.testing.assert_allclose(np.median(state.square), 25.0, rtol=0.02)
    np.testing.assert_allclose(np.median(state.mean), 0.0, atol=0.05)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step_size": 0.0}, "step_size must be a finite number above zero, got 0.0"),
        ({"step_size": float("nan")}, "step_size must be a finite number above zero"),
        ({"momentum_decay": 0.0}, "momentum_decay must lie between 0 and 1, got 0.0"),
        ({"momentum_decay": 1.5}, "momentum_decay must lie between 0 and 1"),
        ({"friction": "none"}, "friction must be one of constant, per-weight; got 'none'"),
        ({"gradient_noise": "full"}, "gradient_noise must be one of estimated, none, paper"),
        ({"noise": "loud"}, "noise must be one of fast, gaussian"),
        ({"burn_in": -1}, "burn_in must be a whole number of at least 0, got -1"),
        ({"thinning": 0}, "thinning must be a whole number of at least 1, got 0"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_settings_are_refused(settings, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        SGHMC(**settings)
