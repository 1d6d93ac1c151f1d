"""Simulated data sets: right samplers are found right, wrong ones wrong."""

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior import SGHMC, Gaussian, GaussianProcess, Heteroscedastic, Scaling, rbf
from goodprior.data.splits import evenly_spread
from goodprior.evaluation.calibration import calibration_of
from goodprior.inference import Categorical, Posterior, SamplingError, StopSampling
from goodprior.networks import Dense
from goodprior.pipeline import Hooks, NetworkSpec, ObservationModel, Problem, calibrate
from goodprior.pipeline.calibrate import run_simulations
from goodprior.pipeline.deadline import Deadline
from goodprior.pipeline.simulator import Simulator
from goodprior.priors import GaussianPrior

KEY = jax.random.key(0)
X = np.linspace(-2, 2, 10)[:, None]
TINY = SGHMC(0.02, 0.02, gradient_noise="none", burn_in=20, thinning=5, batch_size=None)
OPTIONS = {"key": KEY, "simulations": 3, "points": 2, "chains": 2, "draws": 4}


def problem(likelihood=Gaussian(0.1), **changes):  # noqa: B008
    made = Problem(
        *(X, None, ObservationModel(likelihood, 1), GaussianProcess(rbf())),
        network=NetworkSpec((3,)),
        prior="fg",
    )
    return replace(made, **changes)


# A linear model, whose posterior is known

LINE = GaussianPrior(Dense(1, 1, key=KEY))
WEIGHT_AND_BIAS = jax.tree.structure(LINE.sample(KEY))


def exact(noise_variance, wider=1.0):
    """Draws of the posterior of a straight line, or of what is like it."""

    def sample(problem, key, hooks):
        features = np.column_stack([problem.X, np.ones(len(problem.X))])
        precision = np.eye(2) + features.T @ features / noise_variance
        mean = np.linalg.solve(precision, features.T @ problem.y[:, 0] / noise_variance)
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        root = wider * np.linalg.cholesky(np.linalg.inv(precision))
        drawn = (mean + rng.normal(size=(2, 20, 2)) @ root.T).astype(np.float32)
        draws = jax.tree.unflatten(WEIGHT_AND_BIAS, [drawn[..., None, :1], drawn[..., 1:]])
        return Posterior(LINE, Gaussian(noise_variance), draws, np.zeros((2, 0, 0)), {})

    return sample


def calibrated(sample, simulations=200, **options):
    given = problem(scaling=None, prior=LINE, **options)
    simulator = Simulator(given, LINE, rows=20, points=2, around=None)
    found = run_simulations(simulator, sample, range(simulations), key=KEY)
    return calibration_of(simulator.quantities.names, np.stack(found.truth), np.stack(found.draws))


def test_exact_draws_of_a_linear_model_are_calibrated():
    found = calibrated(exact(0.1))
    assert found.simulations == 200
    assert found.passed, str(found)
    assert [q.name for q in found.quantities][-2:] == ["log likelihood", "log prior"]


@pytest.mark.parametrize(
    ("sample", "worst"),
    [(exact(0.4), "log likelihood"), (exact(0.1, wider=1.6), "log likelihood")],
    ids=["wrong noise variance", "too hot"],
)
def test_draws_of_another_posterior_are_not(sample, worst):
    found = calibrated(sample)
    assert not found.passed
    assert worst in found.verdict


@pytest.mark.slow
def test_draws_that_do_not_look_at_the_data_are_found_by_the_log_likelihood():
    def ignorant(problem, key, hooks):
        draws = jax.vmap(jax.vmap(LINE.sample))(jax.random.split(key, (2, 20)))
        return Posterior(LINE, Gaussian(0.1), draws, np.zeros((2, 0, 0)), {})

    found = {q.name: q.p_value for q in calibrated(ignorant).quantities}
    assert found["log likelihood"] < 1e-6
    assert found["function at row 1"] > 0.01  # draws of the prior have the ranks of the prior


# The pipeline


def test_a_small_one_runs_through_the_pipeline():
    found = calibrate(problem(), TINY, **OPTIONS)
    assert (found.simulations, found.asked, found.failed) == (3, 3, 0)
    names = ["function at row 1", "function at row 10", "log likelihood", "log prior"]
    assert [q.name for q in found.quantities] == names
    again = calibrate(problem(), TINY, **OPTIONS)
    assert again.to_dict() == found.to_dict()


def test_a_simulation_depends_on_its_number_and_not_on_those_before():
    given = problem(scaling=Scaling.fit(X, 5 + X[:, 0]), prior=LINE)
    simulator = Simulator(given, LINE, rows=20, points=2, around=None)
    every = run_simulations(simulator, exact(0.1), range(3), key=KEY)
    last = run_simulations(simulator, exact(0.1), [2], key=KEY)
    np.testing.assert_array_equal(every.truth[2], last.truth[0])
    assert (every.truth[1] != every.truth[2]).any()


def test_targets_are_simulated_in_the_tables_own_units():
    scaling = Scaling.fit(X, 1000 + 50 * X[:, 0])
    simulator = Simulator(
        problem(scaling=scaling, prior=LINE), LINE, rows=20, points=2, around=None
    )
    simulated = [simulator.simulate(key) for key in jax.random.split(KEY, 50)]
    targets = np.stack([each.problem.y for each in simulated])
    assert abs(targets.mean() - 1000) < 60
    np.testing.assert_allclose(
        scaling.targets(simulated[0].problem.y), simulated[0].y, rtol=1e-4, atol=1e-4
    )


