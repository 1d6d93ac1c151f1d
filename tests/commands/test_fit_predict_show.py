"""`fit`, `predict` and `show` on small tables of all kinds of columns."""

import base64
import errno
import io
import json
import os
import re
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from typer.testing import CliRunner

import goodprior
from goodprior import cli
from goodprior.commands import fit, model_settings, predict, show
from goodprior.commands.fit_summary import loo_text, next_steps, summary_text
from goodprior.commands.model_file import open_model
from goodprior.commands.model_summary import pareto_warning
from goodprior.commands.report import MEANINGS, report_page
from goodprior.commands.training_table import read_training_table
from goodprior.data.table.encode import Columns
from goodprior.data.table.read import read_table
from goodprior.evaluation.diagnostics import Diagnostics
from goodprior.evaluation.loo import LOO as LOOFound
from goodprior.inference import SGHMC, SamplerReport, SamplingError
from goodprior.pipeline import MAP, EarlyStopping, Ensemble, Sampled
from goodprior.pipeline.methods import registry, sampled
from goodprior.storage import file_format

TINY = {"hidden": (4,), "chains": 2, "draws": 13}
SAMPLER = SGHMC(0.02, 0.02, gradient_noise="none", burn_in=20, thinning=10, batch_size=None)
TINY_METHODS = {
    "auto": lambda: Sampled.by(SAMPLER, start="prior"),
    "sghmc": lambda: Sampled.by(SAMPLER, start="prior"),
    "ensemble": lambda: Ensemble(members=2, epochs=50),
}
ROWS = 16
DROP = ("--drop", "z", "--drop", "kind", "--drop", "code")


@pytest.fixture(scope="module", autouse=True)
def _small_and_fast():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_settings, "QUICK", TINY)
        for name, method in TINY_METHODS.items():
            patch.setitem(registry.METHODS, name, method)
        for command in (fit, predict, show):
            patch.setattr(command, "prepare", lambda: None)
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "code": [f"{7 * i * i % 90:03d}" for i in range(ROWS)],  # 007: not a number to us
            "size": rng.uniform(0, 10, ROWS).round(2),
            "colour": rng.choice(["red", "<b>"], ROWS),
            "day": pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d"),
            "device": "A7",
        }
    )
    frame["y"] = (100 + 5 * frame["size"] + rng.normal(0, 1, ROWS)).round(3)
    frame["z"] = -frame["y"]
    frame["kind"] = np.where(frame["size"] > 5, "large", "small")
    return frame


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(a) for a in arguments])


