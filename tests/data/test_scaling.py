import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import StandardScaler

from goodprior.data import Scaling

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3)) * [1.0, 100.0, 1e-3] + [0.0, 1e4, 5.0]
Y = RNG.normal(size=(50, 2)) * 7 - 3


def test_columns_are_standardised_as_by_scikit_learn():
    scaling = Scaling.fit(X, Y)
    new = X[:5] + 0.1
    np.testing.assert_allclose(
        scaling.inputs(new), StandardScaler().fit(X).transform(new), rtol=1e-5
    )
    np.testing.assert_allclose(
        scaling.targets(Y[:5]), StandardScaler().fit(Y).transform(Y[:5]), rtol=1e-5
    )


def test_large_offsets_do_not_cost_precision():
    column = 1e8 + np.arange(5.0)[:, None]
    np.testing.assert_allclose(
        Scaling.fit(column).inputs(column)[:, 0], (np.arange(5) - 2) / np.sqrt(2), rtol=1e-6
    )


def test_a_vector_of_targets_is_one_column():
    assert Scaling.fit(X, Y[:, 0]).targets(Y[:, 0]).shape == (50, 1)


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e6])
def test_constant_columns_are_centred_and_not_scaled(constant):
    table = np.column_stack([np.full(50, constant), X[:, 0]])
    scaled = np.asarray(Scaling.fit(table).inputs(table))
    np.testing.assert_allclose(scaled[:, 0], 0.0, atol=1e-6)
    assert scaled[:, 1].std() == pytest.approx(1.0, rel=1e-5)


def test_without_targets_labels_are_left_alone():
    labels = np.array([0, 1, 2])
    assert Scaling.fit(X).targets(labels)[:, 0].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: Scaling.fit(X).inputs(X[:, :2]), r"X must have 3 columns.*\(50, 2\)"),
        (lambda: Scaling.fit(X).inputs(X[0]), r"X must be a table .*\(3,\)"),
        (lambda: Scaling.fit(X).inputs([["a", "b", "c"]]), "X must hold numbers only"),
        (lambda: Scaling.fit(X).inputs(X * np.nan), "X must be finite"),
        (lambda: Scaling.fit(X, Y).targets(Y[:, :1]), r"y must have 2 columns.*\(50, 1\)"),
        (lambda: Scaling.fit(X[:0]), r"X must be a table .*\(0, 3\)"),
        (lambda: Scaling.fit(X[:, 0]), r"X must be a table .*\(50,\)"),
        (lambda: Scaling.fit(np.where(X > 5, np.nan, X)), "X must be finite"),
        (lambda: Scaling.fit(X, Y * np.inf), "y must be finite"),
        (lambda: Scaling.fit([["a"]]), "X must hold numbers only"),
    ],
)
def test_bad_tables_are_refused(use, message):
    with pytest.raises(ValueError, match=message):
        use()


def test_results_are_single_precision():
    assert Scaling.fit(X, Y).inputs(X).dtype == jnp.float32


# Whatever the table is: columns of any offset and size, some of them constant.

often = settings(max_examples=100, deadline=None, derandomize=True, database=None)


@st.composite
def tables(draw):
    units = hnp.arrays(np.float64, (8, 3), elements=st.floats(-1, 1, width=32))
    sizes = hnp.arrays(np.float64, 3, elements=st.floats(-12, 12))
    offsets = hnp.arrays(np.float64, 3, elements=st.floats(-1e3, 1e3))
    size = 10.0 ** draw(sizes)
    return (draw(units) + draw(offsets)) * size


@often
@given(tables())
def test_columns_have_mean_zero_and_deviation_one_or_are_constant(table):
    scaling = Scaling.fit(table, table)
    for scaled in (scaling.inputs(table), scaling.targets(table)):
        scaled = np.asarray(scaled, np.float64)
        np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-3)
        for column, deviation in zip(table.T, scaled.std(axis=0), strict=True):
            constant = column.std() <= 1e-12 * abs(column.mean())
            assert deviation == pytest.approx(0.0 if constant else 1.0, abs=1e-3)


@often
@given(tables())
def test_scaling_loses_nothing(table):
    """What was scaled is had back, to single precision of the deviations."""
    scaling = Scaling.fit(table, table)
    for scaled, mean, std in (
        (scaling.inputs(table), scaling.x_mean, scaling.x_std),
        (scaling.targets(table), scaling.y_mean, scaling.y_std),
    ):
        back = np.asarray(scaled, np.float64) * std + mean
        error = np.abs(back - table)
        rounding = 1e-12 * np.abs(table).max(axis=0)
        assert (
            error <= 1e-5 * np.where(std == 1.0, 0.0, std) + 1e-5 * (std == 1.0) + rounding
        ).all()


@often
@given(tables(), st.floats(-3, 3), st.booleans(), st.floats(-10, 10), st.randoms())
def test_units_and_order_of_columns_do_not_matter(table, exponent, flipped, shift, chance):
    assume((table.std(axis=0) > 1e-9 * np.abs(table).max(axis=0)).all())
    order = chance.sample(range(3), 3)
    factor = (-1 if flipped else 1) * 10.0**exponent
    others = factor * (table[:, order] + shift * table.std(axis=0)[order])
    before, after = Scaling.fit(table).inputs(table), Scaling.fit(others).inputs(others)
    np.testing.assert_allclose(after, np.sign(factor) * before[:, order], atol=1e-3)
