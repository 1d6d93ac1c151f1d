"""The studies with images, on small made-up images: grids, rows and figures."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from goodprior.beliefs import GaussianProcess, rbf
from goodprior.data.corruptions import CORRUPTIONS
from goodprior.data.registry import Dataset
from goodprior.inference import ClassPrediction
from goodprior.matching import Comparison, History, Match, MatchSchedule
from goodprior.studies.catalogue import study
from goodprior.studies.engine.store import Result, Store
from goodprior.studies.engine.study import Choice
from goodprior.studies.protocols import images, methods
from goodprior.studies.protocols.data import balanced, image_problem_and_test
from goodprior.studies.protocols.methods import METHODS, Fitted, fit
from goodprior.studies.protocols.problems import image_problem
from goodprior.studies.reports.report import gather, write

TABLES = ("cifar10", "empirical-bayes-images", "map-images", "small-data")
SHORT = {"burn_in": 4, "draws": 4, "thinning": 2, "batch_size": 8, "rows": 30}
MATCHED = {"match_points": 5, "match_draws": 4, "match_steps": 10, "match_held_out": 4}


def _images(n, channels, seed=0):
    """Images whose class is where they are brightest."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 10
    X = rng.integers(0, 100, (n, 32, 32, channels))
    for image, label in zip(X, y, strict=True):
        image[3 * label : 3 * label + 4] += 120
    return X.astype(np.uint8), y.astype(np.uint8)


@pytest.fixture
def tiny_images(monkeypatch):
    """Sets of 60 images, 20 of them for testing, in place of the files."""

    def load(name):
        X, y = _images(60, 3 if name == "cifar10" else 1, seed=len(name))
        return Dataset(name, X, y, None if name == "notmnist" else (np.arange(60) >= 40)[None])

    monkeypatch.setattr("goodprior.data.load", load)


@pytest.fixture
def sure_of_bright_images(monkeypatch):
    """A method that is right and sure where a channel's mean is above 60, else says even odds."""
    problems = []

    def method(problem, settings, key):
        problems.append(problem)

        def predict(X):
            label = np.asarray(X, float).mean(axis=(2, 3)).reshape(len(X), 32)
            rows = np.stack([label[:, 3 * k : 3 * k + 4].mean(1) for k in range(10)], axis=1)
            bright = rows.max(axis=1) - rows.mean(axis=1) > 40
            logits = np.where(bright[:, None], 8.0 * (rows == rows.max(1, keepdims=True)), 0.0)
            log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
            return ClassPrediction(jnp.asarray(np.stack([log_p, log_p]), jnp.float32))

        return Fitted(predict, {"told": 1.0})

    for name in METHODS:
        monkeypatch.setitem(METHODS, name, method)
    return problems


def _settings(name, **choice):
    one = study(name)
    return one, [dict(job.settings) for job in one.jobs(one.choose("quick", **choice))]


def _rows(one, jobs):
    found = []
    for job in jobs:
        given = {k: v for k, v in job.items() if k != "study"}
        found.append({**given, **one.run(given), "seconds": 1.0})
    return pd.DataFrame(found)


def test_the_papers_chains_and_training():
    choice = Choice("paper", ("cifar10",))
    each = {m: images.image_settings("cifar10", "vgg16", m, 0, choice) for m in METHODS}
    lengths = [each["gpi-h"][name] for name in ("burn_in", "draws", "thinning", "rows")]
    assert lengths == [10_000, 200, 10_000, 50_000]
    assert [each["gpi-h"][f"match_{k}"] for k in ("points", "draws", "rate")] == [32, 128, 0.01]
    assert each["ensemble"]["epochs"] == 200
    assert each["ensemble"]["falling_rate"]
    assert "weight_decay" not in each["ensemble"]  # tuned on the paper's grid
    assert {each[m]["epochs"] for m in ("map-fg", "map-gpi-g", "early-stopping")} == {150}
    mnist = images.image_settings("mnist", "lenet5", "fg", 0, choice)
    assert (mnist["draws"], mnist["rows"]) == (100, 60_000)


def test_the_papers_table_has_four_runs_of_three_networks():
    one = study("cifar10")
    jobs = [job.settings for job in one.jobs(one.presets["paper"])]
    assert len(jobs) == 3 * 4 * 6
    assert {s["distance"] for s in jobs if "distance" in s} == {"wasserstein"}


@pytest.mark.slow
def test_the_papers_learning_rate_falls_at_epochs_50_100_and_150(monkeypatch):
    asked = {}

    def fit_ensemble(network, likelihood, X, y, *, learning_rate, **rest):
        asked["rates"] = [learning_rate(epoch) for epoch in (0, 49, 50, 99, 100, 150, 199)]
        raise InterruptedError

    monkeypatch.setattr("goodprior.pipeline.methods.ensemble.fit_ensemble", fit_ensemble)
    settings = images.image_settings("cifar10", "lenet5", "ensemble", 0, Choice("paper"))
    with pytest.raises(InterruptedError):
        fit(image_problem(*_images(20, 3), settings), settings)
    expected = [1e-2, 1e-2, 1e-3, 1e-3, 1e-4, 1e-5, 1e-5]
    np.testing.assert_allclose(asked["rates"], expected)


