"""Reports from made-up results."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from goodprior.studies import paper
from goodprior.studies.catalogue import study
from goodprior.studies.engine.store import Result, Store
from goodprior.studies.reports import claims, reproduction
from goodprior.studies.reports.compare import wins
from goodprior.studies.reports.printed import printed_cells
from goodprior.studies.reports.report import gather, introduction, write


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Results of uci-regression: two sets by the paper's protocol, one of them off; two depths."""
    store = Store(tmp_path_factory.mktemp("results") / "uci-regression")
    one = study("uci-regression")
    rng = np.random.default_rng(0)
    choice = one.choose(
        "paper",
        datasets=("boston", "wine"),
        methods=("fg", "gpi-g"),
        depths=(1, 2),
        splits=3,
        distance="energy",
    )
    for job in one.jobs(choice):
        level = {"boston": (3.0, 2.5), "wine": (9.0, 9.0)}[job.settings["dataset"]]
        better = 0.1 * (job.settings["method"] == "gpi-g")
        rmse, nll = level + rng.normal(scale=0.01, size=2) - better
        row = {"rmse": rmse, "nll_moment": nll, "nll": nll, "crps": 1.0, "trace": [1.0, 2.0]}
        row["rhat_max"] = 1.01
        store.add(Result(job.settings, row, 10.0, {"jax": "0.0"}))
    strange = {**one.jobs(choice)[0].settings, "width": 7}
    store.add(Result(strange, {"rmse": 1e6}, 1.0, {}))
    return store


@pytest.fixture(scope="module")
def report(store):
    return gather(study("uci-regression"), store)


def test_rows_stand_in_the_order_of_the_papers_grid_whatever_finished_first(tmp_path):
    one, store = study("uci-regression"), Store(tmp_path)
    choice = one.choose("paper", datasets=("boston", "wine"), methods=("fg", "fh"), splits=1)
    jobs = one.jobs(replace(choice, depths=(2,)))
    for job in reversed(jobs):
        store.add(Result(job.settings, {"rmse": 1.0, "nll_moment": 1.0}, 1.0))
    cells = gather(one, store).sections[0].tables[0][1]
    expected = [("boston", "FG"), ("boston", "FH"), ("wine", "FG"), ("wine", "FH")]
    assert list(zip(cells["dataset"], cells["method"], strict=True)) == expected


def test_the_report_has_everything_in_one_page(store, report):
    assert (report.preset, report.done) == ("paper", 24)
    assert report.missing == "goodprior study run uci-regression --preset paper --distance energy"
    names = {path.name for path in write(report, store.folder)}
    assert names == {"report.html", "rows.csv", "benchmark.png", "depth.png"}
    page = (store.folder / "report.html").read_text()
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert page.count("data:image/png;base64,") == 2
    assert page.count('class="differs"') == 8  # wine's cells: 2 metrics x 2 methods x 2 depths
    for words in ("GPi-G", "average ranks", "0.0", "goodprior study run", "1000000"):
        assert (words in page) == (words != "1000000"), words
    for name in ("benchmark.png", "depth.png"):
        assert (store.folder / name).read_bytes().startswith(b"\x89PNG")

    rows = pd.read_csv(store.folder / "rows.csv")
    assert len(rows) == 25
    assert "trace" not in rows
    assert {"dataset", "method", "split", "rmse", "seconds"} <= set(rows)


def test_other_settings_are_not_mixed_in(report):
    (caption, cells), *_ = [t for t in report.sections[0].tables if "RMSE" in t[0]]
    assert "agree" in caption
    assert cells["n"].tolist() == [3] * 8
    assert cells["ours"].max() < 10


