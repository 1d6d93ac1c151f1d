import numpy as np
import pytest

from goodprior.demos.data import gap_1d


def test_the_gap_example_is_standardised():
    data = gap_1d()
    assert data.X.shape == data.y.shape == (64, 1)
    assert data.grid.shape == data.truth.shape == (400, 1)
    for column in (data.X, data.y):
        assert abs(column.mean()) < 1e-5
        assert abs(column.std() - 1) < 1e-5


def test_forty_percent_of_the_range_is_empty():
    data = gap_1d(rows=500)
    x = np.sort(np.asarray(data.X[:, 0]))
    span = np.asarray(data.grid[-1, 0] - data.grid[0, 0])
    gap = np.diff(x).max() / span
    assert 0.4 <= gap < 0.44
    assert x[0] >= data.grid[0, 0]
    assert x[-1] <= data.grid[-1, 0]


def test_targets_are_the_truth_with_noise_of_the_given_variance():
    def noise_to_signal(noise_variance):
        data = gap_1d(rows=500, noise_variance=noise_variance)
        noise = data.y[:, 0] - np.interp(data.X[:, 0], data.grid[:, 0], data.truth[:, 0])
        return np.std(noise) / np.std(data.truth)

    # Same seed, so the same function and the same noise but for its scale.
    assert noise_to_signal(0.4) / noise_to_signal(0.1) == pytest.approx(2.0, rel=0.01)


def test_a_seed_gives_the_same_data():
    assert np.array_equal(gap_1d(seed=3).y, gap_1d(seed=3).y)
    assert not np.array_equal(gap_1d(seed=3).y, gap_1d(seed=4).y)
