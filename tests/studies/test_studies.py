"""Each study: its grid against the paper's words, and one job of it at a tiny size."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from goodprior.demos import regression_1d as demo
from goodprior.inference import ClassPrediction, Prediction
from goodprior.matching import Comparison, History, Match, MatchSchedule
from goodprior.studies.catalogue import MODULES, run_job, study
from goodprior.studies.protocols import methods, tables
from goodprior.studies.protocols.data import problem_and_test
from goodprior.studies.protocols.methods import METHODS, Fitted
from goodprior.studies.protocols.start import StandardStart
from tests.studies.small import SMALL, job_of, row_of


@pytest.mark.parametrize("name", MODULES)
def test_every_study_says_what_it_is(name):
    one = study(name)
    assert one.name == name
    assert one.words("cuts")
    assert one.words("shows").startswith(("figure", "table"))
    for preset in ("paper", "quick"):
        jobs = one.jobs(one.presets[preset])
        assert len({job.hash for job in jobs}) == len(jobs) > 0
        assert all(one.cost(dict(job.settings)) >= 0 for job in jobs)
    quick = {job.hash for job in one.jobs(one.presets["quick"])}
    settings = [job.settings for job in one.jobs(one.presets["quick"])]
    assert one.belonging("quick", settings).keys() >= quick


def test_the_regression_grid_is_the_papers():
    one = study("uci-regression")
    jobs = [job.settings for job in one.jobs(one.presets["paper"])]
    assert len(jobs) == (7 * 10 + 5) * 4 * 7
    by = {s["dataset"]: s for s in jobs if s["method"] == "fg"}
    lengths = {d: (s["burn_in"], s["draws"], s["thinning"]) for d, s in by.items()}
    small = dict.fromkeys(("boston", "concrete", "energy", "wine"), (2000, 30, 2000))
    large = dict.fromkeys(("kin8nm", "naval", "power"), (5000, 30, 2000))
    assert lengths == {**small, **large, "protein": (5000, 60, 5000)}
    assert {d for d, s in by.items() if s["width"] == 200} == {"protein"}
    assert {s["batch_size"] for s in jobs} == {32}
    matched = {s["method"] for s in jobs if s["distance"] == "wasserstein"}
    assert matched <= {"gpi-g", "gpi-h", "gpi-nf"}
    assert all(s["distance"] is None for s in jobs if s["method"] in ("fg", "fh"))


def test_the_classification_grid_is_the_papers():
    one = study("uci-classification")
    jobs = one.jobs(one.choose("paper", methods=("fg",)))
    by = {job.settings["dataset"]: job.settings for job in jobs}
    assert {d for d, s in by.items() if s["burn_in"] == 5000} == {"miniboo", "letter", "drive"}
    assert {d for d, s in by.items() if s["width"] == 200} == {"miniboo", "drive", "mocap"}
    assert {(s["batch_size"], s["draws"], s["split"]) for s in by.values()} == {(64, 30, 9)}


def test_noise_variances_are_the_papers():
    from goodprior.studies import paper

    table = paper.table("uci_regression_nll")
    assert dict(zip(table["dataset"], table["noise_variance"], strict=True)) == dict(
        tables.NOISE_VARIANCE
    )


def test_methods_beyond_the_papers_tables_can_be_asked_for():
    one = study("uci-regression")
    assert "fbnn" not in one.presets["paper"].methods
    jobs = one.jobs(one.choose("paper", datasets=("boston",), methods=("fbnn",), depths=(1,)))
    assert [job.settings["split"] for job in jobs] == list(range(10))
    assert {job.hash for job in jobs} <= set(one.belonging("paper", [job.settings for job in jobs]))


@pytest.mark.parametrize(
    "wrong", [{"datasets": ("moon",)}, {"methods": ("magic",)}, {"depths": (3,)}, {"splits": 0}]
)
def test_a_choice_that_a_study_lacks_is_an_error(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        study("uci-regression").choose("paper", **wrong)


def test_a_study_that_reuses_jobs_has_none_of_its_own():
    for name in ("map", "empirical-bayes"):
        one = study(name)
        assert {job.settings["study"] for job in one.jobs(one.presets["paper"])} == set(one.reuses)
        with pytest.raises(ValueError, match=f"{name} has no jobs: it reports those of uci-regr"):
            run_job({"study": name})


def test_a_job_whose_score_is_not_finite_has_failed(monkeypatch):
    one = replace(study("uci-regression"), run=lambda settings: {"rmse": 1.0, "nll_moment": np.inf})
    monkeypatch.setattr("goodprior.studies.catalogue.study", lambda name: one)
    monkeypatch.setattr("goodprior.devices.keep_compiled_programs", lambda: None)
    with pytest.raises(FloatingPointError, match="test NLL is inf"):
        run_job({"study": "uci-regression"})


@pytest.mark.slow
def test_regression_and_its_figure(tiny_data):
    one, settings = job_of("uci-regression", method="fg", split=0, **SMALL)
    rows = row_of(one, settings)
    assert rows["rmse"].item() < 1.5  # the target's deviation is about one
    assert {"nll_moment", "rhat_max", "sample_seconds"} <= set(rows)
    assert set(one.figures(rows)) == {"benchmark"}


@pytest.mark.parametrize(("dataset", "outputs"), [("eeg", 1), ("letter", 26)])
def test_classification_and_its_figure(tiny_data, monkeypatch, dataset, outputs):
    """With a prediction that is the same for all rows: 90 % for class 0."""
    problems = []

    def fit(problem, settings, key):
        problems.append(problem)
        classes = max(2, problem.observation.functions)
        row = np.log([0.9] + [0.1 / (classes - 1)] * (classes - 1))
        return Fitted(lambda X: ClassPrediction(jnp.tile(row, (3, len(X), 1))), {"told": 1.0})

    monkeypatch.setitem(METHODS, "fg", fit)
    one, settings = job_of("uci-classification", method="fg")
    rows = row_of(one, {**settings, "dataset": dataset})
    assert (problems[0].observation.functions, len(problems[0].X)) == (outputs, 40)
    share = rows["accuracy"].item()  # of class 0 among the test rows
    wrong = 0.1 / max(1, outputs - 1)
    expected = -share * np.log(0.9) - (1 - share) * np.log(wrong)
    assert rows["nll"].item() == pytest.approx(expected, rel=1e-5)
    assert set(one.figures(rows)) == {"benchmark"}


def test_active_learning_adds_the_least_certain_rows(tiny_data, monkeypatch):
    """With a prediction whose deviation is the second input, which is then the one to look for."""
    fits = []

    def fit(problem, settings, key):
        fits.append(problem.X)

        def predict(X):
            location = np.stack([X[:, :1] - X[:, 1:], X[:, :1] + X[:, 1:]])
            return Prediction(jnp.asarray(location), jnp.full(location.shape, 0.1))

        return Fitted(predict, {})

    monkeypatch.setitem(METHODS, "fg", fit)
    one, settings = job_of("active-learning", method="fg", rounds=3)
    rows = row_of(one, settings)
    assert rows["training_rows"].item() == [12, 14, 16]  # 20 % of 60, and 5 % of the pool of 36
    assert rows["rmse_course"].item()[-1] == rows["rmse"].item()
    added = np.abs(fits[2][12:, 1])
    assert (np.diff(added) <= 0).all()
    assert added.min() > np.median(np.abs(fits[0][:, 1]))
    assert set(one.figures(rows)) == {"progress"}


def test_convergence_and_its_figure(tiny_data, monkeypatch):
    asked = {}

    def match(prior, belief, points, *, key, on_progress, on_prior, **options):
        asked.update(options)
        before, after = Comparison(1.0, 0.5, 2.0), Comparison(0.1, 0.05, 1.1)
        steps = options["schedule"].steps
        return Match(prior, History(np.linspace(1, 0, steps), 3.0, before, after))

    monkeypatch.setattr("goodprior.pipeline.prior.match", match)
    one, settings = job_of("convergence", method="gpi-g", width=5)
    rows = row_of(one, settings)
    schedule = MatchSchedule(steps=50, draws=64)
    assert asked == {"distance": "energy", "schedule": schedule, "held_out": 512}
    assert len(rows["values"].item()) == len(rows["step"].item()) == 50
    assert rows["after_energy_distance"].item() < rows["before_energy_distance"].item()
    assert set(one.figures(rows)) == {"regression"}


@pytest.mark.slow
def test_joint_and_separate_are_watched_on_the_way(tiny_data, monkeypatch):
    asked = {}

    def match(prior, belief, points, *, key, on_prior, **options):
        asked.update(options)
        for step in (10, 20):
            on_prior(step, prior)
        return Match(prior, History(np.zeros(20), 3.0))

    monkeypatch.setattr("goodprior.pipeline.prior.match", match)
    one, settings = job_of("joint-vs-separate", method="joint", width=5, depth=1, draws=50)
    rows = row_of(one, settings)
    assert (asked["distance"].critic_steps, asked["distance"].restart) == (1, False)
    assert rows["step"].item() == [10, 20]
    first, second = rows["mmd"].item()
    assert first == second > 0  # a prior that was left alone, seen with the same random numbers
    assert set(one.figures(rows)) == {"mmd"}


@pytest.mark.slow
def test_standard_weights_are_far_from_the_process():
    one = study("function-priors")
    jobs = one.jobs(one.choose("quick", methods=("fg", "gp"), depths=(2,)))
    rows = pd.concat([row_of(one, {**j.settings, "draws": 100}) for j in jobs], ignore_index=True)
    assert rows["method"].tolist() == ["fg", "gp", "gp"]
    assert rows["energy_distance"].iloc[0] > 0.5
    smooth, rough = rows["crossings"].iloc[1:]
    assert rows["crossings"].iloc[0] < smooth < rough
    assert set(one.figures(rows)) == {"functions"}


def test_one_input_is_drawn_from_what_was_stored(monkeypatch):
    curve = np.linspace(-1, 1, 200)
    draws, band = np.tile(curve, (500, 1)), np.stack([curve, curve + 4])
    panel = demo.Panel("GP", draws, curve, curve + 2, band, None, {"rmse": 0.1, "distance": 0.2})
    monkeypatch.setattr(demo, "exact_panel", lambda data, seed: panel)
    one, exact = job_of("regression-1d", method="gp")
    rows = row_of(one, exact)
    assert np.shape(rows["prior_draws"].item()) == (10, 200)
    assert rows["distance_to_the_belief"].item() == 0.2
    network = {**rows.iloc[0], "method": "gpi-g", "distances": [1.0, 0.5]}
    rows = pd.concat([rows, pd.DataFrame([network])], ignore_index=True)
    assert rows["rmse"].iloc[0] < 0.5
    (figure,) = one.figures(rows).values()
    assert [ax.get_title() for ax in figure.axes[:2]] == ["belief: Gaussian process", "GPi-G prior"]


def test_banana_has_a_panel_per_belief(monkeypatch):
    monkeypatch.delenv("GOODPRIOR_DATA", raising=False)
    one = study("banana")
    jobs = [dict(job.settings) for job in one.jobs(one.presets["quick"])]
    probability = np.linspace(0, 1, 6400).reshape(80, 80).tolist()
    rows = pd.DataFrame(
        [{**s, "belief": str(i), "probability": probability} for i, s in enumerate(jobs)]
    ).assign(data="two crescents")
    (figure,) = one.figures(rows).values()
    titles = [ax.get_title() for ax in figure.axes]
    assert sorted(filter(None, titles)) == sorted(map(str, range(10)))
    assert titles[3] == "9"  # the hierarchical belief ends the first row
    with pytest.warns(UserWarning, match="ran on banana and here is only two crescents"):
        assert one.figures(rows.assign(data="banana")) == {}


def test_the_sampler_that_converges_has_lengths_and_a_form_of_its_own(tiny_data):
    one = study("converged")
    jobs = [job.settings for job in one.jobs(one.presets["paper"])]
    assert len(jobs) == 4 * 4 * 10
    assert not {"burn_in", "draws", "start"} & set(jobs[0])
    assert (jobs[0]["target_rhat"], jobs[0]["target_ess"]) == (1.05, 400)
    assert methods.chains_of(dict(jobs[0])).name == "mclmc"
    problem, _, _ = problem_and_test({**jobs[0], "split": 0})
    assert problem.hierarchical_form == "noncentred"
    paper, _, _ = problem_and_test({**jobs[0], "split": 0, "sampler": None})
    assert paper.hierarchical_form == "gibbs"


def test_under_hierarchical_priors_it_is_the_papers_chains_in_the_form_that_mixes(tiny_data):
    one = study("converged")
    job = next(j.settings for j in one.jobs(one.presets["paper"]) if j.settings["method"] == "fh")
    sampled = methods.chains_of(dict(job))
    assert isinstance(sampled, StandardStart)
    lengths = tuple(job[name] for name in ("chains", "burn_in", "draws", "thinning"))
    assert (sampled.name, lengths) == ("sghmc", (4, 2000, 30, 2000))
    assert "target_rhat" not in job
    problem, _, _ = problem_and_test(dict(job))
    assert problem.hierarchical_form == "noncentred"


@pytest.mark.slow
def test_chains_in_the_form_that_mixes_explain_a_line(tiny_data):
    one, settings = job_of("converged", method="fh", **SMALL, split=0)
    row = row_of(one, {**settings, "burn_in": 1000, "thinning": 500, "draws": 10})
    assert row["rmse"].item() < 0.5  # of a target with a deviation of one


def test_nuts_has_the_papers_chains():
    """Appendix, before table 11: 4 chains, a burn-in of 200 iterations, 200 draws of each."""
    one = study("hmc")
    jobs = [job.settings for job in one.jobs(one.presets["paper"])]
    nuts = [job for job in jobs if job["sampler"] == "nuts"]
    names = ("chains", "burn_in", "draws", "thinning")
    assert {tuple(job[n] for n in names) for job in nuts} == {(4, 200, 200, 1)}
    assert len(nuts) == 5 * 2 * 10


def test_samplers_stand_side_by_side():
    one = study("hmc")
    jobs = [dict(job.settings) for job in one.jobs(one.presets["quick"])]
    assert [(s["method"], s["sampler"]) for s in jobs] == [
        (method, sampler) for method in ("fg", "gpi-g") for sampler in ("sghmc", "nuts")
    ]
    assert one.cost(jobs[1]) > one.cost(jobs[0])
