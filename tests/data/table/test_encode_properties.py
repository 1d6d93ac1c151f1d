"""What holds of every table that can be encoded, on tables of all kinds of columns."""

import warnings
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from goodprior.data.table.encode import Columns
from goodprior.data.table.errors import TableError
from goodprior.data.table.frames import as_frame

LETTERS = st.sampled_from(["red", "blue", "Größe", "a b", "other", "x=1", "x,y"])
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


def _numbers(cells):
    return pd.Series(cells, dtype=float)


def _dates(cells):
    start = pd.Timestamp("2020-01-01")
    return pd.Series([None if c is None else start + timedelta(days=c) for c in cells])


KINDS = {
    "number": (st.floats(-1e6, 1e6).map(lambda x: round(x, 6)), _numbers),
    "whole": (st.integers(-1000, 1000), lambda cells: pd.Series(pd.array(cells, "Int64"))),
    "flag": (st.booleans(), lambda cells: pd.Series(pd.array(cells, "boolean"))),
    "flag object": (st.booleans(), lambda cells: pd.Series(cells, dtype=object)),
    "text": (LETTERS, lambda cells: pd.Series(cells, dtype=object)),
    "level": (LETTERS, lambda cells: pd.Series(pd.Categorical(cells))),
    "date": (st.integers(0, 2000), lambda cells: pd.to_datetime(_dates(cells))),
    "date text": (
        st.integers(0, 2000),
        lambda cells: pd.to_datetime(_dates(cells)).dt.strftime("%Y-%m-%d").astype(object),
    ),
    "wait": (
        st.integers(0, 10**6),
        lambda cells: pd.to_timedelta(pd.Series(cells, dtype=float), unit="s"),
    ),
}


@st.composite
def tables(draw, gaps=True):
    """A table of from one to four columns of any kinds, some cells of which may be missing."""
    rows = draw(st.integers(2, 12))
    columns = {}
    for i, kind in enumerate(draw(st.lists(st.sampled_from([*KINDS]), min_size=1, max_size=4))):
        cell, make = KINDS[kind]
        cells = draw(st.lists(st.none() | cell if gaps else cell, min_size=rows, max_size=rows))
        columns[f"{kind} {i}"] = make(cells)
    return pd.DataFrame(columns)


def fitted(frame, impute=True):
    """The columns and the matrix, for tables that have something to learn from."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # marks, which are x or empty
        try:
            return Columns.fit_transform(frame, impute=impute)
        except TableError as error:
            if "no values at all" in error.problem or "same value" in error.problem:
                reject()
            raise


@FEW
@given(tables())
def test_every_table_becomes_finite_numbers_with_a_name_for_each_column(frame):
    columns, matrix = fitted(frame)
    assert matrix.shape == (len(frame), len(columns.names))
    assert matrix.dtype == np.float64
    assert np.isfinite(matrix).all()
    for name, names in columns.groups.items():
        places = [columns.names.index(each) for each in names]
        assert (matrix[:, places].sum(axis=1) == 1).all(), name


@FEW
@given(tables(), st.randoms())
def test_the_order_of_columns_and_rows_does_not_matter(frame, random):
    columns, matrix = fitted(frame)
    names = random.sample([*frame.columns], len(frame.columns))
    np.testing.assert_array_equal(columns.matrix(frame[names].assign(more=1)), matrix)
    rows = random.choices(range(len(frame)), k=3)
    np.testing.assert_array_equal(columns.matrix(frame.iloc[rows]), matrix[rows])


@FEW
@given(tables(), st.randoms())
def test_learning_from_permuted_columns_gives_the_same_numbers(frame, random):
    columns, matrix = fitted(frame)
    names = random.sample([*frame.columns], len(frame.columns))
    other, permuted = fitted(frame[names])
    order = [other.names.index(name) for name in columns.names]
    np.testing.assert_array_equal(permuted[:, order], matrix)


@FEW
@given(tables(gaps=False))
def test_a_table_without_gaps_is_the_same_with_and_without_filling(frame):
    np.testing.assert_array_equal(fitted(frame, impute=False)[1], fitted(frame)[1])


@FEW
@given(tables())
def test_what_is_missing_everywhere_is_filled_as_in_training(frame):
    columns, _ = fitted(frame)
    empty = pd.DataFrame({name: pd.Series([None], dtype=object) for name in frame.columns})
    found = columns.matrix(empty)
    assert np.isfinite(found).all()
    one = columns.matrix(pd.concat([frame.astype(object), empty], ignore_index=True))
    np.testing.assert_array_equal(one[-1], found[0])


@FEW
@given(tables(), st.text(min_size=1).filter(str.strip))
def test_unknown_levels_are_told_and_stay_finite(frame, text):
    columns, _ = fitted(frame)
    assume(columns.groups)
    (name, names), *_ = columns.groups.items()
    assume(text.strip() not in {each.partition("=")[2] for each in names})
    new = frame.assign(**{name: text}).iloc[:1]
    with pytest.warns(UserWarning, match="not seen in training"):
        found = columns.matrix(new)
    assert np.isfinite(found).all()
    assert found[0, [columns.names.index(each) for each in names]].sum() == 0


@FEW
@given(tables())
def test_what_was_learned_survives_a_file(frame):
    columns, matrix = fitted(frame)
    again = Columns.from_dict(columns.to_dict())
    assert again == columns
    np.testing.assert_array_equal(again.matrix(frame), matrix)
    assert all(column.name in columns.describe() for column in columns.columns)


@FEW
@given(tables())
def test_a_table_of_polars_gives_the_same_numbers(frame):
    polars = pytest.importorskip("polars")
    columns, matrix = fitted(frame)
    cells = {
        name: polars.Series([None if pd.isna(cell) else cell for cell in frame[name]])
        for name in frame.columns
    }
    other, found = fitted(as_frame(polars.DataFrame(cells)))
    assert other.names == columns.names
    np.testing.assert_array_equal(found, matrix)
