import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior import checks


def test_a_matrix_comes_back_in_single_precision():
    found = checks.matrix("X", [[1, 2], [3, 4]])
    assert found.dtype == jnp.float32
    assert found.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_vector_is_a_table_of_one_column():
    assert checks.table("y", [1.0, 2.0]).tolist() == [[1.0], [2.0]]
    assert checks.table("y", np.ones((2, 3))).shape == (2, 3)


def test_what_is_being_traced_passes():
    assert jax.jit(lambda x: checks.matrix("x", x) * 2)(jnp.ones((1, 1))).item() == 2.0


def test_labels_come_back_as_whole_numbers():
    for labels in ([0, 1, 2], np.array([[0.0], [1.0], [2.0]]), jnp.array([0.0, 1.0, 2.0])):
        found = checks.labels("y", labels, 3)
        assert found.dtype == jnp.int32
        assert found.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: checks.matrix("X", np.ones(3)), r"X must be a table .* its shape is \(3,\)"),
        (lambda: checks.matrix("X", np.ones((0, 3))), r"at least one of each; .* \(0, 3\)"),
        (lambda: checks.matrix("X", np.ones((3, 0))), r"\(3, 0\)"),
        (lambda: checks.matrix("X", [[1.0, np.nan]]), r"1 NaN .* first at index \(0, 1\)"),
        (lambda: checks.matrix("X", [[1.0], [-np.inf]]), r"X must be finite.*\(1, 0\)"),
        (lambda: checks.matrix("X", [["a", "b"]]), "X must hold numbers only"),
        (lambda: checks.matrix("X", [[1.0, 2.0], [3.0]]), "X must hold numbers only"),
        (lambda: checks.matrix("X", [[1e39]]), "X has values beyond 3e38"),
        (lambda: checks.table("y", 3.0), r"y must be a table .* its shape is \(\)"),
        (lambda: checks.table("y", []), "y must be a table"),
        (lambda: checks.positive("s", 0), "s must be a finite number above zero, got 0"),
        (lambda: checks.positive("s", -1.5), "got -1.5"),
        (lambda: checks.positive("s", float("nan")), "got nan"),
        (lambda: checks.positive("s", "large"), "s must be a finite number .* got 'large'"),
        (lambda: checks.positive("s", None), "s must be a finite number .* got None"),
        (lambda: checks.positive("s", np.ones(2)), "s must be a finite number"),
        (lambda: checks.whole("n", 0), "n must be a whole number of at least 1, got 0"),
        (lambda: checks.whole("n", 2.0), "n must be a whole number of at least 1, got 2.0"),
        (lambda: checks.whole("n", True), "got True"),
        (lambda: checks.whole("n", 1, least=2), "at least 2, got 1"),
        (lambda: checks.one_of("how", "c", ["b", "a"]), "how must be one of a, b; got 'c'$"),
        (
            lambda: checks.one_of("how", "smoth", ["rough", "smooth"]),
            r"\(did you mean 'smooth'\?\)",
        ),
        (lambda: checks.labels("y", [[0, 1]], 2), r"vector of labels.*\(1, 2\)"),
        (lambda: checks.labels("y", [], 2), r"vector of labels.*\(0,\)"),
        (lambda: checks.labels("y", [0, 2], 2), "from 0 to 1; found values from 0 to 2"),
        (lambda: checks.labels("y", [-1, 0], 2), "from 0 to 1; found values from -1 to 0"),
        (lambda: checks.labels("y", [0.5, 1], 2), "y must hold whole numbers from 0 to 1"),
        (lambda: checks.labels("y", [0, np.nan], 2), "y must hold whole numbers from 0 to 1"),
        (lambda: checks.labels("y", ["cat", "dog"], 2), "y must hold whole numbers from 0 to 1"),
    ],
)
def test_bad_values_are_named_with_the_rule(check, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        check()


@pytest.mark.parametrize("number", [2, 0.5, np.float32(0.5), np.int64(3)])
def test_numbers_of_any_kind_are_taken(number):
    assert checks.positive("s", number) == float(number)
