"""Relevance of columns of functions that are known, where the truth can be written down."""

import numpy as np
import pandas as pd
import pytest

from goodprior.estimators.relevance import Relevance, relevance_of

EACH = {"a": [0], "b": [1], "c": [2]}


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).uniform(-np.pi, np.pi, (4000, 3))


def by_name(found):
    return {each.column: each for each in found}


def test_shares_are_the_total_effects_of_sobol(rows):
    # Ishigami's function, whose variances are known in closed form.
    def functions(x):
        first, second = np.sin(x[:, :2]).T
        return (first + 7 * second**2 + 0.1 * x[:, 2] ** 4 * first)[None, :, None]

    main = 0.5 * (1 + 0.1 * np.pi**4 / 5) ** 2
    interaction = 0.1**2 * np.pi**8 * (1 / 18 - 1 / 50)
    total = main + 49 / 8 + interaction
    found = by_name(relevance_of(functions, rows, EACH))
    # Over 4,000 rows and four permutations the standard error is about 0.01.
    assert found["a"].share == pytest.approx((main + interaction) / total, abs=0.03)
    assert found["b"].share == pytest.approx(49 / 8 / total, abs=0.03)
    assert found["c"].share == pytest.approx(interaction / total, abs=0.03)


def test_lengthscales_are_those_of_the_process_the_functions_come_from(rows):
    rng = np.random.default_rng(1)
    lengths = np.array([0.5, 2.0, 50.0])
    # Random Fourier features: functions of an RBF process with these lengthscales.
    frequencies = rng.normal(size=(40, 3, 100)) / lengths[:, None]
    phases = rng.uniform(0, 2 * np.pi, (40, 1, 100))

    def functions(x):
        return np.cos(x @ frequencies + phases).mean(axis=-1)[..., None]

    found = by_name(relevance_of(functions, rows[:300], EACH))
    # The standard error of a median is some 4 %; the mean over the rows, which is not counted as
    # variation, makes lengths a few percent too short.
    assert found["a"].lengthscale == pytest.approx(0.5, rel=0.1)
    assert found["b"].lengthscale == pytest.approx(2.0, rel=0.15)
    assert found["c"].lengthscale > 20
    assert found["a"].lower < 0.5 < found["a"].upper


def test_a_straight_line_has_the_standard_deviation_of_its_column(rows):
    found = relevance_of(lambda x: 5 * x[None, :, :1], rows, EACH)
    assert found[0].column == "a"
    assert found[0].lengthscale == pytest.approx(rows[:, 0].std(), rel=1e-3)
    assert [each.share for each in found[1:]] == [0, 0]


def test_columns_of_a_group_are_exchanged_together(rows):
    category = np.random.default_rng(2).integers(0, 3, 300)
    table = np.column_stack([rows[:300, 0], np.eye(3)[category]])

    def functions(x):
        assert (x[:, 1:].sum(axis=1) == 1).all()  # always one category
        return (np.sin(x[:, 0]) + x[:, 1])[None, :, None]

    first, second = relevance_of(functions, table, {"a": [0], "kind": [1, 2, 3]})
    assert (first.column, second.column) == ("a", "kind")
    assert np.isnan(second.lengthscale)
    assert 0.2 < second.share < 0.4  # 2/9 of 2/9 + 1/2
    assert str(second).startswith("functions vary with kind: ")


def test_functions_that_do_not_vary_have_nothing_relevant(rows):
    found = relevance_of(lambda x: np.ones((2, len(x), 1)), rows[:50], EACH)
    assert {each.share for each in found} == {0}
    assert str(found[0]) == "functions hardly vary with a: 0.0 % of their variance"


def test_the_list_makes_a_table():
    table = pd.DataFrame([Relevance("dose", 0.9, 0.8, 1.0, 2.1, 1.8, 2.4)])
    assert table.loc[0, "lengthscale"] == 2.1


def test_of_many_columns_those_that_matter_most_are_explained(rows):
    def functions(x):
        return (3 * x[:, 1] + x[:, 2] + 0.1 * x[:, 0])[None, :, None]

    found = relevance_of(functions, rows, EACH, most=2)
    assert [str(each) for each in found] == [
        str(each) for each in relevance_of(functions, rows, EACH)[:2]
    ]
    assert [each.column for each in found] == ["b", "c"]
