"""`goodprior calibrate`, and what `show` makes of its results."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import goodprior
from goodprior import BNNRegressor, cli
from goodprior.commands import calibrate, show
from goodprior.commands.training_table import read_training_table
from goodprior.inference import SGHMC

SAMPLER = SGHMC(0.02, 0.02, gradient_noise="none", burn_in=20, thinning=5, batch_size=None)


@pytest.fixture(scope="module", autouse=True)
def _fast():
    with pytest.MonkeyPatch.context() as patch:
        for command in (calibrate, show):
            patch.setattr(command, "prepare", lambda: None)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, a model of it, and the results of a calibration in all forms."""
    folder = tmp_path_factory.mktemp("calibrate")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.uniform(0, 10, 12), "colour": ["red", "blue"] * 6})
    frame["y"] = 100 + 5 * frame["size"]
    frame.to_csv(folder / "data.csv", index=False)
    frame.drop(columns="y").to_csv(folder / "inputs.csv", index=False)
    table = read_training_table(folder / "data.csv", ["y"], [], False, "auto")
    settings = {"hidden": (3,), "method": SAMPLER, "chains": 2, "draws": 4, "random_state": 0}
    model = BNNRegressor("fg", noise_variance=0.1, **settings).fit(table.rows, table.targets)
    model.save(folder / "model.safetensors", table=table.to_dict())
    return folder


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(a) for a in arguments])


def run_calibrate(folder, *arguments, data="data.csv"):
    words = ("calibrate", folder / "model.safetensors", folder / data, "--simulations", 3)
    return run(*words, *arguments)


@pytest.fixture(scope="module")
def done(folder):
    outs = [("--out", folder / f"calibration.{ending}") for ending in ("png", "html", "json")]
    found = run_calibrate(folder, *sum(outs, ()), "--json")
    assert found.exit_code == 0, found.output
    return found


def test_it_prints_ranks_and_writes_picture_page_and_numbers(folder, done):
    found = json.loads(done.stdout)
    names = ["function at row 1", "function at row 7", "function at row 12"]
    assert [q["name"] for q in found["quantities"]] == [*names, "log likelihood", "log prior"]
    assert found["simulations"] == 3
    assert found["about"] == "draws of the prior fg, targets simulated at 12 rows, sghmc"
    assert "3 simulations: nothing speaks against it" in done.stderr
    assert "but 3 simulations say little" in done.stderr
    assert (folder / "calibration.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "calibration.html").read_text()
    assert "Does the sampler find answers that are known?" in page
    written = json.loads((folder / "calibration.json").read_text())
    assert written == {k: v for k, v in found.items() if k != "out"}


def test_show_puts_the_results_into_its_report(folder, done):
    words = ("show", folder / "model.safetensors", "--out", folder / "report.html")
    shown = run(*words, "--calibration", folder / "calibration.json")
    assert shown.exit_code == 0, shown.output
    assert "calibration: nothing speaks against it" in shown.stdout
    page = (folder / "report.html").read_text()
    assert "Does the sampler find answers that are known?" in page
    assert 'alt="calibration"' in page
    assert run(*words).exit_code == 0
    assert "answers that are known" not in (folder / "report.html").read_text()
    (folder / "other.json").write_text('{"quantities": 3}')
    refused = run(*words, "--calibration", folder / "other.json")
    assert refused.exit_code == 2
    assert "other.json cannot be used" in refused.stderr


@pytest.mark.slow
def test_around_the_posterior_it_needs_the_targets(folder):
    found = run_calibrate(folder, "--posterior", "--rows", 4, "--out", folder / "around.json")
    assert found.exit_code == 0, found.output
    about = json.loads((folder / "around.json").read_text())["about"]
    assert about == "draws of the fitted posterior, targets simulated at 4 of 12 rows, sghmc"
    refused = run_calibrate(folder, "--posterior", data="inputs.csv")
    assert refused.exit_code == 2
    assert "--posterior needs the targets" in refused.stderr


def test_ctrl_c_keeps_what_is_done(folder, monkeypatch):
    import goodprior.estimators.calibration as room

    pipeline = sys.modules["goodprior.pipeline.calibrate"]  # not the function of that name
    made, ranked = [], pipeline._of_draws

    class Remembered(room.Deadline):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            made.append(self)

    def and_press(*arguments):
        made[0].pressed = True
        return ranked(*arguments)

    monkeypatch.setattr(room, "Deadline", Remembered)
    monkeypatch.setattr(pipeline, "_of_draws", and_press)
    found = run_calibrate(folder, "--out", folder / "early.json")
    assert found.exit_code == 0, found.output
    written = json.loads((folder / "early.json").read_text())
    assert (written["simulations"], written["asked"]) == (1, 3)
    assert "it ended early: 1 of 3 simulations" in found.stderr


def test_what_cannot_be_done_is_said_before_any_work(folder):
    for arguments, words in (
        (("--out", "picture.pdf"), "must end in .png or .html or .json"),
        (("--budget", "0"), "must be a number of seconds above zero"),
    ):
        found = run_calibrate(folder, *arguments)
        assert found.exit_code == 2
        assert words in " ".join(found.output.replace("│", " ").split())
    found = run("calibrate", folder / "model.safetensors")
    assert found.exit_code == 2
    assert "model files hold no rows" in found.stderr


def test_models_without_draws_of_a_posterior_are_refused(folder):
    model = goodprior.load(folder / "model.safetensors")
    X = pd.read_csv(folder / "inputs.csv").assign(**{"colour=blue": 0.0, "colour=red": 1.0})
    X = X[model.feature_names_in_]
    with pytest.raises(ValueError, match="X and y must have as many rows: 12 and 3"):
        model.calibrate(X, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="fit with temperature=1"):
        model.set_params(temperature=0.5).calibrate(X)
    one = BNNRegressor("fg", hidden=(3,), method=goodprior.pipeline.MAP(epochs=2), random_state=0)
    with pytest.raises(ValueError, match="method map has none"):
        one.fit(X, np.arange(12.0)).calibrate(X)