def test_either_way_of_matching_has_its_section(store, tmp_path):
    one = study("uci-regression")
    store = Store(shutil.copytree(store.folder, tmp_path / "copy"))
    (job,) = one.jobs(
        one.choose("paper", datasets=("boston",), methods=("gpi-g",), depths=(2,), splits=1)
    )
    store.add(Result(job.settings, {"rmse": 5.0, "nll_moment": 5.0}, 1.0, {}))
    report = gather(one, store)
    titles = [section.title for section in report.sections]
    assert ["critic" in titles[0], "energy" in titles[1]] == [True, True]
    assert {"benchmark-wasserstein", "depth-wasserstein"} == set(report.sections[0].figures)


def test_printed_numbers_count_by_the_papers_protocol_alone(store, tmp_path):
    one = study("uci-regression")
    store = Store(shutil.copytree(store.folder, tmp_path / one.name))

    def counts():
        return printed_cells(tmp_path).set_index("table").loc["uci_regression_rmse"].to_dict()

    fixed = counts()  # of FG alone: GPi-G's rows are by the energy distance
    assert (fixed["cells"], fixed["whole"], fixed["begun"]) == (192, 0, 4)
    jobs = one.jobs(
        one.choose(
            "paper",
            datasets=("boston",),
            methods=("gpi-g",),
            depths=(2,),
        )
    )
    for job in jobs[:-1]:
        store.add(Result(job.settings, {"rmse": 3.0}, 1.0, {}))
    assert (counts()["whole"], counts()["begun"]) == (0, 5)
    store.add(Result(jobs[-1].settings, {"rmse": 3.0}, 1.0, {}))
    assert (counts()["whole"], counts()["begun"]) == (1, 5)


def test_the_pages_state_what_was_run_and_what_was_not(store, tmp_path):
    (store.folder / "notes.md").write_text("Wine is made up.")
    names = [path.name for path in reproduction.write_pages(store.folder.parent, tmp_path)]
    assert names[0] == "index.md"
    page = (tmp_path / "uci-regression.md").read_text()
    assert "Wine is made up." in page
    assert re.search(r"\| wine \| 2 \| GPi-G \| 3 \| 8\.\d+ .* ≠ \|", page)
    assert "GPi-G minus FG | 2 | 3 | 2 | 0 | 2 | 2 | 0 | 2 |" in page
    assert "Preset paper: 0 of 200 jobs" in (tmp_path / "hmc.md").read_text()
    index = (tmp_path / "index.md").read_text()
    assert "| 0 / 4 / 224 | 12 of 2100 | 12 | 0 | 25 |" in index


CLAIM = """
[[claim]]
claim = "GPi-G is better"
section = "6.2"
study = "uci-regression"
metric = "rmse"
pair = ["gpi-g", "fg"]
where = { depth = 2 }
verdict = "VERDICT"
confidence = "high"
why = "made up"
seen = "SEEN"
"""


def _claims(results, seen, verdict="holds"):
    (results / "claims.toml").write_text(CLAIM.replace("SEEN", seen).replace("VERDICT", verdict))
    return results


def test_a_claim_has_its_effect_with_an_interval_beside_the_papers(store):
    results = _claims(store.folder.parent, "nothing yet")
    (claim,) = claims.read_claims(results)
    found = claims.evidence(claim, results)
    assert re.fullmatch(r"-0\.\d+ \[-0\.\d+, [+-]0\.\d+\], better in 2 of 2", found.effect)
    table = paper.table("uci_regression_rmse").query("depth == 2 and dataset in ['boston', 'wine']")
    means = table.groupby("method")["mean"].mean()
    assert found.paper == f"{means['GPi-G'] - means['FG']:+.3g}, better in 2 of 2"
    assert found.rows == "2 cells of 3 splits, energy distance, paper"
    assert found.share == "6 of 150"  # FG's; no GPi-G by the critic


def test_a_verdict_is_out_of_date_when_its_rows_have_moved(store):
    results = _claims(store.folder.parent, "nothing yet")
    (claim,) = claims.read_claims(results)
    assert "rows have changed since" in claims.table(results)["verdict"].item()
    _claims(results, claims.evidence(claim, results).seen)
    assert claims.table(results)["verdict"].item() == "**holds**"
    with pytest.raises(ValueError, match=r"must be one of holds, .*; got 'maybe'"):
        claims.read_claims(_claims(results, "", verdict="maybe"))
    (results / "claims.toml").unlink()


