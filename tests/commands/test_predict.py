"""`predict`: quantiles, events, grids, several targets, and tables that do not fit in memory."""

import json
import re

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import goodprior
from goodprior import cli
from goodprior.commands import predict, predictions
from goodprior.commands.grid import grid_rows
from goodprior.commands.model_file import open_model
from goodprior.commands.predictions import Asked, parse_asked
from goodprior.commands.training_table import read_training_table
from goodprior.data.table import stream
from goodprior.inference import Prediction
from tests.estimators.small import sghmc

ROWS = 24
TINY = {"prior": "fg", "hidden": (4,), "chains": 2, "draws": 4, "random_state": 0}


@pytest.fixture(scope="module", autouse=True)
def _without_preparing():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predict, "prepare", lambda: None)
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(20, 80, ROWS).round(1),
            "colour": np.resize(["red", "red", "blue"], ROWS),
            "day": pd.date_range("2024-01-01", periods=ROWS).strftime("%d.%m.%Y"),
            "ill": np.resize([True, False, False], ROWS),
        }
    )
    return frame.assign(y=(100 + frame["age"] + rng.normal(0, 1, ROWS)).round(3))


def _fit(path, *targets):
    table().assign(z=-table()["y"]).to_csv(path.parent / "data.csv", index=False)
    drop = [] if "z" in targets else ["z"]
    found = read_training_table(path.parent / "data.csv", [*targets], drop, False, "auto")
    sampler = sghmc(burn_in=20, thinning=5)
    model = goodprior.BNNRegressor(**TINY, method=sampler).fit(found.rows, found.targets)
    model.save(path, table=found.to_dict())
    return path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    return _fit(tmp_path_factory.mktemp("one") / "model.safetensors", "y")


@pytest.fixture(scope="module")
def two_targets(tmp_path_factory):
    return _fit(tmp_path_factory.mktemp("two") / "model.safetensors", "y", "z")


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(a) for a in ("predict", *arguments)])


def test_quantiles_and_probabilities_are_of_the_distribution_that_intervals_are_of(fitted, folder):
    data = fitted.parent / "data.csv"
    done = run(
        *(fitted, data, "--level", 0.9, "--quantiles", "0.05,0.5,0.95", "--above", 140),
        *("--below", 140, "--between", "120,160", "--below", 1e4),
    )
    assert done.exit_code == 0, done.output
    found = pd.read_csv("predictions.csv")
    np.testing.assert_allclose(found["quantile_0.05"], found["low"])
    np.testing.assert_allclose(found["quantile_0.95"], found["high"])
    both = found["probability_above_140"] + found["probability_below_140"]
    np.testing.assert_allclose(both, 1, atol=2e-6)
    np.testing.assert_allclose(found["probability_below_10000"], 1)
    file = open_model(fitted)
    inputs = file.inputs(table())
    expected = file.model.predict_probability(inputs, above=120.0, below=160.0)
    np.testing.assert_allclose(found["probability_120_to_160"], expected, atol=1e-6)
    draws = file.model.predict_distribution(inputs)
    samples = np.concatenate([draws.sample(goodprior_key(i)) for i in range(500)])[..., 0]
    np.testing.assert_allclose(
        found["probability_above_140"], (samples > 140).mean(axis=0), atol=0.04
    )


def goodprior_key(i):
    import jax

    return jax.random.key(i)


def test_a_grid_goes_along_one_column_with_the_others_at_typical_values(fitted, folder):
    done = run(fitted, "--grid", "age=20:80:61", "--out", "grid.csv")
    assert done.exit_code == 0, done.output
    found = pd.read_csv("grid.csv")
    assert found.columns.tolist()[:4] == ["age", "colour", "day", "ill"]
    np.testing.assert_allclose(found["age"], np.arange(20, 81))
    assert found["colour"].unique().tolist() == ["red"]  # the most frequent one
    assert found["day"].unique().tolist() == ["13.01.2024"]  # the middle, written as in training
    assert found["ill"].unique().tolist() == [False]
    assert "61 rows on the grid, with colour=red, day=13.01.2024, ill=False" in done.stderr
    file = open_model(fitted)
    expected = file.model.predict(file.inputs(found))
    np.testing.assert_allclose(found["mean"], expected, rtol=1e-5)


