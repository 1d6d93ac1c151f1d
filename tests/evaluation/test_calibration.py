"""Ranks of known answers: of which draws, and what they say."""

import json

import numpy as np
import pytest

from goodprior.evaluation import Calibration, Ranks, calibration
from goodprior.evaluation.calibration import calibration_of, ranks_of


def uniform(simulations, draws, seed=0):
    return np.random.default_rng(seed).integers(0, draws + 1, simulations)


def autoregressive(memory, shape, rng):
    noise = rng.normal(size=shape)
    trace = noise.copy()
    for t in range(1, shape[-1]):
        trace[..., t] = memory * trace[..., t - 1] + np.sqrt(1 - memory**2) * noise[..., t]
    return trace


def test_draws_that_follow_each_other_closely_are_thinned_before_they_are_ranked(monkeypatch):
    rng = np.random.default_rng(1)
    draws, truth = autoregressive(0.98, (300, 4, 100), rng), rng.normal(size=300)
    found = ranks_of("x", truth, draws)
    assert found.draws < 40
    assert found.p_value > 0.01
    monkeypatch.setattr(calibration, "_worth", lambda values: 400)
    assert ranks_of("x", truth, draws).p_value < 1e-6


def test_of_chains_that_do_not_move_one_draw_each_is_ranked():
    truth, chains = np.random.default_rng(0).normal(size=(2, 100, 8))
    stuck = np.repeat(chains[:, :, None], 25, axis=2)
    found = ranks_of("x", truth[:, 0], stuck)
    assert found.draws == 8
    assert found.p_value > 0.01  # they are draws from where they should be, so nothing is wrong


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda draws: draws, "as they should be"),
        (lambda draws: 0.6 * draws, "draws are too narrow"),
        (lambda draws: 1.8 * draws, "draws are too wide"),
        (lambda draws: draws + 0.5, "draws are too large"),
        (lambda draws: draws - 0.5, "draws are too small"),
    ],
)
def test_ranks_say_what_is_wrong_with_the_draws(change, words):
    rng = np.random.default_rng(2)
    draws = change(rng.normal(size=(200, 4, 20)))
    found = ranks_of("x", rng.normal(size=200), draws)
    assert found.leaning == words
    assert (found.p_value > 0.01) == (words == "as they should be")


def test_the_verdict_names_the_worst_quantity_and_counts_failures():
    rng = np.random.default_rng(3)
    truth, draws = rng.normal(size=(100, 2)), rng.normal(size=(100, 4, 20, 2))
    right = calibration_of(["a", "b"], truth, draws)
    assert right.passed
    assert "nothing speaks against it" in right.verdict
    wrong = calibration_of(["a", "b"], truth, draws * [1.0, 0.4])
    assert not wrong.passed
    assert "most of all b, whose draws are too narrow" in wrong.verdict
    assert wrong.p_value == 2 * wrong.quantities[1].p_value
    failed = calibration_of(["a", "b"], truth, draws, failed=3)
    assert not failed.passed
    assert failed.verdict == "3 of 103 simulations failed"
    few = calibration_of(["a", "b"], truth[:5], draws[:5])
    assert "5 simulations say little" in few.verdict


def test_results_survive_json_and_others_are_refused():
    found = Calibration((Ranks("x", uniform(30, 9), 9),), 40, 1, "about it")
    again = Calibration.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.to_dict() == found.to_dict()
    good = found.to_dict()
    for bad in (
        {},
        [],
        good | {"quantities": []},
        good | {"quantities": [{"name": "x", "draws": 3, "ranks": [4]}]},
        good | {"quantities": [{"name": "x", "draws": 3, "ranks": []}]},
        good | {"asked": "many"},
    ):
        with pytest.raises(ValueError, match="no results of a calibration"):
            Calibration.from_dict(bad)