def test_rows_that_no_longer_count_are_told_and_shown_only_when_asked(tmp_path):
    one, store = study("uci-regression"), Store(tmp_path)
    choice = one.choose("paper", datasets=("boston",), methods=("fg", "fh"), depths=(2,), splits=2)
    for job in one.jobs(choice):
        before = {k: v for k, v in job.settings.items() if k != "start"}
        store.add(Result(before, {"rmse": 3.0, "nll_moment": 2.5}, 1.0))
    report = gather(one, store)
    assert (report.done, len(report.rows)) == (0, 0)
    assert sorted(report.superseded.values()) == [2, 2]
    words = " ".join(introduction(report))
    assert "2 stored rows are superseded and counted nowhere: its chains start at draws" in words
    assert "Gibbs steps began while SGHMC adapted" in words
    asked = gather(one, store, superseded=True)
    assert (asked.done, asked.rows["superseded"].all()) == (4, True)


def test_what_the_paper_does_not_have_is_not_counted_as_its_loss():
    table = pd.DataFrame({"pair": ["MAP"], "depth": 2, "n": 5, "difference": [-1.0],
                          "low": [-1.1], "high": [-0.9], "paper": [np.nan],
                          "converged": True})  # fmt: skip
    assert wins(table)["paper: first is better"].tolist() == [None]


def test_an_empty_folder_gives_a_page_and_no_report(tmp_path):
    report = gather(study("banana"), Store(tmp_path))
    assert report.sections == []
    assert "| 0 / 0 / 10 | 0 of 10 | 0 | 0 | 0 |" in reproduction.index(tmp_path)


def test_a_job_that_both_presets_have_does_not_decide_which_is_shown(tmp_path):
    """The belief of class-priors is the same in both; the rest is quick's."""
    one, store = study("class-priors"), Store(tmp_path)
    row = {"entropy": 1.0, "shares": np.full((3, 10), 0.1), "mean_shares": np.full(10, 0.1)}
    for job in one.jobs(one.presets["quick"]):
        store.add(Result(job.settings, row, 1.0))
    report = gather(one, store)
    assert (report.preset, report.done, len(report.rows)) == ("quick", 5, 5)


def test_a_study_that_looks_at_the_jobs_of_others(tmp_path):
    """MAP beside posteriors: what the benchmarks have finished counts, and is shown once."""
    regression = study("uci-regression")
    other = regression.jobs(
        regression.choose("paper", datasets=("boston",), depths=(1, 2), splits=1)
    )
    for job in other:
        row = {"rmse": 3.0, "nll_moment": 2.5, "nll": 2.5}
        Store(tmp_path / "uci-regression").add(Result(job.settings, row, 1.0))
    one = study("map")
    store = Store(tmp_path / "map", one.reuses)
    two = ("early-stopping", "map-fg")
    for job in one.jobs(one.choose("paper", datasets=("eeg",), methods=two, splits=1)):
        store.add(Result(job.settings, {"accuracy": 0.9, "nll": 0.3}, 1.0))
    report = gather(one, store)
    assert report.done == 2 + 2  # two methods on eeg; FG and GPi-G on boston, at two hidden layers
    assert len(report.rows) == 4
    captions = [caption for caption, _ in report.sections[0].tables]
    assert sum(c.startswith("test RMSE, ours") for c in captions) == 1
    assert set(report.sections[0].figures) == set()  # MAP under FG alone has nothing beside it
    (nll,) = [t for c, t in report.sections[0].tables if c.startswith("test NLL, ours") and "eeg" in
              set(t["dataset"])]  # fmt: skip
    assert set(nll["dataset"]) == {"eeg"}
    assert (tmp_path / "uci-classification" / "jobs.jsonl").exists()
    assert not (tmp_path / "map").exists()
