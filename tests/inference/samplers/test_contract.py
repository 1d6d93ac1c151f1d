"""What every sampler must do, also one that somebody else writes: the last of the three below."""

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior import (
    MCLMC,
    NUTS,
    SGHMC,
    BNNRegressor,
    Gaussian,
    GaussianPrior,
    sample_posterior,
    storage,
)
from goodprior.inference import Sampler, SamplerReport, StopSampling
from goodprior.inference.samplers.base import Info, per_step
from goodprior.networks import Dense
from tests.monte_carlo import assert_mean

NOISE_VARIANCE = 0.3
X = np.array([[-1.2, 0.4], [0.1, -0.5], [0.7, 1.3], [1.5, -1.0], [-0.3, 2.0], [0.9, 0.2]])
Y = np.array([0.5, -0.3, 1.4, -0.2, 2.0, 0.1])
PRIOR = GaussianPrior(Dense(2, 1, key=jax.random.key(0)), {"weight": 1.5, "bias": 0.6})


class Walk(NamedTuple):
    position: jax.Array


class Metropolis(Sampler):
    """Random-walk Metropolis, in as few lines as a sampler needs."""

    step_size: float = eqx.field(static=True, default=0.4)
    burn_in: int = eqx.field(static=True, default=200)
    thinning: int = eqx.field(static=True, default=50)
    batch_size: ClassVar[None] = None
    name: ClassVar[str] = "metropolis"

    def init(self, key, position):
        return Walk(position)

    def warm_up(self, key, state, batch, target, step):
        return self.step(key, state, batch, target)

    def step(self, key, state, batch, target):
        key_move, key_accept = jax.random.split(key)
        move = self.step_size * jax.random.normal(key_move, state.position.shape)
        ratio = jnp.exp(target(state.position + move, batch) - target(state.position, batch))
        accepted = jax.random.uniform(key_accept) < ratio
        moved = Walk(state.position + jnp.where(accepted, move, 0.0))
        return moved, Info(gradients=0, acceptance=jnp.minimum(ratio, 1.0))

    def summary(self, states, totals, *, steps, temperature, gradient_variance):
        accepted = per_step(totals, "acceptance")
        return SamplerReport(self.name, steps, temperature, self.step_size, acceptance=accepted)


SAMPLERS = {
    "sghmc": lambda burn_in, thinning: SGHMC(
        *(0.04, 0.05),
        gradient_noise="none",
        burn_in=burn_in,
        thinning=thinning,
        batch_size=None,
    ),
    "sghmc with minibatches": lambda burn_in, thinning: SGHMC(
        burn_in=burn_in, thinning=thinning, batch_size=3
    ),
    "mclmc": lambda burn_in, thinning: MCLMC(burn_in=burn_in, thinning=thinning, window=10),
    "nuts": lambda burn_in, thinning: NUTS(burn_in=burn_in, thinning=thinning),
    "metropolis": lambda burn_in, thinning: Metropolis(burn_in=burn_in, thinning=thinning),
}
# Quick where programs are small; that a run goes on is asked of all samplers in either case.
each_sampler_some_slow = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in ("mclmc", "nuts") else [])
        for name in SAMPLERS
    ],
)
LONG = {
    "sghmc": (1000, 200),
    "mclmc": (1000, 50),
    "nuts": (300, 5),
    "metropolis": (1000, 200),
}  # burn-in, thinning


