"""Ranks of known answers: their bands and p-values, thinning, and what they say."""

import json

import numpy as np
import pytest
from arviz_stats.ecdf_utils import get_pointwise_confidence_band, simulate_confidence_bands

from goodprior.evaluation import Calibration, Ranks, calibration
from goodprior.evaluation.calibration import calibration_of, ranks_of
from tests.monte_carlo import LIMIT


def uniform(simulations, draws, seed=0):
    return np.random.default_rng(seed).integers(0, draws + 1, simulations)


def within(ranks, band):
    return bool(((ranks.shares >= band.low) & (ranks.shares <= band.high)).all())


@pytest.mark.parametrize(("simulations", "draws"), [(40, 9), (100, 70)])
def test_a_band_holds_all_of_a_line_as_often_as_it_says(simulations, draws):
    band, times = Ranks("x", uniform(simulations, draws), draws).band(0.8), 1000
    held = [within(Ranks("x", uniform(simulations, draws, s), draws), band) for s in range(times)]
    error = (0.8 * 0.2 / times) ** 0.5
    # The band is the narrowest of those that hold at least as many: counts are whole numbers.
    assert -LIMIT * error < np.mean(held) - 0.8 < LIMIT * error + 0.05


def test_p_values_of_uniform_ranks_are_as_small_as_they_say():
    values = np.array([Ranks("x", uniform(60, 19, s), 19).p_value for s in range(500)])
    for level in (0.05, 0.25, 0.5):
        error = (level * (1 - level) / len(values)) ** 0.5
        assert -0.06 < (values <= level).mean() - level < LIMIT * error


def test_the_p_value_is_below_five_percent_where_a_line_leaves_its_band():
    for seed in range(40):
        ranks = Ranks("x", np.minimum(uniform(80, 19, seed) + seed % 4, 19), 19)
        assert within(ranks, ranks.band(0.95)) == (ranks.p_value > 0.05)


def test_bands_are_those_of_arviz_which_simulates_them(monkeypatch):
    monkeypatch.setattr(calibration, "MOST_POINTS", 99)
    band = Ranks("x", uniform(100, 99), 99).band(0.9)
    rng = np.random.default_rng(0)
    at = np.arange(1, 100) / 100
    tail = simulate_confidence_bands(100, 1, at, 0.9, 2000, rng)
    low, high = get_pointwise_confidence_band(tail, 100, at)
    np.testing.assert_allclose(band.points, at)
    assert np.abs(band.low - low).max() <= 0.0101  # one of the hundred, or none
    assert np.abs(band.high - high).max() <= 0.0101


def autoregressive(memory, shape, rng):
    noise = rng.normal(size=shape)
    trace = noise.copy()
    for t in range(1, shape[-1]):
        trace[..., t] = memory * trace[..., t - 1] + np.sqrt(1 - memory**2) * noise[..., t]
    return trace


def test_draws_that_follow_each_other_closely_are_thinned_before_they_are_ranked(monkeypatch):
    rng = np.random.default_rng(1)
    draws, truth = autoregressive(0.95, (300, 4, 100), rng), rng.normal(size=300)
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


def test_a_histogram_has_all_ranks():
    assert (
        Ranks("x", uniform(100, 8), 8).histogram(10).tolist()
        == np.bincount(uniform(100, 8), minlength=9).tolist()
    )
    assert Ranks("x", uniform(100, 99), 99).histogram(10).sum() == 100


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