def test_of_many_rows_some_are_used_evenly_spread():
    assert evenly_spread(1000, 5).tolist() == [0, 250, 500, 749, 999]
    many = problem(X=np.linspace(0, 1, 1000)[:, None], prior=LINE)
    simulator = Simulator(many, LINE, rows=5, points=3, around=None)
    np.testing.assert_allclose(simulator.problem.X[:, 0], [0, 0.25, 0.5, 0.75, 1], atol=1e-3)
    assert simulator.quantities.at.tolist() == [0, 2, 4]


def test_classes_are_simulated_too():
    likelihood = Categorical(3)
    given = problem(likelihood, prior=GaussianPrior(Dense(1, 3, key=KEY)))
    simulator = Simulator(given, given.prior, rows=20, points=1, around=None)
    labels = np.concatenate([simulator.simulate(k).problem.y for k in jax.random.split(KEY, 20)])
    assert set(labels.tolist()) == {0, 1, 2}


@pytest.mark.slow
def test_a_learned_noise_is_ranked():
    observation = ObservationModel(Heteroscedastic(1e-4), 1, constant_noise="sampled")
    found = calibrate(problem(observation=observation), TINY, **OPTIONS)
    assert "log noise" in [q.name for q in found.quantities]


def test_around_a_posterior_fits_have_the_observed_rows_and_the_simulated(monkeypatch):
    seen, room = [], import_module("goodprior.pipeline.calibrate")
    y = 2 * X[:, 0] + 1

    def spy(problem, method, **options):
        seen.append(problem)
        posterior = exact(0.1)(replace(problem, y=problem.y.reshape(-1, 1)), options["key"], None)
        return SimpleNamespace(posterior=posterior)

    given = problem(y=y, prior=LINE)
    around = exact(0.1)(replace(given, y=y[:, None]), KEY, None)
    monkeypatch.setattr(room, "fit_posterior", spy)
    found = calibrate(given, TINY, **OPTIONS | {"around": around, "rows": 4})
    assert found.simulations == 3
    for each in seen:
        assert each.X.shape == (14, 1)
        np.testing.assert_allclose(each.y[:10, 0], y)
        np.testing.assert_allclose(each.y[10:, 0], 2 * each.X[10:, 0] + 1, atol=1.5)


def test_it_ends_with_what_there_is():
    deadline, done = Deadline(None), []

    def sample(problem, key, hooks):
        done.append(key)
        deadline.pressed = len(done) == 3
        if deadline.pressed:  # while the third is fitted
            with pytest.raises(StopSampling):
                hooks.deadline.look()
        return exact(0.1)(problem, key, hooks)

    simulator = Simulator(problem(prior=LINE), LINE, rows=20, points=2, around=None)
    hooks = Hooks(deadline=deadline)
    found = run_simulations(simulator, sample, range(9), key=KEY, hooks=hooks)
    assert len(done) == 3
    assert len(found.truth) == len(found.draws) == 2


def test_without_a_finished_simulation_there_is_nothing_to_say():
    spent = Hooks(deadline=Deadline(-1.0))
    with pytest.raises(StopSampling, match="not one simulation was finished: its budget"):
        calibrate(problem(prior=LINE), TINY, **OPTIONS | {"hooks": spent})


def test_fits_that_fail_are_counted():
    def sample(problem, key, hooks):
        if float(jnp.abs(problem.y).max()) > 1.5:
            raise SamplingError("thrown out", None)
        return exact(0.1)(problem, key, hooks)

    simulator = Simulator(problem(prior=LINE), LINE, rows=20, points=2, around=None)
    found = run_simulations(simulator, sample, range(20), key=KEY)
    assert 0 < found.failed < 20
    assert len(found.truth) == 20 - found.failed


@pytest.mark.parametrize(
    ("method", "changes", "words"),
    [
        ("laplace", {}, "method laplace has none"),
        (TINY, {"simulations": 0}, "simulations must be a whole number"),
        (TINY, {"rows": 0}, "rows must be a whole number"),
        (TINY, {"points": 0}, "points must be a whole number"),
        (replace(TINY, batch_size=99), {}, "batch_size is 99"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(method, changes, words):
    with pytest.raises(ValueError, match=words):
        calibrate(problem(), method, **OPTIONS | changes)


# Whole calibrations


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["gpi-g", "gpi-h", "gpi-nf"])
def test_the_default_sampler_is_calibrated_under_each_prior(prior):
    given = problem(prior=prior, network=NetworkSpec((8,)))
    found = calibrate(given, "auto", simulations=100, key=jax.random.key(1))
    assert found.simulations == 100
    assert found.passed, str(found)


@pytest.mark.slow
def test_a_step_that_is_far_too_long_is_found():
    hot = SGHMC(0.2, 0.02, gradient_noise="none", burn_in=300, thinning=50, batch_size=None)
    found = calibrate(problem(Gaussian(0.01)), hot, simulations=60, chains=4, draws=10, key=KEY)
    assert not found.passed