def test_a_grid_over_two_columns_has_all_pairs_and_takes_values_of_others(fitted, folder):
    grid = ("--grid", "age=20:80:3", "--grid", "colour", "--at", "day=02.01.2024", "--at", "ill=1")
    done = run(fitted, *grid, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["rows"] == 6
    assert found["grid"]["age"] == [20, 20, 50, 50, 80, 80]
    assert found["grid"]["colour"] == ["blue", "red"] * 3
    assert set(found["grid"]["day"]) == {"02.01.2024"}
    assert set(found["grid"]["ill"]) == {True}
    assert len(found["predictions"]["mean"]) == 6


def test_a_name_alone_is_the_range_of_training(fitted):
    file = open_model(fitted)
    ages = grid_rows(file, ["age"], [])["age"]
    assert (ages.min(), ages.max()) == pytest.approx((table()["age"].min(), table()["age"].max()))
    days = grid_rows(file, ["day"], [])["day"].tolist()
    assert days == table()["day"].tolist()  # whole days, of which there are fewer than 41
    assert grid_rows(file, ["ill"], [])["ill"].tolist() == [False, True]
    days = grid_rows(file, ["day=01.01.2024:11.01.2024:3"], [])["day"].tolist()
    assert days == ["01.01.2024", "06.01.2024", "11.01.2024"]
    assert grid_rows(file, ["colour=blue"], ["age=33"])["age"].tolist() == [33]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--grid", "size"], "--grid: there is no column 'size'; the model has age, colour, day"),
        (["--grid", "age=1:2:x"], "--grid takes from, to and how many (2 or more), such as age="),
        (["--grid", "age=1:2:1"], "--grid takes from, to and how many"),
        (["--grid", "age=5:2:9"], "--grid: age must go up, and goes from 5 to 2"),
        (["--grid", "age=a:b:9"], "age must be a number; got 'a'"),
        (["--grid", "age", "--grid", "age"], "--grid names the same column twice"),
        (["--grid", "age", "--grid", "day", "--grid", "ill"], "--grid is for one column or two"),
        (["--grid", "age=0:1:2000", "--grid", "day=01.01.2004:02.01.2024:2000"], "at most 1000000"),
        (["--grid", "colour=green"], "colour must be one of blue, red; got 'green'"),
        (["--grid", "day=2024-01-01:2024-02-01:3"], "day must be a date as in training, such as"),
        (["--grid", "age", "--at", "ill=perhaps"], "ill must be true or false; got 'perhaps'"),
        (["--grid", "age", "--at", "age=3"], "--at: age is on the grid already"),
        (["--grid", "age", "--at", "day"], "--at takes a column and a value"),
        (["--grid", "age", "--target", "z"], "--target: the model has y; got 'z'"),
        (["data.csv", "--at", "age=3"], "goes with --grid"),
        (["data.csv", "--grid", "age"], "give either a table or --grid"),
        ([], "give either a table or --grid"),
        (["data.csv", "--quantiles", "5,95"], "--quantiles must lie between 0 and 1; got 5"),
        (["data.csv", "--quantiles", "few"], "--quantiles takes numbers, such as 0.05,0.5,0.95"),
        (["data.csv", "--between", "3,1"], "--between takes two numbers that go up"),
        (["data.csv", "--above", "inf"], "above must be a finite number"),
        (["data.csv", "--level", "95"], "--level must lie between 0 and 1, such as 0.95; got 95"),
    ],
)
def test_wrong_wishes_are_refused(arguments, complaint, fitted, folder):
    table().to_csv("data.csv", index=False)
    done = run(fitted, *arguments)
    assert done.exit_code == 2
    assert complaint in re.sub(r"[\s│]+", " ", done.stderr)
    assert [path.name for path in folder.iterdir()] == ["data.csv"]


@pytest.mark.slow
def test_blocks_one_at_a_time_give_the_output_of_one_block(fitted, folder, monkeypatch):
    data = fitted.parent / "data.csv"
    asked = (fitted, data, "--above", 140, "--quantiles", 0.5)
    assert run(*asked, "--out", "whole.csv").exit_code == 0
    events = []
    read, make = stream.read_blocks, predictions.predictions

    def reading(*arguments, **settings):
        for block in read(*arguments, **settings):
            events.append(("read", len(block.frame)))
            yield block

    def predicting(model, inputs, *rest):
        events.append(("predicted", len(inputs)))
        return make(model, inputs, *rest)

    monkeypatch.setattr(stream, "read_blocks", reading)
    monkeypatch.setattr(predictions, "predictions", predicting)
    done = run(*asked, "--out", "parts.csv", "--rows-at-once", 7)
    assert done.exit_code == 0, done.output
    assert events == [(what, n) for n in (7, 7, 7, 3) for what in ("read", "predicted")]
    assert "predicting" in done.stderr
    assert "24 rows, with mean, std" in done.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["parts.csv", "whole.csv"]
    whole, parts = pd.read_csv("whole.csv"), pd.read_csv("parts.csv")
    pd.testing.assert_frame_equal(whole, parts, rtol=1e-5)
    assert (folder / "parts.csv").read_text().count("colour") == 1


def test_what_fails_in_a_later_block_leaves_the_old_file(fitted, folder):
    frame = table()
    frame["colour"] = frame["colour"].astype(object)
    frame.loc[20, "age"] = np.nan
    frame.to_csv("data.csv", index=False)
    (folder / "predictions.csv").write_text("old")
    done = run(fitted, "data.csv", "--rows-at-once", 7)
    assert done.exit_code == 2
    assert "'age' 1 (line 22)" in done.stderr
    assert (folder / "predictions.csv").read_text() == "old"
    assert len(list(folder.iterdir())) == 2


def test_warnings_of_many_blocks_are_printed_once(fitted, folder):
    table().assign(age=lambda f: f["age"] + 500 * (f.index % 3)).to_csv("data.csv", index=False)
    done = run(fitted, "data.csv", "--rows-at-once", 4)
    assert done.exit_code == 0
    assert done.stderr.count("rows lie far outside the training data") == 1
    assert done.stderr.count("so it is with rows further down") == 1


