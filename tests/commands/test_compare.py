"""`compare`: settings from options, one table, one recommendation, files of both kinds."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from goodprior import cli, comparison
from goodprior.commands import compare
from goodprior.comparison.references import gaussian

ROWS = 30


@pytest.fixture(autouse=True)
def _small_and_fast(monkeypatch, tmp_path):
    """Networks stand aside for lines: what is compared is told apart by its settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compare, "prepare", lambda: None)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.uniform(0, 10, ROWS), "colour": np.resize(["a", "b"], ROWS)})
    frame["y"] = 5 * frame["size"] + rng.normal(0, 1, ROWS)
    frame["kind"] = np.where(frame["size"] > 5, "large", "small")
    frame.to_csv("data.csv", index=False)


FITTED = []


def fake_fit(self, X, y, sample_weight=None, *, noise_std=None, checkpoint=None):
    FITTED.append(self.get_params(deep=False) | {"columns": list(X.columns)})
    self.mean_ = np.mean(y) + (0.0 if self.prior == "gpi-h" else 1000.0)
    return self


def fake_distribution(self, X):
    return gaussian(np.full(len(X), self.mean_), np.full(len(X), 15.0))


@pytest.fixture
def fakes(monkeypatch):
    from goodprior import BNNRegressor

    FITTED.clear()
    monkeypatch.setattr(BNNRegressor, "fit", fake_fit)
    monkeypatch.setattr(BNNRegressor, "predict_distribution", fake_distribution)


def run(*arguments):
    words = ("compare", "data.csv", *arguments)
    return CliRunner().invoke(cli.app, [str(a) for a in words])


def test_priors_are_compared_on_the_same_folds_with_a_recommendation(fakes):
    options = ("--drop", "kind", "--folds", 3, "--prior", "gpi-g,gpi-h", "--no-peers")
    done = run("--target", "y", *options)
    assert done.exit_code == 0, done.output
    assert "30 rows, 2 columns as 3 inputs" in done.stdout
    assert "2 settings on 3 folds, 6 fits: gpi-g; gpi-h" in done.stdout
    assert re.search(r"gpi-h +\d", done.stdout)
    assert "Take gpi-h: NLL" in done.stdout
    assert "gpi-g is worse: " in done.stdout
    assert "comparing" in done.stderr
    assert [found["prior"] for found in FITTED] == ["gpi-g", "gpi-h"] * 3
    assert FITTED[0]["columns"] == ["size", "colour"]
    assert FITTED[0]["encode"] is True


def test_all_combinations_are_named_by_what_varies(fakes):
    options = ("--drop", "kind", "--folds", 2, "--no-peers", "--quick", "--seed", 7)
    beliefs = ("--belief", "rough", "--belief", "lengthscale.size=4")
    done = run("--target", "y", *options, *beliefs, "--method", "sghmc,auto", "--draws", 9)
    assert done.exit_code == 0, done.output
    names = "rough, sghmc; rough, auto; lengthscale.size=4, sghmc; lengthscale.size=4, auto"
    assert names in done.stdout
    last = FITTED[-1]
    assert last["belief"] == {"lengthscale": {"size": 4.0}}
    assert (last["method"], last["draws"], last["chains"]) == ("auto", 9, 4)
    assert (last["prior"], last["random_state"]) == ("gpi-g", 7)


def test_the_page_and_the_scores_are_written(fakes):
    options = ("--drop", "kind", "--folds", 2, "--target", "y")
    done = run(*options, "--out", "report.html", "--prior", "fg,gpi-h")
    assert done.exit_code == 0, done.output
    page = Path("report.html").read_text()
    for words in ("Comparison: y of data.csv", "Take gpi-h", "gp-ard", "boosting", "<img", "rmse"):
        assert words in page
    assert not re.search(r"https?://|<script|<link", page)
    done = run(*options, "--out", "report.json", "--prior", "fg", "--json", "--no-peers")
    assert done.exit_code == 0, done.output
    written, printed = json.loads(Path("report.json").read_text()), json.loads(done.stdout)
    assert printed == written | {"out": "report.json"}
    assert [row["model"] for row in written["table"]] == ["fg"]
    assert len(written["scores"]) == 2
    assert "1 settings on 2 folds" in done.stderr


def test_a_stop_prints_what_is_done_and_the_same_command_goes_on(fakes, monkeypatch):
    options = ("--drop", "kind", "--folds", 2, "--target", "y", "--no-peers", "--checkpoint", "k")
    original = comparison.compare.score_fold

    def stop_in_the_second_fold(model, X, y, fold, task):
        if fold.number == 2:
            raise KeyboardInterrupt
        return original(model, X, y, fold, task)

    with monkeypatch.context() as patch:
        patch.setattr(comparison.compare, "score_fold", stop_in_the_second_fold)
        done = run(*options, "--prior", "fg,gpi-h")
    assert done.exit_code == 0, done.output
    assert "ended early because it was interrupted" in done.stdout
    assert "one fold says nothing of chance" in done.stdout
    FITTED.clear()
    done = run(*options, "--prior", "fg,gpi-h", "--quiet")
    assert (done.exit_code, done.stdout) == (0, "")
    assert len(FITTED) == 2


def test_classes_are_compared_by_log_loss(monkeypatch):
    from goodprior import BNNClassifier
    from goodprior.comparison.references import class_prediction

    monkeypatch.setattr(BNNClassifier, "fit", lambda self, X, y: self)
    monkeypatch.setattr(
        BNNClassifier,
        "predict_distribution",
        lambda self, X: class_prediction(np.full((len(X), 2), 0.5)),
    )
    done = run("--target", "kind", "--drop", "y", "--prior", "fg", "--no-peers", "--folds", 2)
    assert done.exit_code == 0, done.output
    assert "Only fg can be judged (log loss 0.693 per row)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--prior", "good"], "must be of fg, fh, gpi-g, gpi-h, gpi-nf; got 'good'"),
        (["--method", "magic"], "got 'magic'"),
        (["--belief", "wild"], "belief must be one of"),
        (["--belief", "lengthscale=x"], "needs a number after the ="),
        (["--prior", "fg", "--method", "ensemble"], "takes no notice of prior"),
        (["--budget", "0"], "must be a number of seconds above zero"),
        (["--folds", "31"], "folds must be at most the number of rows, 30"),
        (["--out", "report.pdf"], "must end in .html or .json"),
        (["--target", "no"], "there is no column 'no'"),
        ([word for i in range(21) for word in ("--belief", f"amplitude={i + 1}")], "21 settings"),
    ],
)
def test_wrong_wishes_are_refused_before_any_fit(arguments, complaint, monkeypatch):
    monkeypatch.setattr(comparison.compare, "score_fold", lambda *_: pytest.fail("it began"))
    done = run("--target", "y", "--drop", "kind", "--no-peers", *arguments)
    assert done.exit_code == 2
    assert complaint in re.sub(r"[\s│]+", " ", done.stderr)
