"""What can happen to a checkpoint folder while a fit is at work in it."""

import errno
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import goodprior
from goodprior import BNNRegressor
from goodprior.pipeline.checkpoint import Checkpoint
from goodprior.storage import file_format
from tests.estimators.small import SMALL, X, Y, sghmc

BRIEF = {**SMALL, "prior": "fg", "method": sghmc(burn_in=20, thinning=10), "draws": 4}
PARTS = {"stage": [np.zeros(3)]}


def _full(path, data):
    raise OSError(errno.ENOSPC, f"{path} cannot be written: the disk is full")


def test_a_disk_that_fills_up_does_not_end_the_fit(tmp_path, monkeypatch):
    keep = Checkpoint(tmp_path)
    keep.put("first", PARTS)
    monkeypatch.setattr(file_format, "replace_file", _full)
    with pytest.warns(UserWarning, match="the fit goes on without it: .*the disk is full"):
        keep.put("second", PARTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        keep.put("third", PARTS)  # it is said once
    assert keep.get("first") is not None
    assert keep.get("second") is None


def test_a_disk_that_is_full_from_the_start_is_an_error_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(file_format, "replace_file", _full)
    with pytest.raises(OSError, match="the disk is full"):
        BNNRegressor(**BRIEF).fit(X, Y, checkpoint=tmp_path / "run")


def test_a_folder_that_vanishes_does_not_end_the_fit(tmp_path):
    keep = Checkpoint(tmp_path / "run")
    with keep.held():
        shutil.rmtree(tmp_path / "run")
        with pytest.warns(UserWarning, match="goes on without it: .*there is no folder"):
            keep.put("stage", PARTS)


@pytest.mark.slow
def test_the_draws_are_those_of_a_fit_without_a_checkpoint(tmp_path, monkeypatch):
    class Vanishing(Checkpoint):
        def put_sometimes(self, stage, thing):
            shutil.rmtree(self.folder, ignore_errors=True)
            super().put(stage, thing)

    monkeypatch.setattr("goodprior.estimators.base.Checkpoint", Vanishing)
    with pytest.warns(UserWarning, match="goes on without it"):
        found = BNNRegressor(**BRIEF).fit(X, Y, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(found.predict(X), BNNRegressor(**BRIEF).fit(X, Y).predict(X))


HOLD = """
import fcntl, sys, time
with open(sys.argv[1], "ab") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="there are no such locks on Windows")
def test_two_fits_do_not_share_a_folder(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "in-use")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        try:
            with pytest.raises(OSError, match=r"another fit is at work in .*: wait until it has"):
                BNNRegressor(**BRIEF).fit(X, Y, checkpoint=tmp_path)
        finally:
            other.kill()  # a killed fit leaves the folder free
    with Checkpoint(tmp_path).held():
        pass


def test_a_clock_that_goes_backwards_does_no_harm(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: -1e9)
    keep = Checkpoint(tmp_path)
    for _ in range(3):
        keep.put_sometimes("stage", PARTS)
    assert keep.get("stage") is not None


@pytest.mark.slow
def test_ctrl_c_in_a_notebook_keeps_the_draws():
    """In the main thread of a process that goes on afterwards, as a kernel does."""
    settings = {**BRIEF, "draws": 100_000}
    before = signal.default_int_handler
    signal.signal(signal.SIGINT, before)  # tests in the background ignore it
    BNNRegressor(**{**settings, "draws": 2}).fit(X, Y)  # compiled, so that sampling begins soon
    timer = threading.Timer(3.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.warns(UserWarning, match="it was interrupted"):
        model = BNNRegressor(**settings).fit(X, Y)
    timer.join()
    assert model.posterior_.draws_per_chain < 100_000
    assert signal.getsignal(signal.SIGINT) is before
    assert np.isfinite(BNNRegressor(**BRIEF).fit(X, Y).predict(X)).all()  # the kernel is well


class Killed(BNNRegressor):
    """A fit whose process is killed, as by a system that is out of memory."""

    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_worker_is_said_and_the_next_run_works():
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    with pytest.raises(TerminatedWorkerError, match="unexpectedly terminated"):
        cross_val_score(Killed(**BRIEF), X, Y, cv=2, n_jobs=2)
    assert np.isfinite(cross_val_score(BNNRegressor(**BRIEF), X, Y, cv=2, n_jobs=2)).all()


def test_a_pickle_of_another_version_says_so(monkeypatch):
    data = pickle.dumps(BNNRegressor(draws=3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(data).draws == 3
    monkeypatch.setattr(goodprior, "__version__", "9.9")
    with pytest.warns(UserWarning, match=r"written by goodprior 0\.\d.* and is read by 9\.9"):
        assert pickle.loads(data).draws == 3