def test_several_targets_have_their_names_first_and_can_be_chosen(two_targets, folder):
    data = two_targets.parent / "data.csv"
    assert run(two_targets, data).exit_code == 0
    found = pd.read_csv("predictions.csv")
    parts = ("mean", "std", "low", "high")
    assert found.columns.tolist()[-8:] == [f"{name}_{part}" for name in "yz" for part in parts]
    file = open_model(two_targets)
    expected = file.model.predict(file.inputs(table()))
    np.testing.assert_allclose(found[["y_mean", "z_mean"]], expected, rtol=1e-5)
    asked = (two_targets, data, "--below", -140)
    done = run(*asked)
    assert done.exit_code == 2
    assert "say by --target which of y, z is meant" in done.stderr
    done = run(*asked, "--target", "z")
    assert done.exit_code == 0, done.output
    found = pd.read_csv("predictions.csv")
    assert [n for n in found.columns if n.startswith("y_")] == []
    expected = file.model.predict_probability(file.inputs(table()), below=-140.0)[:, 1]
    np.testing.assert_allclose(found["z_probability_below_-140"], expected, atol=1e-6)


def test_targets_between_commas_are_several_unless_a_column_is_called_so(folder):
    frame = table()[["age", "y"]].assign(z=1.5 * table()["y"])
    frame.to_csv("data.csv", index=False)
    found = read_training_table(folder / "data.csv", ["y, z"], [], False, "auto")
    assert (found.names, found.targets.shape) == (["y", "z"], (ROWS, 2))
    frame.rename(columns={"y": "y,z"}).to_csv("data.csv", index=False)
    found = read_training_table(folder / "data.csv", ["y,z"], [], False, "auto")
    assert found.names == ["y,z"]


def test_classes_have_no_quantiles():
    class Classes:
        TASK = "classification"
        classes_ = np.array(["high", "low"])

    with pytest.raises(ValueError, match="are for numbers, and the model predicts classes: high"):
        predictions.refuse_unfit(Classes(), ["kind"], parse_asked(0.9, None, [3.0], None, None))


class Certain:
    """Two targets with known distributions."""

    TASK = "regression"

    def predict_distribution(self, X):
        return Prediction(jnp.array([[[1.0, 10.0]]]), jnp.array([[[2.0, 20.0]]]))


def test_columns_are_named_after_what_was_asked():
    found = predictions.predictions(
        Certain(), pd.DataFrame({"x": [0.0]}), ["y", "z"], Asked(0.6826895, (0.5,), ((3.0, None),))
    )
    numbers = {name: round(values.item(), 3) for name, values in found.items()}
    assert numbers == {
        **{"y_mean": 1, "y_std": 2, "y_low": -1, "y_high": 3},
        **{"y_quantile_0.5": 1, "y_probability_above_3": 0.159},
        **{"z_mean": 10, "z_std": 20, "z_low": -10, "z_high": 30},
        **{"z_quantile_0.5": 10, "z_probability_above_3": 0.637},
    }


@pytest.mark.slow
def test_a_column_of_known_noise_is_used_in_fit_and_prediction(folder):
    frame = table()[["age", "y"]].assign(error=np.resize([1.0, 20.0], ROWS))
    frame.to_csv("data.csv", index=False)
    words = ("fit", "data.csv", "--target", "y", "--noise-std-column", "error", "--prior", "fg")
    done = CliRunner().invoke(cli.app, [*words, "--method", "map"])
    assert done.exit_code == 0, done.output
    assert "24 rows, 1 column as 1 input" in done.stdout
    assert (
        "the noise of each row is known, in error: standard deviations from 1 to 20" in done.stdout
    )
    done = run("model.safetensors", "data.csv")
    assert done.exit_code == 0, done.output
    found = pd.read_csv("predictions.csv")
    np.testing.assert_allclose(found["std"], frame["error"], rtol=1e-5)  # one network, so no more
    frame[["age"]].to_csv("new.csv", index=False)
    done = run("model.safetensors", "new.csv")
    assert "new.csv has no error: the noise of its rows is taken to be the root mean" in done.stderr
    usual = np.sqrt((frame["error"] ** 2).mean())
    np.testing.assert_allclose(pd.read_csv("predictions.csv")["std"], usual, rtol=1e-5)


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        ("no", "there is no column 'no'"),
        ("ill", "column 'ill' must hold standard deviations, numbers above zero, found True"),
        ("age", "column 'age' must hold standard deviations, numbers above zero, found -1.0 (line"),
    ],
)
def test_columns_that_are_no_noise_are_refused(column, complaint, folder):
    frame = table()[["age", "ill", "y"]].assign(x=range(ROWS))
    frame.loc[4, "age"] = -1
    frame.to_csv("data.csv", index=False)
    words = ("fit", "data.csv", "--target", "y", "--noise-std-column", column)
    done = CliRunner().invoke(cli.app, [*words])
    assert done.exit_code == 2
    assert complaint in re.sub(r"\s+", " ", done.stderr)
