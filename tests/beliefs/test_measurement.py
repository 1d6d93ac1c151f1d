import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import Box, Grid, MeasurementSet, Rows, rows_and_box
from tests.monte_carlo import assert_covariance, assert_mean

TABLE = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)

SETS: dict[str, tuple[MeasurementSet, int]] = {
    "rows": (Rows(TABLE, size=15), 15),
    "noisy rows": (Rows(TABLE, size=15, noise=0.1), 15),
    "more rows than there are": (Rows(TABLE, size=60), 60),
    "box": (Box([-1, 0], [1, 3], size=25), 25),
    "region": (Box([-1, -1], [1, 1], size=25, inside=lambda x: x[0] > x[1]), 25),
    "grid": (Grid([0, 0], [1, 2], per_input=4), 16),
    "mix": (Rows(TABLE, size=5) + Box([0, 0], [1, 1], size=3) + Grid([0, 0], [1, 1], 2), 12),
    "the paper's": (rows_and_box(TABLE), 100),
}


@pytest.mark.parametrize("name", SETS)
def test_a_measurement_set_keeps_the_contract(name):
    points, size = SETS[name]
    first, again = points.sample(jax.random.key(0)), points.sample(jax.random.key(0))
    assert points.size == size
    assert first.shape == (size, 2)
    assert first.dtype == jnp.float32
    assert np.isfinite(first).all()
    assert np.array_equal(first, again)
    other = points.sample(jax.random.key(1))
    assert np.array_equal(first, other) == (name == "grid")


def test_rows_come_from_the_table_without_repeats():
    points = np.asarray(Rows(TABLE, size=40).sample(jax.random.key(3)))
    np.testing.assert_array_equal(_sorted(points), _sorted(TABLE))


def test_rows_repeat_only_when_more_are_asked_for_than_there_are():
    points = np.asarray(Rows(TABLE, size=60).sample(jax.random.key(3)))
    assert _in(points, TABLE).all()


def test_noise_on_rows_has_its_standard_deviation():
    points = Rows(np.zeros((1, 2)), size=10_000, noise=0.3).sample(jax.random.key(0))
    assert_mean(points, 0.0)
    assert_covariance(points, 0.09 * np.eye(2))


def test_a_box_is_filled_uniformly():
    points = np.asarray(Box([-1, 0], [1, 3], size=10_000).sample(jax.random.key(0)))
    assert (points >= [-1, 0]).all()
    assert (points <= [1, 3]).all()
    assert_mean(points, [0.0, 1.5])
    assert_covariance(points, np.diag([4, 9]) / 12, mean=[0.0, 1.5])


def test_a_region_of_a_box_is_filled_uniformly():
    disc = Box([-1, -1], [1, 1], size=10_000, inside=lambda x: (x**2).sum() < 1)
    points = np.asarray(disc.sample(jax.random.key(0)))
    assert ((points**2).sum(axis=1) < 1).all()
    assert_mean(points, [0.0, 0.0])
    assert_covariance(points, np.eye(2) / 4)


def test_a_region_that_is_hardly_there_is_refused():
    nowhere = Box([0], [1], size=5, inside=lambda x: x[0] > 2)
    with pytest.raises(ValueError, match="only 0 of 500 points of the box lie inside"):
        nowhere.sample(jax.random.key(0))


def test_a_grid_has_all_combinations():
    points = Grid([0, -1], [1, 1], per_input=3).sample(jax.random.key(0))
    expected = [[a, b] for a in (0, 0.5, 1) for b in (-1, 0, 1)]
    np.testing.assert_allclose(points, expected)


@pytest.mark.parametrize(("size", "rows"), [(100, 70), (10, 7), (2, 1)])
def test_the_papers_set_is_70_percent_rows_and_30_percent_box(size, rows):
    points = np.asarray(rows_and_box(TABLE, size).sample(jax.random.key(1)))
    repeats = size > 40  # there are only 40 rows
    assert len(points) == size
    assert _in(points[:rows], TABLE).all()
    assert not _in(points[rows:], TABLE).any()
    assert (points >= TABLE.min(axis=0)).all()
    assert (points <= TABLE.max(axis=0)).all()
    assert (len(np.unique(points[:rows], axis=0)) < rows) == repeats


def test_the_two_kinds_of_points_use_different_random_numbers():
    twice = Box([0], [1], size=20) + Box([0], [1], size=20)
    points = np.asarray(twice.sample(jax.random.key(0)))
    assert not np.isin(points[:20], points[20:]).any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rows(TABLE[:0]), "X must be a table with rows and columns"),
        (lambda: Rows(TABLE[:, 0]), r"its shape is \(40,\)"),
        (lambda: Rows([[np.nan, 1.0]]), "X must be finite"),
        (lambda: Rows(TABLE, size=0), "size must be a whole number of at least 1, got 0"),
        (lambda: Rows(TABLE, noise=-0.1), "noise must .* got -0.1"),
        (lambda: Rows(TABLE, noise=float("nan")), "noise must .* got nan"),
        (lambda: Box([0, 1], [1, 0]), "low must not be above high"),
        (lambda: Box([0, 0], [1]), "low must not be above high"),
        (lambda: Box([0, np.inf], [1, np.inf]), "low must be finite"),
        (lambda: Box([0], [1], size=-3), "size must be a whole number"),
        (lambda: Grid([0], [1], per_input=1), "per_input must be a whole number of at least 2"),
        (lambda: Grid([0] * 6, [1] * 6, 10), "1,000,000 points; use rows or a box"),
        (lambda: rows_and_box(TABLE, share=1.0), "share must be between 0 and 1, got 1.0"),
        (lambda: rows_and_box(TABLE, size=1), "size must be a whole number of at least 2"),
        (
            lambda: (Rows(TABLE) + Box([0], [1])).sample(jax.random.key(0)),
            "as many inputs.* 2 and 1",
        ),
    ],
)
def test_bad_sets_are_refused_with_a_reason(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def _sorted(rows):
    return rows[np.lexsort(rows.T)]


def _in(points, table):
    return (points[:, None] == table[None]).all(axis=-1).any(axis=-1)
