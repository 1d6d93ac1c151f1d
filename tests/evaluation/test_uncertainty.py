"""Telling foreign inputs by their entropy."""

import numpy as np
import pytest

from goodprior.evaluation import auroc, entropy_curve


def test_the_area_is_the_share_of_pairs_in_the_right_order():
    rng = np.random.default_rng(0)
    inside, outside = rng.integers(0, 6, 30), rng.integers(2, 9, 40)
    wins = (outside[:, None] > inside).mean() + 0.5 * (outside[:, None] == inside).mean()
    assert auroc(inside, outside) == pytest.approx(wins)
    assert auroc(outside, inside) == pytest.approx(1 - wins)


def test_scores_must_be_numbers():
    with pytest.raises(ValueError, match="outside must be finite"):
        auroc([0.0], [np.nan])


def test_the_curve_is_a_distribution_function():
    uniform = np.random.default_rng(0).uniform(0, np.log(10), 4000)
    curve = entropy_curve(uniform, classes=10)
    np.testing.assert_allclose(curve, np.linspace(0, 1, 101), atol=0.03)
    assert (np.diff(curve) >= 0).all()
    assert curve[-1] == 1


def test_even_odds_have_the_largest_entropy():
    even = float(np.float32(np.log(10)))  # a little above the double's
    assert entropy_curve([even], classes=10).tolist() == [0.0] * 100 + [1.0]
