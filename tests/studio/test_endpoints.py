"""What the page asks for, without a browser."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goodprior
from goodprior import BNNRegressor
from goodprior.beliefs.file import belief_from_json
from goodprior.studio.server import plain
from goodprior.studio.studio import Studio
from tests.studio.tables import BAD, patients


class Page:
    """A studio as the page sees it: JSON in, JSON out."""

    def __init__(self, path: Path | None, request: dict | None = None):
        self.studio = Studio(path)
        self.info = self.ask("space", **(request or {}))
        self.settings = self.info["settings"]

    def ask(self, endpoint: str, **request: Any) -> Any:
        found = self.studio.answer(endpoint, json.loads(json.dumps(request)))
        return found if isinstance(found, bytes) else json.loads(json.dumps(plain(found)))

    def belief(self, endpoint: str, **request: Any) -> Any:
        about = {"space": self.info["space"], "settings": self.settings, "column": "age"}
        return self.ask(endpoint, **about, **request)


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("studio") / "patients.csv"
    patients().to_csv(path, index=False)
    return path


@pytest.fixture
def page(csv):
    return Page(csv)


def typed():
    ranges = [{"name": "age", "low": 20, "high": 80}, {"name": "dose", "low": 0, "high": 4}]
    target = {"name": "pressure", "low": 90, "high": 170}
    return Page(None, {"typed": {"columns": ranges, "target": target}})


def test_a_table_is_shown_with_ranges_and_histograms(page):
    info = page.info
    assert [column["name"] for column in info["columns"]] == ["age", "dose", "sex"]
    age = info["columns"][0]
    assert age["low"] == patients()["age"].min()
    assert sum(age["histogram"]) == 60
    assert info["target"]["name"] == "pressure"
    assert {*info["left_out"]} == {"id", "device"}
    assert page.ask("space", target="age")["target"]["name"] == "age"


def test_without_a_table_ranges_are_typed_in():
    assert Studio(None).answer("space", {}) == {"typed": True}
    page = typed()
    found = page.belief("draws")
    assert (found["x"][0], found["x"][-1]) == (20, 80)
    low, high = np.array(found["band"]).mean(axis=1)
    assert low == pytest.approx(130 - 1.96 * 20, abs=4)
    assert high == pytest.approx(130 + 1.96 * 20, abs=4)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([], "from one to 60 columns"),
        ([{"name": "", "low": 0, "high": 1}], "needs a name"),
        ([{"name": "a", "low": 1, "high": 0}], "a goes from 1 to 0"),
        ([{"name": "a", "low": None, "high": 0}], "a has None and 0"),
        ([{"name": "y", "low": 0, "high": 1}], "different names"),
        (["age"], "needs a name"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(columns, words):
    with pytest.raises(ValueError, match=words):
        Page(None, {"typed": {"columns": columns, "target": {"name": "y", "low": 0, "high": 1}}})


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_gets_a_clear_message(name, tmp_path):
    content, words = BAD[name]
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        Page(path)
    assert len(str(error.value)) < 600


def lengthscales(exported: dict[str, Any]) -> Any:
    spec: Any = belief_from_json(exported["json"]).spec
    return spec["lengthscale"]


def test_names_in_any_script_are_fine(tmp_path):
    path = tmp_path / "names.csv"
    frame = patients().rename(columns={"age": "年齢 <b>", "pressure": 'Größe, "mm"'})
    frame.to_csv(path, index=False)
    page = Page(path)
    found = page.ask(
        "export", space=page.info["space"], settings=page.settings, column="年齢 <b>", name="Ä"
    )
    assert "年齢 <b>" in lengthscales(found)
    assert found["file"] == "Ä.json"


def test_draws_follow_the_sliders(page):
    def roughness(draws):
        return np.abs(np.diff(draws["lines"])).mean()

    before = page.belief("draws")
    assert page.belief("draws") == before
    page.settings["lengthscale"]["age"][0] /= 4
    shorter = page.belief("draws")
    assert roughness(shorter) > 2 * roughness(before)
    page.settings["amplitude"][0] *= 3
    higher = page.belief("draws")
    assert np.std(higher["lines"]) == pytest.approx(3 * np.std(shorter["lines"]), rel=1e-3)
    page.settings["ignore"] = ["age"]
    assert np.ptp(page.belief("draws")["lines"], axis=1) == pytest.approx(0, abs=0.1)


def test_trend_season_uncertainty_and_noise_are_part_of_the_belief(page):
    page.settings |= {
        "trend": 5.0,
        "season": {"column": "age", "period": 12.0, "amplitude": 3.0},
        "noise": 2.0,
        "smoothness": "matern32",
    }
    page.settings["lengthscale"]["age"] = [30.0, 2.0]
    found = page.belief("draws")
    for words in ("Rather rough", "linear", "every 12 in age", "factor of 2", "The sum of"):
        assert words.lower() in found["sentence"].lower()
    assert np.ptp(found["noise_band"], axis=0).mean() > np.ptp(found["band"], axis=0).mean()


@pytest.mark.parametrize(
    "change",
    [
        {"amplitude": [0, 1]},
        {"amplitude": [float("inf"), 1]},
        {"amplitude": "9"},
        {"lengthscale": {"age": [1, 99]}},
        {"lengthscale": {"nobody": [1, 1]}},
        {"smoothness": "__class__"},
        {"ignore": ["nobody"]},
        {"season": {"column": "sex", "period": 1, "amplitude": 1}},
        {"noise": -1},
    ],
)
def test_settings_that_make_no_sense_are_refused(page, change):
    page.settings |= change
    with pytest.raises(ValueError, match=r"must|no column|categories"):
        page.studio.answer(
            "draws", {"space": page.info["space"], "settings": page.settings, "column": "age"}
        )


def test_the_network_is_like_the_belief_and_the_usual_one_is_not(page):
    page.settings["lengthscale"]["age"] = [10.0, 1.0]
    belief, network = page.belief("draws"), page.belief("network")

    def widths(picture):
        low, high = np.array(picture["band"])
        return (high - low).mean()

    def roughness(picture):
        return np.abs(np.diff(picture["lines"])).mean()

    assert widths(network["matched"]) == pytest.approx(widths(belief), rel=0.15)
    assert roughness(network["matched"]) == pytest.approx(roughness(belief), rel=0.4)
    assert roughness(network["standard"]) < 0.5 * roughness(belief)


@pytest.mark.slow
def test_the_report_says_that_the_network_carries_the_belief(page):
    found = page.belief("report")
    assert found["warnings"] == []
    assert found["distance"] < 0.02
    assert [column["name"] for column in found["columns"]] == ["age", "dose"]


def test_two_columns_make_a_surface(page):
    found = page.belief("surface", second="dose")
    assert {len(found[name]) for name in ("belief", "matched", "standard")} == {21 * 21}
    with pytest.raises(ValueError, match="two different columns"):
        page.belief("surface", second="age")


def curve(period, height=15.0):
    x = np.linspace(20, 80, 60)
    return np.column_stack([x, 120 + height * np.sin(2 * np.pi * x / period)]).tolist()


def test_sketched_curves_move_the_belief_and_wild_ones_are_improbable():
    page = typed()
    lengths = {}
    for period in (30, 90):
        found = page.belief("sketch", true=[curve(period)], false=[curve(3)], fit=True)
        lengths[period] = found["settings"]["lengthscale"]["age"][0]
        assert 0.025 < found["ranks"]["true"][0] < 0.975
        assert found["ranks"]["false"][0] < 0.025
        assert found["settings"]["lengthscale"]["dose"] == page.settings["lengthscale"]["dose"]
    assert 3 < lengths[30] < 12
    assert lengths[90] > 2 * lengths[30]
    unfitted = page.belief("sketch", true=[curve(6)], fit=False)
    assert unfitted["settings"] == page.settings
    assert unfitted["ranks"]["true"][0] < 0.025


@pytest.mark.parametrize(
    ("curves", "words"),
    [
        ([[[1, 2]]], "at least five points"),
        ([[[20, float("nan")]] * 9], "not finite"),
        ([[[20 + i / 100, 1] for i in range(9)]], "too short"),
        ("curves", "a list of at most"),
        ([["a"] * 9], "two numbers"),
    ],
)
def test_curves_that_are_none_are_refused(curves, words):
    page = typed()
    about = {"space": page.info["space"], "settings": page.settings, "column": "age"}
    with pytest.raises(ValueError, match=words):
        page.studio.answer("sketch", {**about, "true": curves, "fit": True})


def test_more_like_a_wild_draw_shortens_the_length_and_less_lengthens_it():
    page = typed()
    before = page.settings["lengthscale"]["age"][0]
    more = page.belief("like", curve=curve(20), more=True)["settings"]
    less = page.belief("like", curve=curve(20), more=False)["settings"]
    assert more["lengthscale"]["age"][0] < before < less["lengthscale"]["age"][0]


def test_imagined_rows_fit_the_amplitude():
    page = typed()
    at = [{"age": age, "dose": 2} for age in (25, 45, 65, 78)]
    for spread in (5, 60):
        expect = [130 + spread, 130 - spread, 130 + spread, 130 - spread]
        rows = [{"at": a, "expect": e, "give": 2} for a, e in zip(at, expect, strict=True)]
        found = page.belief("rows", rows=rows)
        assert all(0.01 < row["below"] < 0.99 for row in found["rows"])
        assert (found["settings"]["amplitude"][0] > 20) == (spread == 60)
    with pytest.raises(ValueError, match="from 2 to"):
        page.belief("rows", rows=[])


def test_a_belief_file_brings_the_sliders_back(page):
    page.settings["lengthscale"]["age"] = [12.5, 1.5]
    page.settings |= {"ignore": ["sex"], "trend": 4.0, "noise": 3.0}
    page.settings["season"] = {"column": "dose", "period": 2.0, "amplitude": 1.5}
    exported = page.belief("export", name="Ann")
    found = page.ask("load", space=page.info["space"], text=exported["json"])
    assert found["settings"] == page.settings
    assert found["name"] == "Ann"


def test_a_belief_about_other_columns_is_refused(page):
    text = json.dumps(
        {"goodprior": "belief", "version": 1, "belief": {"lengthscale": {"weight": 3}}}
    )
    with pytest.raises(ValueError, match="names 'weight'"):
        page.ask("load", space=page.info["space"], text=text)


def test_people_are_shown_side_by_side_and_mixed(page):
    people = [
        {"name": "Ann", "spec": {"lengthscale": {"age": 5}, "amplitude": 1}},
        {"name": "Bob", "spec": {"lengthscale": {"age": 50}, "amplitude": 30}},
    ]
    found = page.belief("people", people=people)
    assert [one["name"] for one in found["beliefs"]] == ["Ann", "Bob", "their mixture"]
    spreads = [np.ptp(one["band"]) for one in found["beliefs"]]
    assert spreads[0] < spreads[2] < spreads[1] * 1.05
    mixed = page.ask("draws", space=page.info["space"], spec=found["spec"], column="age")
    assert mixed["sentence"].startswith("By chance (50%)")


def test_the_data_are_used_only_if_the_switch_is_on(page):
    with pytest.raises(ValueError, match="unless the switch is on"):
        page.belief("check")
    good = page.belief("check", use_data=True)
    page.settings["amplitude"][0] /= 20
    narrow = page.belief("check", use_data=True)
    assert sum(good["ranks"]) == good["rows"] == 60
    assert narrow["evidence"] < good["evidence"] < good["fitted_evidence"] + 0.2
    assert narrow["fitted_evidence"] == good["fitted_evidence"]


def test_exports_are_what_python_and_the_command_line_take(page, csv):
    page.settings["lengthscale"]["age"] = [12.5, 1.5]
    found = page.belief("export", name="Ann")
    assert found["command"].startswith(f"goodprior fit {csv} --target pressure --drop id --impute")
    assert "lengthscale.age=12.5 x/ 1.5" in found["command"]
    assert found["file_command"].endswith("--belief-file Ann.json")
    names = {}
    lines = found["python"].split("model = ")[0]
    exec(lines, names)
    assert names["belief"] == belief_from_json(found["json"]).spec
    assert BNNRegressor(belief=names["belief"]).check_settings() is not None
    page.settings["noise"] = 2.0
    assert page.belief("export")["command"] is None  # only files and Python can say it


def test_exported_python_runs(page, monkeypatch):
    fitted = []
    monkeypatch.setattr(BNNRegressor, "fit", lambda model, X, y: fitted.append((model, X, y)))
    page.settings["noise"] = 2.0
    exec(page.belief("export")["python"], {})
    ((model, X, y),) = fitted
    assert list(X.columns) == ["age", "dose", "sex"]
    assert model.encode == "impute"
    assert X["dose"].isna().sum() == 1
    assert model.noise_variance == pytest.approx((2 / y.std(ddof=0)) ** 2)


def test_a_name_that_no_command_line_can_say_is_left_to_the_file(tmp_path):
    path = tmp_path / "odd.csv"
    patients().rename(columns={"age": "a+b, c=(d)"}).to_csv(path, index=False)
    page = Page(path)
    found = page.ask("export", space=page.info["space"], settings=page.settings)
    assert found["command"] is None
    assert "a+b, c=(d)" in lengthscales(found)


@pytest.mark.slow
def test_the_matched_prior_is_a_model_file(page, tmp_path):
    path = tmp_path / "prior.safetensors"
    path.write_bytes(page.belief("prior_file"))
    prior = goodprior.load(path)
    model = BNNRegressor(prior=prior)
    assert model.check_settings() is not None


@pytest.mark.slow
def test_an_mlp_is_matched_in_steps_and_goes_on_from_there(page):
    first = page.belief("network", network="mlp")
    page.settings["amplitude"][0] *= 1.2
    again = page.belief("network", network="mlp")
    belief = page.belief("draws")
    ptp = [np.ptp(one["band"], axis=0).mean() for one in (first["matched"], again["matched"])]
    assert ptp[1] > ptp[0]
    assert ptp[1] == pytest.approx(np.ptp(belief["band"], axis=0).mean(), rel=0.3)


@pytest.mark.slow
def test_fit_now_ends_with_a_posterior_and_a_model_file(page, tmp_path, monkeypatch):
    from goodprior.studio import fitting

    monkeypatch.setattr(fitting, "BUDGET", 5.0)
    with pytest.raises(ValueError, match="no fit yet"):
        page.belief("posterior")
    page.belief("fit")
    with pytest.raises(ValueError, match="a fit is running"):
        page.belief("fit")
    page.studio.fitting.thread.join()
    assert page.ask("fit_progress")["state"] == "done"
    found = page.belief("posterior")
    assert len(found["mean"]) == len(found["x"])
    path = tmp_path / "model.safetensors"
    path.write_bytes(page.ask("model_file"))
    assert goodprior.load(path).belief_.sentence.startswith("Smooth")