def run_fit(*arguments, prior=("--prior", "fg")):
    return run("fit", *arguments, "--quick", *prior)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with a table, a model of its `y` and what the command said."""
    folder = tmp_path_factory.mktemp("fitted")
    table().to_csv(folder / "data.csv", index=False)
    out = folder / "model.safetensors"
    done = run_fit(folder / "data.csv", "--target", "y", *DROP, "--out", out)
    assert done.exit_code == 0, done.output
    return folder, done


def test_fit_says_what_it_understood_what_it_found_and_what_comes_next(fitted):
    folder, done = fitted
    for words in (
        f"{ROWS} rows, 3 columns as 4 inputs",
        "numbers: size",
        "categories: colour (<b>, red)",
        "dates: day (days since 2024-01-01)",
        "left out, the same value in every row: device",
        "regression: numbers for y",
        "--quick, for a first look only: hidden (4,) instead of chosen for the belief, chains 2 "
        "instead of 8, draws 13 instead of 25",
        "2 chains of 13",
        "worst R-hat",
        "PSIS-LOO",
        f"model: {folder / 'model.safetensors'}",
        "goodprior predict",
    ):
        assert words in done.stdout
    assert "belief:" not in done.output  # the prior fg makes no use of one
    assert "sampling the posterior" in done.stderr
    assert "warning: " in done.stderr  # such short chains
    assert "to sample longer: leave out --quick" in done.stdout


def test_the_model_file_knows_its_columns(fitted):
    folder, _ = fitted
    model = goodprior.load(folder / "model.safetensors")
    assert model.table_ == {"targets": ["y"], "rows": ROWS, "decimal": None}
    assert model.columns_ == Columns.fit(table().drop(columns=["y", "z", "kind", "code"]))
    assert model.columns_.names == ["size", "colour=<b>", "colour=red", "day"]
    assert model.feature_names_in_.tolist() == ["size", "colour", "day", "device"]


def test_predictions_stand_behind_the_rows_as_they_were_written(fitted, folder):
    trained, _ = fitted
    new = trained / "new.csv"
    new.write_text("day;colour;code;size\n2024-01-05;red;007;1.50\n2024-01-09;<b>;1,5;8\n")
    done = run("predict", trained / "model.safetensors", new)
    assert done.exit_code == 0, done.output
    lines = (folder / "predictions.csv").read_text().splitlines()
    assert lines[0] == "day;colour;code;size;mean;std;low;high"  # 1,5 is a decimal comma
    assert lines[1].startswith("2024-01-05;red;007;1.50;")
    assert lines[2].startswith("2024-01-09;<b>;1,5;8;")
    assert os.listdir(folder) == ["predictions.csv"]
    model = goodprior.load(trained / "model.safetensors")
    inputs = pd.DataFrame([[1.5, 0, 1, 4.0], [8, 1, 0, 8]], columns=model.columns_.names)
    mean, std = model.predict(inputs, return_std=True)
    found = pd.read_csv(folder / "predictions.csv", sep=";", decimal=",")
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-5)
    np.testing.assert_allclose(found["std"], std, rtol=1e-5)


def test_a_higher_level_gives_a_wider_interval_and_json_is_all_there_is_on_stdout(fitted, folder):
    trained, _ = fitted
    widths = []
    for level in ("0.5", "0.9"):
        asked = (trained / "model.safetensors", trained / "data.csv", "--level", level, "--json")
        done = run("predict", *asked)
        found = json.loads(done.stdout)
        assert (found["rows"], found["level"], found["out"]) == (ROWS, float(level), None)
        low, high = (np.array(found["predictions"][name]) for name in ("low", "high"))
        widths.append(high - low)
    assert (widths[0] > 0).all()
    assert (widths[1] > widths[0]).all()
    assert not os.listdir(folder)


def test_columns_of_the_same_name_are_not_overwritten(fitted, folder):
    trained, _ = fitted
    frame = table().assign(mean=1.0)
    frame.to_csv("with-mean.csv", index=False)
    done = run("predict", trained / "model.safetensors", "with-mean.csv", "--out", "p.tsv")
    assert done.exit_code == 0, done.output
    found = pd.read_csv("p.tsv", sep="\t")
    assert (found["mean"] == 1).all()
    assert list(found.columns[-4:]) == [f"predicted_{n}" for n in ("mean", "std", "low", "high")]


def test_rows_far_away_and_unseen_categories_are_warned_of(fitted, folder):
    trained, _ = fitted
    (folder / "new.csv").write_text("size,colour,day\n500,green,2024-01-05\n")
    done = run("predict", trained / "model.safetensors", "new.csv")
    assert done.exit_code == 0
    assert "warning: column 'colour' has values that were not seen in training" in done.stderr
    assert "warning: 1 of 1 rows lie far outside the training data" in done.stderr


@pytest.mark.slow
def test_the_page_has_pictures_and_words_and_needs_nothing_else(fitted, folder):
    trained, _ = fitted
    done = run("show", trained / "model.safetensors", trained / "data.csv")
    assert done.exit_code == 0, done.output
    assert "regression of y on 16 rows: prior fg, sghmc, 2 chains of 13 draws" in done.stdout
    page = (folder / "report.html").read_text()
    relevance = [line for line in done.stdout.splitlines() if line.startswith("functions ")]
    columns = {re.split(r"(?: in | with )", line)[1].split(":")[0] for line in relevance}
    assert columns == {"size", "colour", "day"}  # a category is one column
    assert page.count("<li>functions ") == 3
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    for picture in pictures:
        assert image.imread(io.BytesIO(base64.b64decode(picture))).ndim == 3
    assert len(pictures) == 2
    assert not re.search(r"https?://|<script|<link", page)
    for words in ("Smooth functions", "colour (&lt;b&gt;, red)", "<b>Warning:</b>", "step size"):
        assert words in page or words.replace(" ", "_") in page
    assert "(<b>" not in page


@pytest.mark.slow
def test_the_pictures_alone(fitted, folder):
    trained, _ = fitted
    done = run("show", trained / "model.safetensors", "--out", "report.png")
    assert done.exit_code == 0, done.output
    height, width, _ = image.imread("report.png").shape
    assert min(height, width) > 300


@pytest.mark.slow
def test_classes_are_told_by_themselves(folder):
    table().to_csv("data.csv", index=False)
    drop = [part for name in ("code", "y", "z", "colour", "day") for part in ("--drop", name)]
    done = run_fit("data.csv", "--target", "kind", *drop, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["task"] == "classification"
    assert told["inputs"] == ["size"]
    names = {"elpd", "se", "p_loo", "pareto_k_limit", "pareto_k_high", "reliable"}
    assert set(told["loo"]) == names
    assert "classification: kind is one of large, small" in done.stderr
    assert run("predict", "model.safetensors", "data.csv").exit_code == 0
    found = pd.read_csv("predictions.csv")
    probabilities = found[["probability_large", "probability_small"]]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    expected = np.where(probabilities["probability_large"] > 0.5, "large", "small")
    assert (found["class"] == expected).all()


def test_curves_are_read_from_the_file_that_the_belief_names(folder):
    (folder / "curves.csv").write_text("age,first,second\n1,2,3\n2,4,5.5\n")
    found = fit._belief_of("trend + curves=curves.csv", None)
    table = {"age": [1, 2], "first": [2, 4], "second": [3.0, 5.5]}
    assert found == {"belief": ["trend", {"curves": table}]}


def test_gaps_are_filled_when_asked_and_row_numbers_are_pointed_out(folder):
    frame = table()[["size", "y"]].assign(row=range(1, ROWS + 1))
    frame.loc[2, "size"] = np.nan
    frame.to_csv("data.csv", index=False)
    done = run_fit("data.csv", "--target", "y")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: values are missing: 'size' 1 (line 4); fill them in, or")
    assert "--impute" in done.stderr
    understood = read_training_table(folder / "data.csv", ["y"], [], True, "auto")
    assert understood.counters == ["row"]
    assert understood.inputs["size"][2] == frame["size"].median()
    assert understood.rows["size"].isna().sum() == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--target", "nope"], "--target: there is no column 'nope'; the table has size, kind"),
        (["--target", "SISE"], "there is no column 'SISE' (did you mean 'size'?)"),
        (["--target", "size", "--drop", "nope"], "there is no column 'nope'"),
        (
            ["--target", "size", "--belief", "wild"],
            "belief must be one of fit, periodic, rough, season, smooth, trend",
        ),
        (["--target", "size", "--belief", "amplitude=-1"], "amplitude must be a finite number"),
        (["--target", "size", "--belief", "amplitude=x"], "needs a number after the ="),
        (
            ["--target", "size", "--belief", "lengthscale.age=1"],
            "lengthscale names 'age'; the columns are",
        ),
        (["--target", "size", "--belief", "curves=no.csv"], "curves=no.csv names no file"),
        (["--target", "size", "--belief", "levels.size=similar"], "levels names 'size'; the cat"),
        (["--target", "kind", "--task", "regression"], "kind holds text such as"),
        (["--target", "size", "--task", "classification"], "needs labels, and size holds"),
        (["--target", "size", "--target", "kind"], "several targets must all be numbers"),
        (["--target", "kind", "--drop", "size"], "no columns besides the target"),
        (["--target", "size", "--budget", "0"], "--budget"),
        (["--target", "size", "--noise", "0"], "--noise"),
        (["--target", "size", "--hidden", "fifty"], "must be widths of layers such as 50,50"),
        (["--target", "size", "--activation", "wild"], "activation must be one of"),
        (["--target", "size", "--step-size", "-1"], "--step-size"),
        (["--target", "size", "--step-size", "1", "--method", "nuts"], "is for --method sghmc"),
        (["--target", "kind", "--noise", "1"], "a noise is for one target that is a number"),
        (["--target", "size", "--out", "a.pt"], "must end in .safetensors"),
        (["--target", "size", "--out", "no/a.safetensors"], "there is no folder no"),
        ([], "--target"),
    ],
)
def test_wrong_wishes_are_refused_before_any_work(arguments, complaint, folder):
    table()[["size", "kind"]].to_csv("data.csv", index=False)
    done = run_fit("data.csv", *arguments)
    assert done.exit_code == 2
    assert complaint in re.sub(r"[\s│]+", " ", done.stderr)
    assert "Traceback" not in done.output
    assert os.listdir(folder) == ["data.csv"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "it is empty"),
        ("a,b\n1,2\n3\n", "line 3 has 1 columns"),
        ("a,b\n1,5\n1,7\n", "a: the same value in every row"),
        ("a,b\n1,5\n2,5\n", "b: the same value in every row, nothing to predict"),
        ("a,b\n1,v\n2,w\n3,x\n", "b has 3 different values in 3 rows, such as 'v': too many"),
    ],
)
def test_wrong_tables_are_refused(text, complaint, folder):
    (folder / "data.csv").write_text(text)
    done = run_fit("data.csv", "--target", "b")
    assert (done.exit_code, done.stdout) == (2, "")
    assert complaint in done.stderr


def test_files_that_are_no_models_are_refused(folder, fitted):
    trained, _ = fitted
    data = trained / "data.csv"
    whole = (trained / "model.safetensors").read_bytes()
    (folder / "damaged.safetensors").write_bytes(whole[:-9] + b"surprise!")
    goodprior.save(goodprior.load(trained / "model.safetensors").prior_, "prior.safetensors")
    for name, complaint in (
        ("damaged.safetensors", "damaged.safetensors cannot be read: its checksum does not fit"),
        ("prior.safetensors", "prior.safetensors holds a prior"),
    ):
        for arguments in (("predict", name, data), ("show", name)):
            done = run(*arguments)
            assert done.exit_code == 2
            assert done.stderr.startswith(f"error: {complaint}")
    assert run("predict", "absent.safetensors", data).exit_code == 2
    assert run("predict", trained / "model.safetensors", data, "--level", "95").exit_code == 2


@pytest.mark.slow
def test_models_fitted_in_python_work_if_their_columns_have_names(fitted, folder):
    trained, _ = fitted
    model = goodprior.load(trained / "model.safetensors")
    names = model.columns_.names
    del model.columns_
    model.feature_names_in_, model.n_features_in_ = np.array(names, object), len(names)
    model.save("named.safetensors")
    new = pd.DataFrame([[1.5, 0.0, 1.0, 4.0]], columns=names)
    new.to_csv("new.csv", index=False)
    assert run("predict", "named.safetensors", "new.csv").exit_code == 0
    found = read_table("predictions.csv")["mean"]
    np.testing.assert_allclose(found, model.predict(new), rtol=1e-5)
    del model.feature_names_in_
    model.save("nameless.safetensors")
    done = run("predict", "nameless.safetensors", "new.csv")
    assert done.exit_code == 2
    assert "without names of columns" in done.stderr
    assert run("show", "nameless.safetensors").exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "target", "made_of"),
    [
        ("laplace", "y", "a Gaussian around one network"),
        ("ensemble", "kind", "2 networks"),
        pytest.param("fbnn", "y", "13 draws of a variational", marks=pytest.mark.slow),
        ("map", "y", "one network"),
    ],
)
def test_methods_that_do_not_sample(method, target, made_of, folder):
    table()[["size", "colour", target]].to_csv("data.csv", index=False)
    prior = () if method in ("ensemble", "fbnn") else ("--prior", "fg")
    done = run_fit("data.csv", "--target", target, "--method", method, "--json", prior=prior)
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert made_of in result["made_of"]
    assert result["loo"] is result["diagnostics"] is None
    assert run("predict", "model.safetensors", "data.csv").exit_code == 0
    shown = run("show", "model.safetensors", "data.csv")
    assert shown.exit_code == 0, shown.output
    assert made_of in shown.stdout
    assert "warning: " in shown.stdout
    pictures = (folder / "report.html").read_text().count("<img")
    assert pictures == (1 if method in ("ensemble", "fbnn") else 2)
    rough = ("--method", "fbnn", "--belief", "rough")
    done = run_fit("data.csv", "--target", target, *rough, prior=())
    assert done.exit_code == 2
    assert "for regression" in done.stderr or "belief with a density" in done.stderr


def _press_first(monkeypatch):
    """Ctrl-C as sampling begins."""
    original = sampled.sample_posterior

    def pressed(*arguments, **settings):
        os.kill(os.getpid(), signal.SIGINT)
        return original(*arguments, **settings)

    monkeypatch.setattr(sampled, "sample_posterior", pressed)


@pytest.mark.slow
def test_after_ctrl_c_the_draws_are_saved_and_the_same_command_goes_on(folder, monkeypatch, capfd):
    table().to_csv("data.csv", index=False)
    command = ("data.csv", "--target", "y", "--seed", "1", *DROP)
    with monkeypatch.context() as patch:
        _press_first(patch)
        done = run_fit(*command, "--checkpoint", "kept")
    assert done.exit_code == 0, done.output
    assert "warning: sampling ended early because it was interrupted" in done.stderr
    assert "to go on from here: the same command" in done.stdout
    assert "Ctrl-C again stops at once" in capfd.readouterr().err
    assert goodprior.load("model.safetensors").posterior_.draws_per_chain < TINY["draws"]
    assert "warning: sampling ended early" in run("show", "model.safetensors").stdout
    assert run_fit(*command, "--checkpoint", "kept").exit_code == 0
    resumed = goodprior.load("model.safetensors")
    assert resumed.posterior_.draws_per_chain == TINY["draws"]
    done = run_fit(*command, "--quiet")
    assert (done.exit_code, done.stdout) == (0, "")
    assert all(line.startswith("warning: ") for line in done.stderr.splitlines())
    at_once = goodprior.load("model.safetensors")
    X = pd.DataFrame(np.eye(4), columns=at_once.columns_.names)
    np.testing.assert_allclose(resumed.predict(X), at_once.predict(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "stopped; nothing was kept"),
        (SamplingError("a chain left the finite numbers by step 7", None), 1, "the fit failed: a"),
    ],
)
def test_fits_that_end_with_nothing_leave_nothing(error, code, words, folder, monkeypatch):
    def fail(*arguments, **settings):
        raise error

    monkeypatch.setattr(sampled, "sample_posterior", fail)
    table()[["size", "y"]].to_csv("data.csv", index=False)
    done = run_fit("data.csv", "--target", "y")
    assert done.exit_code == code
    assert words in done.stderr
    assert os.listdir(folder) == ["data.csv"]


def test_an_option_that_a_method_does_not_use_is_refused(folder):
    table()[["size", "y"]].to_csv("data.csv", index=False)
    done = run_fit("data.csv", "--target", "y", "--method", "ensemble")
    assert done.exit_code == 2
    assert "method ensemble takes no notice of prior" in done.stderr
    assert os.listdir(folder) == ["data.csv"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "words"),
    [
        (SAMPLER, "prior fg, sghmc, 2 chains of 5 draws"),
        (MAP(epochs=7), "prior fg, map, one network"),
        (EarlyStopping(epochs=7), "early-stopping, one network"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_model_whose_method_has_settings_of_its_own_is_shown_with_them(method, words, folder):
    length = {"prior": "fg", "chains": 2, "draws": 5} if method is SAMPLER else {}
    length |= {"prior": "fg"} if method.name == "map" else {}
    rows = table()[["size"]]
    goodprior.BNNRegressor(hidden=(4,), method=method, **length).fit(rows, table()["y"]).save(
        "own.safetensors"
    )
    shown = run("show", "own.safetensors")
    assert shown.exit_code == 0, shown.output
    assert words in shown.stdout
    page = (folder / "report.html").read_text()
    assert "burn_in=20" in page if method is SAMPLER else "epochs=7" in page


def test_the_summary_has_a_line_on_how_well_the_prior_carries_the_belief():
    facts = {"made_of": "2 chains of 13", "method": "sghmc", "diagnostics": None, "loo": None}
    text = summary_text({**facts, "match": "like the belief in closed form", "seconds": 3.0})
    assert "prior                    like the belief in closed form" in text
    assert "belief" not in summary_text({**facts, "match": None, "seconds": 3.0})


LOO = {"elpd": -16.0, "se": 1.6, "pareto_k_limit": 0.6, "pareto_k_high": 0.0}


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "-1.000 ± 0.100 per row (PSIS-LOO)"),
        (0.03, "(PSIS-LOO; unreliable for 3% of the rows (Pareto k > 0.60))"),
        (0.44, "not known: PSIS-LOO, -1.000 per row, is too good where draws cannot tell"),
    ],
)
def test_leave_one_out_is_not_quoted_where_it_cannot_be_trusted(share, words):
    assert words in loo_text(LOO | {"pareto_k_high": share}, 16)


@pytest.mark.parametrize(
    ("found", "words", "unheard"),
    [
        ({"is_improving": True}, "to sample longer: --budget 60", "instead"),
        ({"is_improving": False}, "did not help; instead: --method mclmc", "--budget"),
        ({"is_improving": False, "method": "mclmc"}, "ensemble or laplace", "--budget"),
        ({"is_improving": False, "quick": True}, "leave out --quick", "instead"),
        ({"is_improving": False, "convergence": []}, "next:", "longer"),
        ({"stopped": "it was interrupted", "method": "map"}, "a longer --budget", "go on"),
    ],
)
def test_advice_that_did_not_help_is_not_repeated(found, words, unheard):
    facts = {"out": "m", "stopped": None, "convergence": ["R-hat"], "quick": False, "seconds": 9.0}
    facts |= {"task": "regression", "method": "sghmc"}
    text = next_steps(facts | found, Path("data.csv"), None)
    assert words in text
    assert unheard not in text


def test_every_figure_of_the_diagnostics_has_its_meaning():
    words = {"sampler", "density"}
    ones = dict.fromkeys(SamplerReport._fields, 1)
    reported = SamplerReport(**ones)
    assert set(reported.numbers) == set(SamplerReport._fields) - words
    one = np.ones(2)
    noise = np.array([False, True])
    diagnostics = Diagnostics(one, one, one, one, noise, reported, chains=2)
    assert set(diagnostics.summary) == set(MEANINGS)


def test_a_page_says_that_leave_one_out_is_unreliable(fitted, monkeypatch):
    folder, _ = fitted
    bad = LOOFound(-16.0, 1.6, 2.0, np.full(ROWS, 0.9), 0.6, 0.27, False)
    monkeypatch.setattr(goodprior.BNNRegressor, "loo", lambda self, X, y: bad)
    file = open_model(folder / "model.safetensors")
    unsure = pareto_warning(file, file.inputs(table()), table()["y"].to_numpy())
    assert "Pareto k is above 0.60 for 27% of the 16 rows" in unsure
    page = report_page("m", file, {"posterior": b""}, [], unsure)
    assert "Some rows depend on themselves" in page
    assert "Nothing speaks against it" not in page


@pytest.mark.slow
def test_the_model_is_saved_elsewhere_where_the_disk_is_full(folder, monkeypatch):
    """Simulated: the folder of `--out` takes no more bytes."""
    table()[["size", "y"]].to_csv("data.csv", index=False)
    original, spare = file_format.replace_file, folder / "spare"
    spare.mkdir()

    def full(path, data):
        if Path(path).parent != spare:
            raise OSError(errno.ENOSPC, f"{path} cannot be written: the disk is full")
        original(path, data)

    monkeypatch.setattr(file_format, "replace_file", full)
    monkeypatch.setattr(fit, "gettempdir", lambda: str(spare))
    done = run_fit("data.csv", "--target", "y")
    assert done.exit_code == 2
    assert "the disk is full; the model is saved in" in done.stderr
    (saved,) = spare.iterdir()
    assert str(saved) in done.stderr
    assert goodprior.load(saved).posterior_.draws_per_chain == TINY["draws"]


def test_options_on_noise_network_and_sampler_reach_the_model(folder, monkeypatch):
    found = {}

    def taken(table, settings, checkpoint, out):
        found.update(settings)
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "_fit_and_save", taken)
    table()[["size", "y"]].to_csv("data.csv", index=False)
    options = ("--noise", "2", "--hidden", "20,10", "--activation", "relu", "--chains", "3")
    options += ("--method", "sghmc", "--likelihood", "gaussian")
    more = ("--step-size", "0.005", "--draws", "7")
    assert run("fit", "data.csv", "--target", "y", *options, *more).exit_code == 130
    assert found["noise_variance"] == pytest.approx(4 / np.var(table()["y"]))
    assert (found["hidden"], found["activation"]) == ((20, 10), "relu")
    assert (found["chains"], found["draws"], found["likelihood"]) == (3, 7, "gaussian")
    (sampler,) = found["method"].candidates(ROWS)
    assert (sampler.step_size, sampler.burn_in) == (0.005, 1500)
