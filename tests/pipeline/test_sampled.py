"""Methods that sample: how long they go on, and which density they sample."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from goodprior import MCLMC, Gaussian, GaussianProcess, StudentT, rbf
from goodprior.inference import Heteroscedastic, sample_posterior
from goodprior.pipeline import (
    Hooks,
    NetworkSpec,
    ObservationModel,
    Problem,
    Sampled,
    Target,
    fit_posterior,
    parse_method,
)
from goodprior.pipeline.checkpoint import Checkpoint
from goodprior.pipeline.deadline import Deadline
from goodprior.pipeline.methods import sampled
from goodprior.pipeline.methods.automatic import Automatic
from goodprior.pipeline.methods.sampled import Only

X = np.linspace(-1, 1, 30)[:, None]
Y = X[:, 0] ** 2
KEY = jax.random.key(0)


def problem(likelihood=Gaussian(0.1)):  # noqa: B008
    observation = ObservationModel(likelihood, 1)
    return Problem(
        *(X, Y, observation, GaussianProcess(rbf())), network=NetworkSpec((4,)), prior="fg"
    )


METHOD = Sampled(
    Only(MCLMC(burn_in=20, thinning=10)), "prior", 2, 4, collapse=True, most_work=530 * 200.0
)
OUT_OF_REACH = Target(1.0 + 1e-9, 1e9)


def fit(method, likelihood=Gaussian(0.1), **options):  # noqa: B008
    return fit_posterior(problem(likelihood), method, key=KEY, **options).posterior


@pytest.mark.parametrize(
    ("target", "thinning"),
    [
        (None, 10),
        (Target(1.0 + 1e-9, 1.0), 20),
        (Target(50.0, 1e9), 30),
        (Target(50.0, 1.0), 10),
    ],
)
def test_longer_runs_follow_until_the_target_is_met_or_the_work_is_done(target, thinning):
    found = fit(METHOD, target=target)  # 40 steps of 200, then 80 or the rest
    assert found.draws_per_chain == 4
    assert (found.report.thinning, found.report.steps) == (thinning, 20 + 4 * thinning)
    asked = fit(METHOD, target=target, draws=5)  # what is asked for is done
    assert (asked.draws_per_chain, asked.report.thinning) == (5, 10)


def test_many_features_that_are_integrated_out_make_steps_cost_more(monkeypatch):
    monkeypatch.setattr(sampled, "FEATURES", 1)  # there are five: 30 rows cost as much as 750
    assert fit(METHOD, target=OUT_OF_REACH).report.thinning == 10


def test_a_deadline_is_the_only_limit_where_there_is_one():
    deadline = Deadline(600.0)

    class Impatient(Checkpoint):
        def put(self, stage, thing):
            deadline.pressed = deadline.pressed or stage == "sampling-3"

    fit(METHOD, target=OUT_OF_REACH, hooks=Hooks(deadline=deadline, checkpoint=Impatient(None)))
    assert deadline.pressed


def test_a_longer_run_begins_where_the_shorter_ended(monkeypatch):
    starts = []

    def spy(*args, start, **options):
        starts.append(start)
        return sample_posterior(*args, start=start, **options)

    monkeypatch.setattr(sampled, "sample_posterior", spy)
    fit(METHOD, target=OUT_OF_REACH)
    assert starts[0] is None
    assert starts[1].report.thinning == 10


def test_more_draws_of_a_longer_run_are_as_far_apart_as_its_own():
    first = fit_posterior(problem(), METHOD, key=KEY, target=OUT_OF_REACH)
    more = fit_posterior(problem(), METHOD, key=KEY, draws=6, resume=first).posterior
    assert (more.draws_per_chain, more.report.thinning) == (6, 30)
    assert more.report.steps == 20 + 6 * 30


@pytest.mark.parametrize("at", [3, 7, 8])  # in the first run, in the second one's burn-in, later
def test_an_interrupted_run_is_as_long_as_one_that_was_not(tmp_path, at):
    whole, looks = fit(METHOD, target=OUT_OF_REACH), []

    class Killed(Exception):
        pass

    class Impatient(Checkpoint):
        def put_sometimes(self, stage, thing):
            self.put(stage, thing)
            looks.append(thing.draws_per_chain)
            if len(looks) == at:
                raise Killed

    with pytest.raises(Killed):
        fit(METHOD, target=OUT_OF_REACH, hooks=Hooks(checkpoint=Impatient(tmp_path)))
    resumed = fit(METHOD, target=OUT_OF_REACH, hooks=Hooks(checkpoint=Checkpoint(tmp_path)))
    for a, b in zip(jax.tree.leaves(whole.draws), jax.tree.leaves(resumed.draws), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(whole.probe, resumed.probe)


def test_a_deadline_ends_a_run_that_would_go_on():
    deadline = Deadline(1.0)
    found = fit(METHOD, target=OUT_OF_REACH, hooks=Hooks(deadline=deadline))
    assert deadline.reason is not None
    assert found.draws_per_chain <= 4


def test_without_any_time_there_is_still_a_draw_of_each_chain():
    deadline = Deadline(1e-9)
    found = fit(METHOD, target=OUT_OF_REACH, hooks=Hooks(deadline=deadline))
    assert (found.chains, found.draws_per_chain) == (2, 1)
    assert "budget" in deadline.stopped


def test_the_report_says_which_density_was_sampled():
    assert "drawn exactly" in fit(METHOD).report.density
    assert fit(METHOD, StudentT(0.1)).report.density == "all weights"


@pytest.mark.parametrize("given", ["mclmc", MCLMC(thinning=10)])
def test_the_method_mclmc_integrates_the_last_layer_out(given):
    found = parse_method(given)
    assert (found.name, found.start, found.collapse) == ("mclmc", "mode", True)


@pytest.mark.parametrize(
    ("likelihood", "prior", "most_work", "name"),
    [
        (Gaussian(0.1), "gpi-g", 8e7, "mclmc"),
        (Heteroscedastic(degrees=5.0), "gpi-g", 8e7, "mclmc"),
        (Gaussian(0.1), "fh", 8e7, "mclmc"),
        (Gaussian(0.1), "gpi-nf", 8e7, "mclmc"),
        (StudentT(0.1), "gpi-g", 8e7, "sghmc"),
        (Gaussian(0.1), "gpi-g", 20.0, "sghmc"),
    ],
)
def test_the_sampler_is_chosen_for_the_problem(likelihood, prior, most_work, name):
    asked = replace(problem(likelihood), prior=prior)
    assert Automatic(most_work).resolve(asked).name == name
    assert Automatic(most_work).refuses(asked) == []


def test_a_flow_on_the_last_layer_keeps_it_from_being_integrated_out():
    asked = replace(problem(), prior="gpi-nf", flow_on_readout=True)
    assert Automatic().resolve(asked).name == "sghmc"


def test_rows_with_weights_and_robust_noise_are_not_collapsed():
    asked = problem(Heteroscedastic(degrees=5.0))
    asked = replace(asked, row_weights=np.full(asked.rows, 2.0))
    assert Automatic().resolve(asked).name == "sghmc"
