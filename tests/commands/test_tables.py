"""Tables of all kinds from file to predictions: the same model as in Python."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import goodprior
from goodprior import cli
from goodprior.commands import fit, model_settings, predict
from goodprior.commands.training_table import describe_table, read_training_table
from goodprior.inference import SGHMC
from goodprior.pipeline import Sampled
from goodprior.pipeline.methods import registry

TINY = {"hidden": (4,), "chains": 2, "draws": 4}
SAMPLER = SGHMC(0.02, 0.02, gradient_noise="none", burn_in=20, thinning=5, batch_size=None)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, and short fits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(model_settings, "QUICK", TINY)
    monkeypatch.setitem(registry.METHODS, "auto", lambda: Sampled.by(SAMPLER, start="prior"))
    for command in (fit, predict):
        monkeypatch.setattr(command, "prepare", lambda: None)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(a) for a in arguments])


def run_fit(*arguments):
    return run("fit", *arguments, "--quick", "--prior", "fg")


MIXED = pd.DataFrame(
    {
        "day": pd.date_range("2022-01-01", periods=40, freq="20D").strftime("%Y-%m-%d"),
        "wait": [f"{i % 24:02d}:30:00" for i in range(40)],
        "city": ["Kiel", "Ulm", "Bonn", "Ulm"] * 10,
        "ok": [True, False] * 20,
        "size": np.linspace(1000, 9000, 40).round(1),
        "device": "A7",
    }
)
TARGET = (MIXED["size"] / 100 + 10 * (MIXED["city"] == "Ulm")).round(3)
GAPPED = MIXED.assign(
    size=MIXED["size"].mask(MIXED.index % 7 == 3), city=MIXED["city"].mask(MIXED.index == 5)
)


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "with gaps"])
def test_python_and_the_command_line_give_the_same_model(folder, gaps):
    frame = (GAPPED if gaps else MIXED).assign(y=TARGET)
    frame.to_csv("data.csv", index=False)
    done = run_fit("data.csv", "--target", "y", "--seed", 3, *["--impute"] * gaps)
    assert done.exit_code == 0, done.output
    saved = goodprior.load("model.safetensors")
    read = pd.read_csv("data.csv")
    settings = {"prior": "fg", "random_state": 3, "encode": "impute" if gaps else "auto"}
    model = goodprior.BNNRegressor(**TINY, **settings).fit(read.drop(columns="y"), read["y"])
    assert saved.columns_ == model.columns_
    expected = model.predict(read)
    np.testing.assert_allclose(saved.predict(read), expected, rtol=1e-6)
    read[read.columns[::-1]].drop(columns=["device", "y"]).to_csv("new.csv", index=False)
    assert run("predict", "model.safetensors", "new.csv").exit_code == 0
    np.testing.assert_allclose(pd.read_csv("predictions.csv")["mean"], expected, rtol=1e-5)


@pytest.mark.parametrize("impute", [False, True])
def test_cells_that_are_missing_at_prediction_are_treated_as_in_training(folder, impute):
    MIXED.assign(y=TARGET).to_csv("data.csv", index=False)
    assert run_fit("data.csv", "--target", "y", *["--impute"] * impute).exit_code == 0
    GAPPED.to_csv("new.csv", index=False)
    done = run("predict", "model.safetensors", "new.csv")
    if not impute:
        assert done.exit_code == 2
        assert "values are missing: 'city' 1 (line 7), 'size' 6 (lines 5, 12" in done.stderr
        assert "or fit with --impute for medians and most frequent values" in done.stderr
        return
    found = pd.read_csv("predictions.csv")["mean"]
    filled = GAPPED.fillna({"city": "Ulm", "size": MIXED["size"].median()})
    model = goodprior.load("model.safetensors")
    np.testing.assert_allclose(found, model.predict(filled), rtol=1e-5)


def test_decimal_commas_are_said_and_kept_in_predictions(folder):
    frame = pd.DataFrame({"size": MIXED["size"], "y": TARGET})
    frame.to_csv("data.csv", index=False, sep=";", decimal=",")
    done = run_fit("data.csv", "--target", "y")
    assert "numbers have decimal commas" in done.stdout
    (folder / "new.csv").write_text("size\n1.234\n")  # a thousand, as in training
    done = run("predict", "model.safetensors", "new.csv")
    assert "'1.234', which was read as 1234" in done.stderr
    lines = (folder / "predictions.csv").read_text().splitlines()
    assert lines[0] == "size;mean;std;low;high"
    assert re.fullmatch(r"1\.234(;[-\d]+,\d+){4}", lines[1])
    model = goodprior.load("model.safetensors")
    mean = float(lines[1].split(";")[1].replace(",", "."))
    assert mean == pytest.approx(model.predict(pd.DataFrame({"size": [1234.0]}))[0], rel=1e-5)


@pytest.mark.parametrize("name", ["data.xlsx", "data.parquet", "data.feather", "data.csv.xz"])
def test_all_kinds_of_files_give_the_same_table(folder, name):
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    frame = MIXED.assign(y=TARGET, day=pd.to_datetime(MIXED["day"]))
    writers = {"xlsx": frame.to_excel, "parquet": frame.to_parquet, "feather": frame.to_feather}
    writers.get(name.split(".")[1], frame.to_csv)(name, **{} if "fea" in name else {"index": False})
    MIXED.assign(y=TARGET).to_csv("plain.csv", index=False)
    one, other = (
        read_training_table(folder / each, ["y"], [], False, "auto") for each in (name, "plain.csv")
    )
    assert one.columns.describe() == other.columns.describe()
    pd.testing.assert_frame_equal(one.inputs, other.inputs)
    np.testing.assert_array_equal(one.targets, other.targets)


def test_seasons_of_dates_are_offered_and_can_be_said(folder):
    MIXED.assign(y=TARGET).to_csv("data.csv", index=False)
    understood = read_training_table(folder / "data.csv", ["y"], [], False, "auto")
    words = describe_table(understood)
    assert (
        "day is long enough for seasons of a year: --belief 'smooth + season(period.day=year)'"
        in words
    )
    assert "--belief" not in describe_table(understood, belief_stated=True)
    belief = fit._belief_of("smooth + season(period.day=year)", None)["belief"]
    model = goodprior.BNNRegressor(belief=belief, encode=True, random_state=0)
    model.fit_prior(understood.rows)
    assert "repeat themselves every 365 in day" in str(model.belief_)


def test_decimal_commas_are_kept_in_every_block_and_on_grids(folder):
    """The last block has no commas of its own, and the header says the separator once."""
    frame = pd.DataFrame({"size": MIXED["size"], "y": TARGET})
    frame.to_csv("data.csv", index=False, sep=";", decimal=",")
    assert run_fit("data.csv", "--target", "y").exit_code == 0
    cells = ["1234,5", "2000,25", "3000", "4000", "5.000"]
    (folder / "new.csv").write_text("\n".join(["size", *cells]) + "\n")
    done = run("predict", "model.safetensors", "new.csv", "--rows-at-once", 2)
    assert done.exit_code == 0, done.output
    found = pd.read_csv("predictions.csv", sep=";", decimal=",", thousands=".")
    np.testing.assert_allclose(found["size"], [1234.5, 2000.25, 3000, 4000, 5000])
    model = goodprior.load("model.safetensors")
    np.testing.assert_allclose(found["mean"], model.predict(found[["size"]]), rtol=1e-5)
    assert f"{folder.name}" not in done.stderr
    assert run("predict", "model.safetensors", "--grid", "size=1500:2500:3").exit_code == 0
    found = pd.read_csv("predictions.csv", sep=";", decimal=",")
    assert found["size"].tolist() == [1500, 2000, 2500]


def test_grids_know_durations_and_what_counts_as_other(folder):
    names = [f"n{i % 60}" for i in range(240)]
    frame = pd.DataFrame({"wait": [f"{i % 20:02d}:30:00" for i in range(240)], "name": names})
    frame.assign(y=np.arange(240) % 20).to_csv("data.csv", index=False)
    assert run_fit("data.csv", "--target", "y", "--task", "regression").exit_code == 0
    asked = ("predict", "model.safetensors", "--grid", "wait=1:5:3", "--at")
    done = run(*asked, "name=other", "--json")
    assert done.exit_code == 0, done.output
    grid = json.loads(done.stdout)["grid"]
    assert grid["wait"] == ["0 days 01:00:00", "0 days 03:00:00", "0 days 05:00:00"]
    assert set(grid["name"]) == {"other"}
    expected = goodprior.load("model.safetensors").predict(pd.DataFrame(grid))
    np.testing.assert_allclose(json.loads(done.stdout)["predictions"]["mean"], expected, rtol=1e-5)
    assert "name must be one of n0" in run(*asked, "name=new").stderr.replace("\n", " ")


def test_known_noise_travels_beside_a_table_with_gaps(folder):
    frame = GAPPED.assign(y=TARGET, error=np.resize([1.0, 20.0], 40))
    frame.to_csv("data.csv", index=False)
    done = run_fit("data.csv", "--target", "y", "--impute", "--noise-std-column", "error")
    assert done.exit_code == 0, done.output
    model = goodprior.load("model.safetensors")
    assert model.table_["noise_std"] == "error"
    assert "error" not in model.feature_names_in_.tolist()
    done = run("predict", "model.safetensors", "data.csv")
    assert done.exit_code == 0, done.output
    found = pd.read_csv("predictions.csv")
    known = model.predict_distribution(frame, noise_std=frame["error"])
    np.testing.assert_allclose(found["std"], np.asarray(known.std)[:, 0], rtol=1e-5)
    done = run("calibrate", "model.safetensors", "data.csv")
    assert done.exit_code == 2
    assert "this model was given the noise of each row" in done.stderr