def run(sampler, *, chains=2, draws=4, **options):
    key = jax.random.key(1)
    return sample_posterior(
        *(PRIOR, Gaussian(NOISE_VARIANCE), X, Y),
        **{"key": key, "sampler": sampler, "chains": chains, "draws": draws} | options,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_linear_regression_has_its_closed_form_posterior(name, temperature):
    sampler = SAMPLERS[name](*LONG[name])
    posterior = run(sampler, chains=200, draws=10, temperature=temperature)
    draws = np.concatenate([posterior.draws.weight[:, :, 0], posterior.draws.bias], axis=-1)
    design = np.hstack([X / np.sqrt(2), np.ones((len(X), 1))])  # a Dense layer divides by sqrt(2)
    precision = design.T @ design / NOISE_VARIANCE + np.diag([1.5**-2, 1.5**-2, 0.6**-2])
    covariance = np.linalg.inv(precision)
    deviations = draws - covariance @ design.T @ Y / NOISE_VARIANCE
    assert_mean(deviations.mean(axis=1), 0.0)  # chains are independent
    products = deviations[..., :, None] * deviations[..., None, :]
    assert_mean(products.mean(axis=1), temperature * covariance)


@each_sampler_some_slow
def test_a_run_that_is_interrupted_anywhere_goes_on_bit_by_bit(name, tmp_path):
    """In burn-in, at its end and between draws; a file in between changes nothing."""
    sampler = SAMPLERS[name](25, 10)
    whole = run(sampler)
    for end in (10, 20, 25, 45):

        def stop(done, total, phase, end=end):
            if done == end:
                raise StopSampling

        part = run(sampler, on_progress=stop)
        assert (int(part.run_state.steps), part.draws_per_chain) == (end, max(1, (end - 25) // 10))
        if name != "metropolis":  # files know goodprior's own classes only
            storage.write(tmp_path / "part", part, kind="part")
            part = storage.read(tmp_path / "part", kind="part")
        resumed = run(sampler, resume=part)
        for a, b in zip(
            jax.tree.leaves((whole.draws, whole.probe, whole.run_state)),
            jax.tree.leaves((resumed.draws, resumed.probe, resumed.run_state)),
            strict=True,
        ):
            np.testing.assert_array_equal(a, b)
        assert resumed.report == whole.report


@pytest.mark.parametrize("name", SAMPLERS)
def test_more_draws_of_a_finished_run_are_those_of_a_longer_one(name):
    sampler = SAMPLERS[name](5, 10)
    longer = run(sampler, draws=6)
    more = run(sampler, draws=6, resume=run(sampler, draws=2))
    assert eqx.tree_equal(longer.draws, more.draws)
    assert eqx.tree_equal(longer.run_state, more.run_state)


@pytest.mark.parametrize("name", SAMPLERS)
def test_run_state_and_report_count_the_steps(name):
    sampler = SAMPLERS[name](25, 10)
    posterior = run(sampler)
    assert int(posterior.run_state.steps) == 25 + 4 * 10
    totals = posterior.run_state.chains.totals
    assert np.asarray(totals.steps).tolist() == [40, 40]  # of each chain, after burn-in
    report = posterior.report
    assert (report.sampler, report.steps, report.temperature) == (sampler.name, 65, 1.0)
    assert report.gradients == np.sum(totals.gradients)
    if name.startswith("sghmc"):
        assert report.gradients == 2 * 40
    assert all(isinstance(value, int | float) for value in report.numbers.values())


@each_sampler_some_slow
def test_a_posterior_of_another_run_is_not_resumed(name):
    sampler = SAMPLERS[name](5, 10)
    with pytest.raises(ValueError, match="the same prior, likelihood, sampler and chains"):
        run(sampler, resume=run(sampler, chains=3))
    other = run(SAMPLERS["nuts" if name == "metropolis" else "metropolis"](5, 10))
    with pytest.raises(ValueError, match="the same prior, likelihood, sampler and chains"):
        run(sampler, resume=other)


@pytest.mark.slow
def test_estimators_take_a_sampler_that_somebody_else_wrote():
    rows = np.linspace(-2, 2, 40)[:, None]
    y = np.sin(rows[:, 0])
    method = Metropolis(step_size=0.02)
    model = BNNRegressor("fg", hidden=(5,), method=method, chains=2, draws=5, random_state=0)
    model.fit(rows, y)
    assert model.score(rows, y) > 0.5
    assert model.posterior_.report.sampler == "metropolis"
    assert 0.1 < model.posterior_.report.acceptance < 1
    assert "acceptance" in model.diagnostics_.summary
    assert model.sample_more(2).posterior_.draws_per_chain == 7
