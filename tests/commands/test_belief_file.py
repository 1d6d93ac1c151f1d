"""`goodprior fit --belief-file`."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from goodprior import cli
from goodprior.beliefs.file import StoredBelief
from goodprior.commands import fit

FIT_AND_SAVE = fit._fit_and_save


def table(path, rows=20):
    x = np.linspace(0, 10, rows)
    frame = pd.DataFrame({"age": x, "dose": x % 3, "y": np.sin(x) * 4 + 50})
    frame.to_csv(path / "table.csv", index=False)
    return frame


def run(*arguments):
    return CliRunner().invoke(cli.app, ["fit", "table.csv", "--target", "y", *arguments])


@pytest.fixture(autouse=True)
def fitted(tmp_path, monkeypatch):
    """What would be fitted: the settings, without the fit."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fit, "prepare", lambda: None)
    found = {}

    def stop(table, settings, checkpoint, out):
        found.update(settings)
        raise ValueError("stop here")

    monkeypatch.setattr(fit, "_fit_and_save", stop)
    return found


@pytest.mark.parametrize(
    "spec",
    [
        {"lengthscale": {"age": "3 x/ 2"}, "amplitude": 4, "ignore": ["dose"]},
        {"mixture": [{"lengthscale": {"age": 3}}, "rough"]},
    ],
)
def test_a_belief_file_is_what_the_estimator_gets(spec, tmp_path, fitted):
    frame = table(tmp_path)
    (tmp_path / "ann.json").write_text(StoredBelief("Ann", spec, noise=0.5).to_json())
    result = run("--belief-file", "ann.json")
    assert "stop here" in result.output
    assert fitted["belief"] == spec
    assert fitted["noise_variance"] == pytest.approx((0.5 / frame["y"].std(ddof=0)) ** 2)


def test_without_a_noise_it_is_learned(tmp_path, fitted):
    table(tmp_path)
    (tmp_path / "ann.json").write_text(StoredBelief("Ann", "rough").to_json())
    run("--belief-file", "ann.json")
    assert "noise_variance" not in fitted


@pytest.mark.parametrize(
    ("content", "more", "words"),
    [
        ("[" * 5000, [], "nested more than 8 deep"),
        (StoredBelief("A", {"lengthscale": {"x": 1}}).to_json(), [], "names 'x'"),
        (StoredBelief("A", "smooth").to_json(), ["--belief", "rough"], "not both"),
        (StoredBelief("A", "smooth", noise=1.0).to_json(), ["--target", "dose"], "one target"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_before_any_work(
    content, more, words, tmp_path, monkeypatch
):
    monkeypatch.setattr(fit, "_fit_and_save", FIT_AND_SAVE)
    monkeypatch.setattr("goodprior.estimators.base.fit_posterior", None)
    table(tmp_path)
    (tmp_path / "bad.json").write_text(content)
    result = run("--belief-file", "bad.json", *more)
    assert result.exit_code == 2
    assert words in " ".join(result.output.replace("│", " ").split())
