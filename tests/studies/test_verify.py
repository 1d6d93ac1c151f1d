"""Stored rows against the same jobs run again."""

import pytest

from goodprior.studies.engine.attempt import PACKAGES, attempt, provenance
from goodprior.studies.engine.store import Job, Result, Store
from goodprior.studies.engine.verify import compare, pick
from tests.studies import trivial

HERE = {"commit": "abc", "cpu": "this one"}


def _cell(*values, made=HERE):
    return [
        Result({"dataset": "x", "split": i}, {"rmse": v}, 1.0, {"jax": "1"}, made)
        for i, v in enumerate(values)
    ]


def _check(stored, again, others):
    return compare(stored, again, {r.job.hash: r for r in others}, ("rmse", "absent"))


@pytest.mark.parametrize(
    ("value", "made", "agrees", "words"),
    [
        (1.00001, HERE, True, "floating-point noise"),
        (1.1, HERE, False, "same commit, versions and processor"),
        (1.1, {"commit": "new", "cpu": "this one"}, True, "moved by 0.17 standard errors"),
        (1.1, {"commit": "abc", "cpu": "another"}, True, "moved by 0.17 standard errors"),
        (1.7, {"commit": "new", "cpu": "this one"}, False, "moved by 1.21 standard errors"),
    ],
)
def test_a_number_agrees_to_noise_or_within_its_cells_error(value, made, agrees, words):
    """Three splits with 1, 2 and 3: the standard error of their mean is 0.577."""
    stored = _cell(1.0, 2.0, 3.0)
    (check,) = _check(stored[0], _cell(value, made=made)[0], stored)
    assert check.agrees is agrees
    assert words in check.reason


def test_without_other_splits_what_has_moved_cannot_be_judged():
    stored = _cell(1.0, made={})
    (check,) = _check(stored[0], _cell(1.1)[0], stored)
    assert check.agrees is None
    assert "moved by 9.1 %, with no other split" in check.reason


def test_a_handful_is_picked_at_random_and_the_same_again():
    results = {r.job.hash: r for r in _cell(*range(20))}
    first = pick(results, 5, seed=0)
    assert [j.hash for j in first] == [j.hash for j in pick(results, 5, seed=0)]
    assert {j.hash for j in first} != {j.hash for j in pick(results, 5, seed=1)}
    assert len(pick(results, 50, seed=0)) == 20
    assert pick(results, 5, seed=0, longest=0.5) == []


def test_a_row_says_when_where_and_from_what_it_was_made(tmp_path, monkeypatch):
    monkeypatch.setenv("GOODPRIOR_DATA", str(tmp_path))
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "boston.npz").write_bytes(b"rows")
    job = Job({"x": 3, "folder": str(tmp_path), "dataset": "boston"})
    attempt(f"{trivial.HERE}:square", job, Store(tmp_path))
    (result,) = Store(tmp_path).results().values()
    assert set(PACKAGES) <= set(result.versions)
    assert {"equinox", "optax", "scipy"} <= set(PACKAGES)
    made = result.provenance
    assert made["data"] == "bc51e9e65d79e1c90ba544ab2eae1044ccdf8c1af7a559ba375cba4276f7d99e"
    assert made["threads"] == 1
    assert made["cpu"]
    assert made["date"].endswith("+00:00")
    assert made["commit"] is None or len(made["commit"].rstrip("+")) == 40
    assert provenance(None)["data"] is None