def test_small_sets_have_as_many_images_of_each_class():
    y = np.repeat(np.arange(10), [5, 10, 15, 20, 25, 30, 35, 40, 45, 50])
    picked = balanced(y, 50, seed=1)
    assert np.bincount(y[picked]).tolist() == [5] * 10
    assert len(set(picked.tolist())) == 50
    assert set(picked.tolist()) != set(balanced(y, 50, seed=2).tolist())
    np.testing.assert_array_equal(balanced(y, 1000, seed=0), np.arange(len(y)))


@pytest.mark.slow
def test_images_are_standardised_by_channel_and_believed_in_smoothly(tiny_images):
    settings = {"dataset": "cifar10", "network": "lenet5", "rows": 30, "split": 0, "test_rows": 7}
    problem, X_test, y_test = image_problem_and_test(settings)
    assert (len(problem.X), len(X_test), len(y_test)) == (30, 7, 7)
    inputs = np.asarray(problem.scaling.inputs(problem.X))
    np.testing.assert_allclose(inputs.mean((0, 1, 2)), 0, atol=1e-4)
    np.testing.assert_allclose(inputs.std((0, 1, 2)), 1, atol=1e-4)
    functions = np.asarray(problem.belief.sample(jax.random.key(0), jnp.asarray(inputs), 300))
    assert functions.shape == (300, 30, 10)
    assert np.std(functions) == pytest.approx(8**0.5, rel=0.15)  # of LogNormal(log 8, 0.3), nearly
    between = np.corrcoef(functions[:, 0].ravel(), functions[:, 1].ravel())[0, 1]
    assert 0.9 < between < 0.999


def test_beliefs_about_images_are_in_units_of_0_to_255_pixels(tiny_images):
    """Figure 9's belief at two images 271 grey values apart."""
    one = study("class-priors")
    assert {s.get("pixels") for s in (j.settings for j in one.jobs(one.presets["paper"]))} == {
        "0-255",
        None,
    }
    settings = {"network": "lenet5", "pixels": "0-255"}
    X, y = _images(20, 1)
    problem = image_problem(X, y, settings, belief=GaussianProcess(rbf(256.0, 1.0)))
    pair = np.zeros((2, 32, 32, 1))
    pair[1, :16] = 12.0  # 16 x 32 pixels by 12: 271.5 apart
    functions = problem.belief.sample(jax.random.key(0), problem.scaling.inputs(pair), 20_000)
    found = np.corrcoef(functions[:, 0, 0], functions[:, 1, 0])[0, 1]
    assert found == pytest.approx(np.exp(-0.5 * (12**2 * 512) / 256**2), abs=0.02)
    del settings["pixels"]
    other = image_problem(X, y, settings, belief=GaussianProcess(rbf(256.0, 1.0)))
    functions = other.belief.sample(jax.random.key(0), problem.scaling.inputs(pair), 1000)
    assert np.corrcoef(functions[:, 0, 0], functions[:, 1, 0])[0, 1] > 0.99


@pytest.mark.parametrize("name", TABLES)
def test_tables_and_figures_of_cifar(name, tiny_images, sure_of_bright_images, tmp_path):
    one, jobs = _settings(name, networks=("lenet5",))
    rows = _rows(one, [{**job, "rows": min(job["rows"], 40)} for job in jobs])
    assert (rows["accuracy"] == 1).all()
    assert (rows["nll"] < 0.01).all()
    assert (rows["training_rows"] == 40).all()  # all there are
    store = Store(tmp_path / name)
    for job, (_, row) in zip(jobs, rows.iterrows(), strict=True):
        store.add(Result(job, {k: row[k] for k in ("accuracy", "nll", "training_rows")}, 1.0))
    report = gather(one, store)
    assert report.done == len(jobs)
    captions = [caption for section in report.sections for caption, _ in section.tables]
    assert any("paired over splits" in caption for caption in captions)
    written = {path.suffix for path in write(report, tmp_path / name)}
    assert written == {".html", ".csv", ".png"}


def test_more_training_images_than_there_are_is_an_error(tiny_images, sure_of_bright_images):
    one, jobs = _settings("small-data", sizes=(500,), methods=("fg",))
    with pytest.raises(ValueError, match="500 training images were asked for and 40 are there"):
        _rows(one, jobs)


def test_the_papers_numbers_stand_beside_ours():
    one, jobs = _settings("cifar10", networks=("lenet5",), methods=("gpi-h",))
    from goodprior.studies.reports.compare import beside

    rows = pd.DataFrame([{**jobs[0], "accuracy": a, "nll": 0.7} for a in (0.76, 0.77)])
    accuracy, nll = (beside(rows, against, one.keys).iloc[0] for against in one.against)
    assert (accuracy["paper"], nll["paper"]) == (76.51, 0.6952)
    assert not accuracy["differs"]
    assert np.isnan(nll["paper_spread"])  # the printed one is no measurement


