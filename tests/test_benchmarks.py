"""The comparison with other packages: its scores are ours, and a run that stopped goes on."""

import argparse
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from goodprior.evaluation import expected_calibration_error, regression_metrics
from goodprior.inference import ClassPrediction, Prediction

pytest.importorskip("benchmarks", reason="benchmarks are not part of a source distribution")

from benchmarks import classification, scoreboard
from benchmarks.peers.regressors import split_rhat
from benchmarks.ranks import complete, critical_difference, diagram, groups, mean_ranks


@pytest.fixture
def mixture() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 40)), rng.uniform(0.5, 2, size=(30, 40)), rng.normal(size=40)


def test_scores_are_those_of_the_package(mixture: tuple[np.ndarray, ...]):
    mean, std, y = mixture
    prediction = Prediction(jnp.asarray(mean[..., None]), jnp.asarray(std[..., None]))
    expected = regression_metrics(prediction, y)
    for name, value in scoreboard.scores(mean, std, y).items():
        rel = 0.02 if name == "crps" else 5e-3  # the package has it from 200 quantiles
        assert value == pytest.approx(expected[name], rel=rel), name


def test_student_noise_is_scored_as_in_the_package(mixture: tuple[np.ndarray, ...]):
    mean, std, y = mixture
    prediction = Prediction(jnp.asarray(mean[..., None]), jnp.asarray(std[..., None]), 4.0)
    found, expected = scoreboard.scores(mean, std, y, 4.0), regression_metrics(prediction, y)
    for name in ("rmse", "nll", "nll_moment", "coverage_95"):
        assert found[name] == pytest.approx(expected[name], rel=5e-3), name


def test_calibration_error_is_that_of_the_package():
    rng = np.random.default_rng(1)
    probabilities, y = rng.dirichlet(np.ones(3), size=200), rng.integers(3, size=200)
    expected = expected_calibration_error(ClassPrediction(jnp.log(probabilities[None])), y)
    assert classification.calibration_error(probabilities, y) == pytest.approx(expected, abs=1e-5)


def test_chains_that_disagree_have_a_large_rhat():
    rng = np.random.default_rng(2)
    chains = rng.normal(size=(4, 100, 3))
    assert split_rhat(chains) < 1.1
    assert split_rhat(chains + np.arange(4)[:, None, None]) > 1.3


def table_of(**scores: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"data": f"table {i}", "split": 0, "method": method, "nll": value, "rmse": value}
            for method, values in scores.items()
            for i, value in enumerate(values)
            if np.isfinite(value)
        ]
    )


def test_ranks_are_over_the_tables_that_all_have_finished():
    rows = table_of(good=[1, 1, 1], bad=[2, 2, np.nan], hardly_begun=[0, np.nan, np.nan])
    ranks = mean_ranks(rows)
    assert ranks["nll"].to_dict() == {"good": 1.0, "bad": 2.0}
    assert list(complete(rows, "nll").index) == ["table 0", "table 1"]
    assert ranks.attrs["tables"] == 2


def test_bars_join_ranks_that_do_not_differ():
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)
    assert groups(np.array([1.0, 1.9, 2.5, 3.9]), 1.25) == [(1.0, 1.9), (1.9, 2.5)]
    figure = diagram(table_of(good=[1, 1, 1], bad=[2, 2, 2]))
    assert [ax.get_title().split(":")[0] for ax in figure.axes] == ["nll", "rmse"]


def options(out: Path, **changed: object) -> argparse.Namespace:
    settings = {"tables": ["diabetes"], "methods": ["gp"], "splits": 2, "most_seconds": 60.0}
    settings |= {"again": False, "through": "", "peers": sys.executable, "out": out}
    return argparse.Namespace(**(settings | changed))


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fitted = []

    def pretend(data: str, split: int, method: str, _: object) -> dict[str, object]:
        fitted.append((data, split, method))
        row = {"data": data, "split": split, "method": method, "integer_target": False}
        return row | ({"failed": "too long"} if split else {"nll": 1.0, "rmse": 1.0})

    monkeypatch.setattr(scoreboard, "run_one", pretend)
    out = tmp_path / "found" / "scoreboard.csv"
    scoreboard.run(options(out, splits=1))
    rows = scoreboard.run(options(out))
    assert fitted == [("diabetes", 0, "gp"), ("diabetes", 1, "gp")]
    assert rows.failed.tolist()[1] == "too long"
    scoreboard.run(options(out, again=True))
    assert len(pd.read_csv(out)) == 2
    assert fitted[2:] == [("diabetes", 1, "gp")]
    assert "diabetes" in scoreboard.summary(rows)


def test_a_fit_that_fails_has_a_row_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Table:
        def split(self, _: int) -> tuple[np.ndarray, ...]:
            return np.zeros((9, 2)), np.arange(9.0), np.zeros((3, 2)), np.arange(3.0)

    monkeypatch.setattr(scoreboard, "load", lambda _: Table())
    monkeypatch.setattr(
        scoreboard, "command_of", lambda *_: [sys.executable, "-c", "raise ValueError('no rows')"]
    )
    row = scoreboard.run_one("table", 0, "gp", options(tmp_path / "x.csv"))
    assert "no rows" in row["failed"]
    assert row["integer_target"]
