"""Bands and p-values of ranks: exact, over all points at once."""

import numpy as np
import pytest
from arviz_stats.ecdf_utils import get_pointwise_confidence_band, simulate_confidence_bands

from goodprior.evaluation import Ranks, uniformity
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
    monkeypatch.setattr(uniformity, "MOST_POINTS", 99)
    band = Ranks("x", uniform(100, 99), 99).band(0.9)
    rng = np.random.default_rng(0)
    at = np.arange(1, 100) / 100
    tail = simulate_confidence_bands(100, 1, at, 0.9, 2000, rng)
    low, high = get_pointwise_confidence_band(tail, 100, at)
    np.testing.assert_allclose(band.points, at)
    assert np.abs(band.low - low).max() <= 0.0101  # one of the hundred, or none
    assert np.abs(band.high - high).max() <= 0.0101


def test_a_histogram_has_all_ranks():
    assert (
        Ranks("x", uniform(100, 8), 8).histogram(10).tolist()
        == np.bincount(uniform(100, 8), minlength=9).tolist()
    )
    assert Ranks("x", uniform(100, 99), 99).histogram(10).sum() == 100
