"""`goodprior study …` from end to end, with a job that takes no time."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from goodprior.cli import app
from goodprior.studies.catalogue import MODULES

RUN = ["study", "run", "function-priors", "--methods", "gp", "--workers", "1"]


def _call(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_the_list_names_all_studies():
    done = _call("study", "list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(MODULES)


def test_help_of_studies_loads_nothing_heavy():
    program = (
        "import sys\nfrom goodprior.cli import app\n"
        "app(['study', 'run', '--help'], standalone_mode=False)\n"
        "heavy = {'jax', 'pandas', 'numpy', 'joblib', 'matplotlib', 'distributed'}\n"
        "print('loaded', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "loaded []", done.stderr


def test_run_rerun_and_report(tmp_path):
    first = _call(*RUN, "--results", tmp_path)
    assert first.exit_code == 0, first.output
    assert "It cuts: 500 draws" in first.output
    assert "0 jobs were there, 2 finished now" in first.output
    second = _call(*RUN, "--results", tmp_path)
    assert "2 jobs were there, 0 finished now" in second.output
    report = _call("study", "report", "function-priors", "--results", tmp_path)
    assert report.exit_code == 0, report.output
    folder = tmp_path / "function-priors"
    names = {"jobs.jsonl", "report.html", "rows.csv", "functions.png"}
    assert {path.name for path in folder.iterdir()} == names


@pytest.mark.slow
def test_all_reports_and_the_page_on_all_studies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _call(*RUN).exit_code == 0
    done = _call("study", "report", "--all")
    assert done.exit_code == 0, done.output
    names = ("report.html", "rows.csv", "functions.png")
    assert done.stdout.split() == [f"results/function-priors/{name}" for name in names]
    done = _call("study", "reproduction")
    pages = [f"build/reproduction/{name}.md" for name in ("index", *MODULES)]
    assert done.stdout.split() == pages
    page = (tmp_path / pages[0]).read_text()
    assert "| figure 1 | [function-priors](function-priors.md) | 0 / 0 / 8 |" in page


@pytest.mark.slow
def test_what_is_stored_can_be_verified(tmp_path):
    run = ["study", "verify", "function-priors", "--jobs", 1, "--workers", 1]
    assert _call(*run, "--results", tmp_path).exit_code == 1
    assert _call(*RUN, "--results", tmp_path).exit_code == 0
    done = _call(*run, "--results", tmp_path)
    assert done.exit_code == 0, done.output
    assert "agrees  crossings" in done.output
    assert "1 jobs ran again, 2 numbers, 0 differ or failed" in done.output
    path = tmp_path / "function-priors" / "jobs.jsonl"
    path.write_text(path.read_text().replace('"crossings":', '"crossings":1'))
    done = _call(*run, "--results", tmp_path)
    assert done.exit_code == 1
    assert "DIFFERS crossings" in done.output


@pytest.mark.slow
def test_failures_are_told_with_their_traceback_and_can_be_retried(tmp_path, monkeypatch):
    monkeypatch.setenv("GOODPRIOR_DATA", str(tmp_path))
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "boston.npz").write_text("no archive")
    run = ["study", "run", "uci-regression", "--datasets", "boston", "--methods", "fg"]
    options = ["--splits", 1, "--workers", 1, "--results", tmp_path / "results"]
    first = _call(*run, *options)
    assert first.exit_code == 1
    assert "FAILED study=uci-regression dataset=boston method=fg" in first.output
    assert "Traceback" in first.output
    assert "1 jobs failed; --retry runs them again" in first.output


def test_data_that_are_not_here_are_left_out_with_a_word(tmp_path, monkeypatch):
    monkeypatch.setenv("GOODPRIOR_DATA", str(tmp_path))
    done = _call("study", "run", "uci-classification", "--datasets", "eeg", "--results", tmp_path)
    assert done.exit_code == 0, done.output
    assert f"left out: eeg is looked for at {tmp_path}" in done.output
    assert "uci-classification: 0 jobs" in done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "no-such-study"], "study must be one of"),
        (["report", "no-such-study"], "study must be one of"),
        (["report"], "the name of a study or --all"),
        (["report", "hmc", "--all"], "the name of a study or --all"),
        (["run", "hmc", "--datasets", "moon"], "datasets of hmc are boston"),
        (["run", "hmc", "--datasets", "wine, moon"], "got 'moon'"),
        (
            ["reproduction", "--out", "pages", "--results", "no-such"],
            "there is no folder no-such",
        ),
        (["run", "hmc", "--depths", "two"], "--depths: takes whole numbers; got 'two'"),
        (["run", "hmc", "--engine", "dask"], "--address"),
        (["run", "hmc", "--address", "tcp://x"], "--address"),
        (["run", "hmc", "--preset", "slow"], "slow"),
        (["run", "hmc", "--splits", "0"], "--splits"),
        (["run", "cifar10", "--pixels", "grey"], "grey"),
        (["verify", "no-such-study"], "study must be one of"),
    ],
)
def test_what_it_does_not_know_is_an_error_of_use(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = _call("study", *arguments)
    assert done.exit_code == 2, done.output
    assert words in done.output.replace("\n", " ")
    assert not list(tmp_path.iterdir())


def test_a_report_of_nothing_says_what_to_run(tmp_path):
    done = _call("study", "report", "banana", "--results", tmp_path)
    assert done.exit_code == 1
    assert "goodprior study run banana" in done.output
    done = _call("study", "report", "--all", "--results", tmp_path)
    assert (done.exit_code, done.stdout) == (1, "")


def _workers(runner):
    """Its processes that run jobs."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            mother = (path / "stat").read_text().rpartition(")")[2].split()[1]
            if int(mother) == runner.pid and "LokyProcess" in (path / "cmdline").read_text():
                found.append(path)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into Linux's /proc")
def test_kill_ends_the_workers_as_well(tmp_path):
    command = [sys.executable, "-m", "goodprior", "study", "run", "function-priors"]
    runner = subprocess.Popen(
        [*command, "--workers", "2", "--results", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 60
    while len(_workers(runner)) < 2:
        assert time.monotonic() < end, "no workers came"
        time.sleep(0.1)
    workers = _workers(runner)
    runner.send_signal(signal.SIGTERM)
    assert "what has finished is kept" in runner.communicate(timeout=60)[1]
    assert runner.returncode == 130
    assert not any(path.exists() for path in workers)
