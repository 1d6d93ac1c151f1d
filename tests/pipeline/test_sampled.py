"""Methods that sample: how long they go on, and which density they sample."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from goodprior import MCLMC, Gaussian, GaussianProcess, StudentT, rbf
from goodprior.inference import sample_posterior
from goodprior.pipeline import (
    Hooks,
    NetworkSpec,
    ObservationModel,
    Problem,
    Sampled,
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


def method(**targets):
    sampler = Only(MCLMC(burn_in=20, thinning=10))
    return Sampled(sampler, "prior", 2, 4, collapse=True, most_work=30 * 300.0, **targets)


def fit(method, likelihood=Gaussian(0.1), **options):  # noqa: B008
    return fit_posterior(problem(likelihood), method, key=KEY, **options).posterior


@pytest.mark.parametrize(
    ("targets", "thinning"),
    [
        ({}, 10),
        ({"rhat": 1.0 + 1e-9}, 20),
        ({"ess": 1e9}, 20),
        ({"rhat": 50.0, "ess": 1.0}, 10),
    ],
)
def test_runs_are_doubled_until_their_targets_are_met_or_they_are_long_enough(targets, thinning):
    found = fit(method(**targets))  # 60 steps, then 100; with a third of 180 it would be 340
    assert found.draws_per_chain == 4
    assert (found.report.thinning, found.report.steps) == (thinning, 20 + 4 * thinning)
    assert (method(**targets).unmet(found) is None) == (thinning == 10)
    asked = fit(method(**targets), draws=5)  # what is asked for is done
    assert (asked.draws_per_chain, asked.report.thinning) == (5, 10)


def test_a_longer_run_begins_where_the_shorter_ended(monkeypatch):
    starts = []

    def spy(*args, start, **options):
        starts.append(start)
        return sample_posterior(*args, start=start, **options)

    monkeypatch.setattr(sampled, "sample_posterior", spy)
    fit(method(ess=1e9))
    assert starts[0] is None
    assert starts[1].report.thinning == 10


def test_more_draws_of_a_doubled_run_are_as_far_apart_as_its_own():
    first = fit_posterior(problem(), method(ess=1e9), key=KEY)
    more = fit_posterior(problem(), method(ess=1e9), key=KEY, draws=6, resume=first).posterior
    assert (more.draws_per_chain, more.report.thinning) == (6, 20)
    assert more.report.steps == 20 + 6 * 20


def test_what_was_missed_is_said_with_its_target():
    said = method(rhat=1.0 + 1e-9, ess=1e9).unmet(fit(method(), draws=4))
    assert "R-hat is" in said
    assert "(target: 1)" in said
    assert "the effective sample size is" in said
    assert "after 60 steps of each chain" in said


@pytest.mark.parametrize("at", [3, 7, 8])  # in the first run, in the second one's burn-in, later
def test_an_interrupted_run_is_as_long_as_one_that_was_not(tmp_path, at):
    whole, looks = fit(method(rhat=1.0 + 1e-9)), []

    class Killed(Exception):
        pass

    class Impatient(Checkpoint):
        def put_sometimes(self, stage, thing):
            self.put(stage, thing)
            looks.append(thing.draws_per_chain)
            if len(looks) == at:
                raise Killed

    with pytest.raises(Killed):
        fit(method(rhat=1.0 + 1e-9), hooks=Hooks(checkpoint=Impatient(tmp_path)))
    resumed = fit(method(rhat=1.0 + 1e-9), hooks=Hooks(checkpoint=Checkpoint(tmp_path)))
    for a, b in zip(jax.tree.leaves(whole.draws), jax.tree.leaves(resumed.draws), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(whole.probe, resumed.probe)


def test_a_deadline_ends_a_run_that_would_go_on():
    deadline = Deadline(0.0)
    found = fit(method(ess=1e9), hooks=Hooks(deadline=deadline))
    assert deadline.reason is not None
    assert found.draws_per_chain == 4


def test_the_report_says_which_density_was_sampled():
    assert "drawn exactly" in fit(method()).report.density
    assert fit(method(), StudentT(0.1)).report.density == "all weights"


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"rhat": 1.0}, "rhat"), ({"ess": -1.0}, "ess")],
)
def test_targets_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        method(**settings)


@pytest.mark.parametrize("given", ["mclmc", MCLMC(thinning=10)])
def test_the_method_mclmc_has_targets(given):
    found = parse_method(given)
    assert (found.name, found.rhat, found.ess, found.collapse) == ("mclmc", 1.05, 400, True)


@pytest.mark.parametrize(
    ("likelihood", "prior", "most_rows", "name"),
    [
        (Gaussian(0.1), "gpi-g", 4000, "mclmc"),
        (Gaussian(0.1), "fh", 4000, "mclmc"),
        (Gaussian(0.1), "gpi-nf", 4000, "sghmc"),
        (StudentT(0.1), "gpi-g", 4000, "sghmc"),
        (Gaussian(0.1), "gpi-g", 20, "sghmc"),
    ],
)
def test_the_sampler_is_chosen_for_the_problem(likelihood, prior, most_rows, name):
    asked = replace(problem(likelihood), prior=prior)
    assert Automatic(most_rows).resolve(asked).name == name
    assert Automatic(most_rows).refuses(asked) == []
