import json
import math
import multiprocessing

import numpy as np
import pytest

from goodprior.studies.engine.store import Failure, Job, Result, Store


def test_a_job_is_known_by_the_content_of_its_settings():
    job = Job({"dataset": "boston", "split": 1, "noise": 0.1, "scale": 1.0})
    assert job.hash == Job({"scale": 1, "split": 1, "noise": 0.1, "dataset": "boston"}).hash
    assert job.hash == Job({**job.settings, "new option": None}).hash
    others = [{**job.settings, "split": 2}, {**job.settings, "more": 0}, {"dataset": "boston"}]
    assert len({job.hash, *(Job(other).hash for other in others)}) == 4


def test_what_is_added_is_read_again_by_another_store(tmp_path):
    row = {"rmse": np.float32(0.1), "curve": np.arange(3) / 3, "bad": math.inf, "text": "ü"}
    Store(tmp_path / "new" / "folder").add(Result({"x": 1}, row, 2.0, {"jax": "1"}))
    (result,) = Store(tmp_path / "new" / "folder").results().values()
    assert result.row == {"rmse": 0.1, "curve": [0, 0.3333333, 0.6666667], "bad": None, "text": "ü"}
    assert (result.settings, result.seconds, result.versions) == ({"x": 1}, 2.0, {"jax": "1"})


def test_the_later_of_two_results_counts(tmp_path):
    store = Store(tmp_path)
    for value in (1, 2):
        store.add(Result({"x": 1}, {"value": value}, 0.0))
    assert [r.row["value"] for r in store.results().values()] == [2]


@pytest.mark.parametrize("cut", [1, 5, 30, "all but the newline"])
def test_a_torn_line_costs_no_other_line(tmp_path, cut):
    store = Store(tmp_path)
    for x in range(3):
        store.add(Result({"x": x}, {"y": x}, 0.0))
    text = store.path.read_text()
    last = text.splitlines()[-1]
    keep = len(last) if cut == "all but the newline" else cut
    store.path.write_text(text[: -len(last) - 1] + last[:keep])
    whole = [0, 1, 2] if cut == "all but the newline" else [0, 1]
    assert [r.settings["x"] for r in store.results().values()] == whole
    store.add(Result({"x": 7}, {"y": 7}, 0.0))
    assert [r.settings["x"] for r in store.results().values()] == [*whole, 7]


def test_two_clones_put_together_are_a_store(tmp_path):
    ours, theirs = Store(tmp_path / "a"), Store(tmp_path / "b")
    for store, xs in ((ours, (0, 1)), (theirs, (1, 2))):
        for x in xs:
            store.add(Result({"x": x}, {"y": x}, 0.0))
    marks = "<<<<<<< ours\n{}=======\n{}>>>>>>> theirs\n"
    ours.path.write_text(marks.format(ours.path.read_text(), theirs.path.read_text()))
    assert sorted(r.row["y"] for r in ours.results().values()) == [0, 1, 2]


def test_a_failure_is_forgotten_once_the_job_has_finished(tmp_path):
    store = Store(tmp_path)
    store.add(Failure({"x": 1}, "ValueError: no", "Traceback"))
    assert [f.error for f in store.failures().values()] == ["ValueError: no"]
    assert store.results() == {}
    store.add(Result({"x": 1}, {}, 0.0))
    assert store.failures() == {}


def _add_many(folder, who):
    for x in range(40):
        Store(folder).add(Result({"who": who, "x": x}, {"long": "z" * 5000}, 0.0))


def test_writers_at_the_same_time_lose_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add_many, args=(tmp_path, who)) for who in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    lines = Store(tmp_path).path.read_text().splitlines()
    assert len(lines) == len([json.loads(line) for line in lines]) == 120
    assert len(Store(tmp_path).results()) == 120


def test_jobs_of_other_studies_are_kept_with_them(tmp_path):
    view = Store(tmp_path / "view", reuses=("other",))
    for name, split in (("other", 0), ("view", 1)):
        view.add(Result({"study": name, "split": split}, {"rmse": 1.0}, 1.0))
    view.add(Failure({"study": "other", "split": 2}, "no"))
    assert [r.settings["split"] for r in Store(tmp_path / "other").results().values()] == [0]
    assert [r.settings["split"] for r in Store(tmp_path / "view").results().values()] == [1]
    assert len(Store(tmp_path / "other").failures()) == len(view.failures()) == 1
    Store(tmp_path / "other").add(Result({"study": "other", "split": 2}, {"rmse": 2.0}, 1.0))
    assert {r.settings["split"] for r in view.results().values()} == {0, 1, 2}
    assert view.failures() == {}