@pytest.mark.slow
def test_corruptions_are_scored_one_by_one(tiny_images, sure_of_bright_images):
    one, jobs = _settings("cifar10-corrupted", methods=("fg", "gpi-g"))
    rows = _rows(one, [{**job, "test_rows": 10} for job in jobs])
    values = np.array(rows["corrupted_accuracy"].iloc[0])
    assert values.shape == (len(CORRUPTIONS), 5)
    by_name = dict(zip(rows["corruptions"].iloc[0], values, strict=True))
    assert by_name["gaussian_noise"][0] == rows["accuracy"].iloc[0] == 1
    assert by_name["contrast"][-1] < 0.5  # nothing is bright any more
    assert rows["accuracy_5"].iloc[0] == pytest.approx(values[:, 4].mean())
    assert not set(rows["rising"].iloc[0]) & {"gaussian_noise", "contrast"}
    assert set(one.figures(rows)) == {"severities"}


def test_foreign_images_have_the_larger_entropy(tiny_images, sure_of_bright_images, monkeypatch):
    import goodprior.data

    load = goodprior.data.load

    def dim(name):
        data = load(name)
        return data._replace(X=data.X // 3) if name == "notmnist" else data

    monkeypatch.setattr("goodprior.data.load", dim)
    one, jobs = _settings("out-of-distribution", methods=("fg", "ensemble"))
    rows = _rows(one, jobs)
    assert (rows["auroc"] == 1).all()
    assert (rows["entropy_own"] < 0.1).all()
    np.testing.assert_allclose(rows["entropy_foreign"], np.log(10), atol=1e-3)
    assert rows["curve_own"].iloc[0][10] == 1
    assert rows["curve_foreign"].iloc[0][98] == 0
    (figure,) = one.figures(rows).values()
    assert [ax.get_title()[:5] for ax in figure.axes] == ["MNIST", "notMN"]


@pytest.mark.slow
def test_class_priors_of_belief_and_weights(tiny_images):
    one, jobs = _settings("class-priors", methods=("gp", "fg", "fh"), pixels="standardised")
    rows = _rows(one, [{**job, "draws": 40} for job in jobs])
    assert (rows["top_share"] > 0.1).all()
    assert (rows["mean_top_share"] <= rows["top_share"]).all()
    np.testing.assert_allclose([np.sum(s) for s in rows["mean_shares"]], 1, atol=1e-3)
    # a belief of variance one that is smooth in standardised pixels is softmax of ten standard
    # normals, the same at every image
    normal = np.random.default_rng(0).normal(size=(4000, 10))
    p = np.exp(normal) / np.exp(normal).sum(1, keepdims=True)
    expected = -(p * np.log(p)).sum(1).mean()
    assert rows["entropy"].iloc[0] == pytest.approx(expected, abs=0.12)
    (figure,) = one.figures(rows).values()
    lines = [ax.get_ylabel().split("\n") for ax in figure.axes[::4]]
    assert lines == [[name, "probability"] for name in ("GP (belief)", "FG", "FH")]


def test_the_course_of_matching_images(tiny_images, monkeypatch):
    asked = {}

    def match(prior, belief, points, *, key, on_progress, on_prior, **options):
        asked.update(options, points=points.size)
        before, after = Comparison(1.0, 0.5, 2.0), Comparison(0.1, 0.05, 1.1)
        steps = options["schedule"].steps
        return Match(prior, History(np.linspace(1, 0, steps), 3.0, before, after))

    monkeypatch.setattr("goodprior.pipeline.prior.match", match)
    one = study("convergence-images")
    jobs = one.jobs(one.choose("paper", networks=("lenet5",), methods=("gpi-h",)))
    rows = _rows(one, [dict(job.settings) for job in jobs])
    assert asked.pop("distance").critic_steps == 200
    assert asked == {
        "schedule": MatchSchedule.published(steps=200, draws=128, learning_rate=0.01),
        "held_out": 512,
        "points": 32,
    }
    assert set(one.figures(rows)) == {"course"}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fg", "fg+ts", "gpi-g", "gpi-h", "ensemble", "map-gpi-g"])
def test_methods_run_on_images(tiny_images, method):
    methods._tuned_temperature.cache_clear()
    _, jobs = _settings(
        "cifar10", networks=("lenet5",), methods=(method if "map" not in method else "fg",)
    )
    short = {"tuning_burn_in": 2, "tuning_draws": 1, "tuning_thinning": 2, "epochs": 2}
    given = {**jobs[0], "method": method, "distance": "energy", **SHORT, **MATCHED, **short}
    row = study("cifar10").run({k: v for k, v in given.items() if k != "study"})
    assert 0 <= row["accuracy"] <= 1
    assert np.isfinite(row["nll"])
    assert row["training_rows"] == 30
