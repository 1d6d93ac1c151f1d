"""Studies that watch a match, or search in place of one."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from goodprior.baselines import Trial
from goodprior.inference import Prediction
from goodprior.matching import KL, History, Match
from goodprior.studies.catalogue import study
from goodprior.studies.experiments import cross_validation
from goodprior.studies.protocols import tables
from tests.studies.small import FakePosterior, job_of, row_of

EXACT = 0.3  # of the fake chains below, the deviation they predict


def fake_posterior(prior):
    """Predicts the truth of `tiny_data` with a known deviation, off by the prior's first scale."""
    off = next(iter(prior.scales.values())) - 1.0

    def predict(X):
        location = jnp.asarray(X)[None, :, :1] + off
        return Prediction(location, jnp.full_like(location, EXACT))

    return FakePosterior(predict)


@pytest.fixture
def chains(monkeypatch, tiny_data):
    """Chains that take no time; what they were asked."""
    asked = []

    def sample(prior, likelihood, X, y, **options):
        asked.append((prior, len(X), options))
        return fake_posterior(prior)

    monkeypatch.setattr("goodprior.pipeline.methods.sampled.sample_posterior", sample)
    monkeypatch.setattr(cross_validation, "_COMPILED", set())
    return asked


@pytest.mark.slow
def test_kl_is_watched_beyond_its_early_stopping(chains, monkeypatch):
    """A match that widens the prior by a tenth every ten steps, and whose value crosses zero."""

    def match(prior, belief, points, *, key, distance, schedule, on_prior, **options):
        assert isinstance(distance, KL)
        assert schedule.stop_below is None
        for step in range(10, schedule.steps + 1, 10):
            on_prior(step, prior.with_scales(jnp.array(1.0 + step / 100)))
        return Match(prior, History(np.linspace(1.0, -1.2, schedule.steps), 3.0))

    monkeypatch.setattr("goodprior.pipeline.prior.match", match)
    one, settings = job_of("wasserstein-vs-kl", method="kl", width=5)
    row = row_of(one, settings).iloc[0]
    assert row["step"] == [0, 10, 20, 30, 40]
    assert row["posterior_step"] == [0, 20, 40]
    assert row["rmse_course"] == sorted(row["rmse_course"])  # wider, and further off
    assert row["rmse"] == row["rmse_course"][-1]
    assert row["stop"] == 24  # of values that pass zero between 18 and 19, the mean of the last ten
    assert abs(row["mmd_itself"]) < row["mmd_doubled"]
    assert row["mmd_least"] == min(row["mmd_paper"])
    assert set(one.figures(pd.DataFrame([row]))) == {"mmd", "nll", "rmse"}


def test_a_finer_grid_has_the_points_of_the_coarser():
    one = study("cross-validation")
    sizes = {}
    for n in (2, 3, 5, 9):
        choice = one.choose("paper", datasets=("boston",), methods=("grid",), per_parameter=n)
        sizes[n] = {job.hash for job in one.jobs(choice)}
    assert [len(found) for found in sizes.values()] == [n**4 for n in sizes]
    assert sizes[3] <= sizes[5] <= sizes[9]
    assert sizes[2] <= sizes[3]
    settings = [job.settings for job in one.jobs(choice)]
    assert len(settings) == 6561  # the paper's configurations
    assert {s["depth"] for s in settings} == {1}


@pytest.mark.parametrize("wrong", [4, 0])
def test_only_grids_within_each_other_are_offered(wrong):
    with pytest.raises(ValueError, match="per_parameter"):
        study("cross-validation").choose("paper", per_parameter=wrong)


def test_other_studies_have_no_grid_of_scales():
    with pytest.raises(ValueError, match="no grid of scales"):
        study("banana").choose("paper", per_parameter=5)


@pytest.mark.slow
def test_a_trial_has_the_scales_of_itsjob_of(chains):
    one, settings = job_of("cross-validation", method="grid", width=5)
    scales = {"hidden_weight": 1.0, "hidden_bias": 2.0, "output_weight": 3.0, "output_bias": 4.0}
    row = row_of(one, {**settings, **scales}).iloc[0]
    (first, *_), (prior, rows, options) = chains
    assert list(first.scales.values()) == pytest.approx(
        [1.0] * 4
    )  # to compile; its time is not told
    assert len(row["trial_seconds"]) == 1
    assert list(prior.scales.values()) == pytest.approx([1.0, 2.0, 3.0, 4.0])
    kinds = [(p.kind, p.shape) for p in prior.architecture.parameters]
    assert [kind for kind, _ in kinds] == ["weight", "bias"] * 2
    assert rows == 32  # four fifths of the 40 training rows
    assert options["draws"] == tables.QUICK["draws"]
    assert row["nll"] == pytest.approx(0.5 * np.log(2 * np.pi) + np.log(EXACT), abs=0.3)


def test_a_search_is_one_job_and_counts_its_own_time(chains, monkeypatch):
    def bayesian_search(evaluate, network, *, trials):
        names = ["layers.0.weight"]
        for i in range(trials):
            trial = evaluate({})
            yield Trial(dict.fromkeys(names, 1.0), trial.nll + (i - 2) ** 2, 0.0)

    monkeypatch.setattr("goodprior.baselines.bayesian_search", bayesian_search)
    one, settings = job_of("cross-validation", method="bo", width=5, trials=4)
    row = row_of(one, settings).iloc[0]
    assert len(chains) - 1 == len(row["trial_nll"]) == 4  # one was to compile
    assert row["nll"] == row["trial_nll"][2]
    assert min(row["trial_seconds"]) > 0


def test_the_front_and_the_table_of_the_search():
    one = study("cross-validation")
    rng = np.random.default_rng(0)
    rows = [
        {"dataset": "boston", "method": "grid", "nll": nll, "trial_nll": [nll],
         "trial_seconds": [36.0]}
        for nll in rng.normal(3.0, 1.0, size=20)
    ]  # fmt: skip
    for method, seconds in (("fg", 30.0), ("gpi-g", 90.0)):
        rows.append({"dataset": "boston", "method": method, "nll": 2.0, "trial_nll": [2.0],
                     "trial_seconds": [seconds]})  # fmt: skip
    frame = pd.DataFrame(rows)
    table = one.table(frame).set_index("way")
    assert table.loc["grid search", "priors tried"] == 20
    assert table.loc["grid search", "hours in all"] == pytest.approx(0.2)
    assert table.loc["grid search", "best validation NLL"] == min(r["nll"] for r in rows[:20])
    (figure,) = one.figures(frame).values()
    (ax,) = figure.axes
    front = next(line for line in ax.lines if "best so far" in str(line.get_label()))
    assert front.get_xdata()[-1] == pytest.approx(12.0)  # minutes
    assert (np.diff(front.get_ydata()) <= 0).all()
