"""Ctrl-C and budgets: which stage ends, when, and what is said of it."""

import os
import signal

import jax
import numpy as np
import pytest

from goodprior import FBNN, MAP, Ensemble, Gaussian, GaussianProcess, Laplace, rbf
from goodprior.pipeline import (
    Hooks,
    NetworkSpec,
    ObservationModel,
    Problem,
    deadline,
    fit_posterior,
    hooks,
)
from goodprior.pipeline.checkpoint import Checkpoint
from goodprior.pipeline.deadline import Deadline
from goodprior.progress import StopBurnIn, StopSampling

X = np.linspace(-1, 1, 30)[:, None]
KEY = jax.random.key(0)


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test winds."""
    now = [0.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: now[0])
    return now


def test_a_stage_ends_when_its_share_is_spent_and_is_named(clock):
    found = Deadline(100.0)
    with found.stage("matching", share=0.3):
        clock[0] = 29.0
        found.look()
        clock[0] = 31.0
        with pytest.raises(StopSampling):
            found.look()
    with found.stage("sampling", keeps=True):
        clock[0] = 60.0
        found.look(burning_in=True)
        clock[0] = 66.0  # half of the 69 seconds that are left
        with pytest.raises(StopBurnIn):
            found.look(burning_in=True)
        found.look()
        assert found.reason is None
        clock[0] = 101.0
        with pytest.raises(StopSampling):
            found.look()
    assert found.stopped == "its budget of seconds was spent (which cut short: matching, burn-in)"


def test_a_clock_that_goes_backwards_ends_nothing_early(monkeypatch):
    """The budget is by the monotonic clock, whatever is done to the one on the wall."""
    monkeypatch.setattr(deadline.time, "time", lambda: -1e9)
    found = Deadline(100.0)
    with found.stage("sampling"):
        found.look()
    assert found.stopped is None


@pytest.fixture
def interruptible():
    """Ctrl-C as in a terminal; where tests run in the background it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _press():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_interrupts_at_once_where_there_is_nothing_to_keep():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), Deadline(None) as found, found.stage("matching"):
        _press()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_a_stage_with_what_it_keeps_and_the_second_one_at_once(capfd):
    with Deadline(None, say=True) as found, found.stage("sampling", keeps=True):
        _press()
        with pytest.raises(StopSampling):
            found.look(burning_in=True)
        with pytest.raises(KeyboardInterrupt):
            _press()
    assert found.stopped == "it was interrupted during burn-in"
    assert "Ctrl-C again stops at once" in capfd.readouterr().err


def test_a_fit_that_nobody_watches_says_beforehand_that_it_will_take_long(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(hooks.time, "monotonic", lambda: now[0])
    with Hooks(announce=True).tracking("sampling") as track:
        for second in (3, 4):
            now[0] = float(second)
            track(second, 3600, "")
        now[0] = 6.0
        with pytest.warns(UserWarning, match=r"sampling will take about 60 min: budget=SECONDS"):
            track(6, 3600, "")
        track(6, 3600, "")  # it is said once


METHODS = {
    "map": MAP(epochs=10**6),
    "ensemble": Ensemble(epochs=10**6, members=2),
    "laplace": Laplace(epochs=10**6),
    "fbnn": FBNN(epochs=10**6),
}


def _problem(**changes):
    observation = ObservationModel(Gaussian(0.1), 1)
    belief = GaussianProcess(rbf())
    return Problem(
        *(X, X[:, 0] ** 2, observation, belief),
        **{"network": NetworkSpec((4,)), "prior": "fg"} | changes,
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_budget_ends_every_method_with_what_was_trained(method):
    found = fit_posterior(_problem(), method, key=KEY, hooks=Hooks(deadline=Deadline(5.0)))
    assert "budget" in found.stopped
    assert np.isfinite(found.posterior.predict(X).mean).all()


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    "method",
    [*METHODS.values(), Ensemble(epochs=10**6, members=2, weight_decay=1e-4)],
    ids=[*METHODS, "ensemble with its weight decay"],
)
def test_ctrl_c_ends_every_method_with_what_was_trained(method):
    class Impatient(Deadline):
        looks = 0

        def look(self, **options):
            self.looks += 1
            if self.looks == 3:
                _press()
            super().look(**options)

    if method is METHODS["ensemble"]:  # only weight decays have been looked at
        with pytest.raises(KeyboardInterrupt), Impatient(None) as end:
            fit_posterior(_problem(), method, key=KEY, hooks=Hooks(deadline=end))
        return
    with Impatient(None) as end:
        found = fit_posterior(_problem(), method, key=KEY, hooks=Hooks(deadline=end))
    assert found.stopped == "it was interrupted"
    assert np.isfinite(found.posterior.predict(X).mean).all()


def test_training_that_was_cut_short_is_not_taken_for_the_whole(tmp_path):
    method, ends = MAP(epochs=30), []

    def once(seconds):
        ends.append(Deadline(seconds))
        hooks = Hooks(checkpoint=Checkpoint(tmp_path), deadline=ends[-1])
        return fit_posterior(_problem(), method, key=KEY, hooks=hooks).posterior.report["epochs"]

    assert once(1e-9) < 30
    assert once(None) == 30


def test_matching_ends_with_the_prior_as_it_is():
    end = Deadline(1e-9)
    found = fit_posterior(
        _problem(prior="gpi-g"), MAP(epochs=1), key=KEY, hooks=Hooks(deadline=end)
    )
    assert len(found.history.distance) == 10  # a chunk of steps, of 400
    assert "budget" in found.stopped
