import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from goodprior.studies.engine.dask_cluster import Dask
from goodprior.studies.engine.local import Local
from goodprior.studies.engine.run import run_jobs
from goodprior.studies.engine.store import Store
from tests.studies import trivial

ROOT = Path(__file__).parents[2]


def _until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def _run(name, jobs, folder, **options):
    return run_jobs(f"{trivial.HERE}:{name}", jobs, Store(folder), Local(2), **options)


def test_finished_jobs_are_never_run_again(tmp_path):
    first = _run("square", trivial.jobs(tmp_path, 3), tmp_path)
    assert (first.before, first.finished, first.failures) == (0, 3, [])
    second = _run("square", trivial.jobs(tmp_path, 5), tmp_path)
    assert (second.before, second.finished) == (3, 2)
    assert sorted(trivial.runs(tmp_path)) == [0, 1, 2, 3, 4]
    assert sorted(r.row["square"] for r in Store(tmp_path).results().values()) == [0, 1, 4, 9, 16]


def test_a_failing_job_costs_no_other_and_can_be_retried(tmp_path):
    (tmp_path / "trouble").touch()
    jobs = trivial.jobs(tmp_path)
    outcome = _run("touchy", jobs, tmp_path)
    assert outcome.finished == 5
    (failure,) = outcome.failures
    assert failure.settings["x"] == 3
    assert failure.error == "ArithmeticError: three is too many"
    assert "in touchy" in failure.traceback
    (tmp_path / "trouble").unlink()
    again = _run("touchy", jobs, tmp_path)
    assert (again.finished, len(again.failures)) == (0, 1)
    retried = _run("touchy", jobs, tmp_path, retry=True)
    assert (retried.before, retried.finished, retried.failures) == (5, 1, [])


def test_a_job_that_kills_its_worker_fails_alone(tmp_path):
    outcome = _run("deadly", trivial.jobs(tmp_path), tmp_path)
    assert outcome.finished == 5
    (failure,) = outcome.failures
    assert failure.settings["x"] == 3
    assert "died" in failure.error


def test_progress_tells_the_time_left_and_the_cheap_jobs_come_first(tmp_path):
    told = []
    run_jobs(
        f"{trivial.HERE}:slow",
        trivial.jobs(tmp_path, 4, seconds=0.05),
        Store(tmp_path),
        Local(1),
        cost=lambda job: -job.settings["x"] + 5,
        on_progress=lambda *words: told.append(words),
    )
    assert trivial.runs(tmp_path) == [3, 2, 1, 0]
    assert [(done, total) for done, total, _ in told] == [(i, 4) for i in range(5)]
    assert all("left" in words for _, _, words in told[1:])


def test_workers_compute_in_one_thread_and_have_huge_pages(tmp_path):
    outcome = _run("threads", trivial.jobs(tmp_path, 1), tmp_path)
    assert outcome.failures == []
    (result,) = Store(tmp_path).results().values()
    assert "--xla_cpu_multi_thread_eigen=false" in result.row["flags"]
    assert "hugetlb=1" in result.row["pages"]
    assert result.versions["jax"]


def _kill_the_runner(folder, engine):
    """Start a run of 12 jobs in a process of its own, and kill it after the third result."""
    command = [sys.executable, "-m", trivial.HERE, str(folder), engine, "12"]
    runner = subprocess.Popen(command, cwd=ROOT)
    _until(lambda: len(Store(folder).results()) >= 3)
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()


def test_killing_the_runner_loses_no_finished_job(tmp_path):
    _kill_the_runner(tmp_path, "local")
    time.sleep(0.6)  # workers finish, and keep, what they were at
    ran, kept = trivial.runs(tmp_path), Store(tmp_path).results()
    assert 3 <= len(kept) < 12
    assert sorted(ran) == sorted(r.settings["x"] for r in kept.values())
    outcome = _run("slow", trivial.jobs(tmp_path, 12), tmp_path)
    assert (outcome.before, outcome.finished) == (len(kept), 12 - len(kept))
    assert sorted(trivial.runs(tmp_path)) == list(range(12))


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and three workers, each a process; yields the address and the workers."""
    pytest.importorskip("distributed")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    settings = {**os.environ, "PYTHONPATH": path, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "3 s"}
    scratch, file = tmp_path / "scratch", tmp_path / "scheduler.json"
    options = {"env": settings, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    def start(command, *arguments):
        program = [sys.executable, "-m", "distributed.cli." + command]
        return subprocess.Popen([*program, *map(str, arguments), "--no-dashboard"], **options)

    scheduler = start(
        "dask_scheduler", "--host", "127.0.0.1", "--port", 0, "--scheduler-file", file
    )
    workers = [
        start(
            "dask_worker",
            *("--scheduler-file", file, "--nthreads", 1, "--no-nanny", "--host", "127.0.0.1"),
            *("--local-directory", scratch),
        )
        for _ in range(3)
    ]
    _until(file.exists)
    yield json.loads(file.read_text())["address"], workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_dask_cluster_that_loses_a_worker_and_then_its_runner(tmp_path, cluster):
    address, workers = cluster
    _kill_the_runner(tmp_path, address)
    kept = Store(tmp_path).results()
    assert 3 <= len(kept) < 12

    def kill_one(done, total, words):
        if done == len(kept) + 2:
            workers[0].kill()

    outcome = run_jobs(
        f"{trivial.HERE}:slow",
        trivial.jobs(tmp_path, 12),
        Store(tmp_path),
        Dask(address),
        on_progress=kill_one,
    )
    assert (outcome.before, outcome.failures) == (len(kept), [])
    assert outcome.finished == 12 - len(kept)
    assert workers[0].wait() == -signal.SIGKILL
    assert sorted(r.row["square"] for r in Store(tmp_path).results().values()) == [
        x**2 for x in range(12)
    ]


def test_without_a_scheduler_there_is_an_error():
    pytest.importorskip("distributed")
    with pytest.raises(OSError, match=r"127\.0\.0\.1:9"):
        Dask("tcp://127.0.0.1:9", timeout="1s")
