import numpy as np
import pytest

from goodprior.data.rounding import recorded_step, rounding_variances

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (RNG.integers(3, 9, 200).astype(float), 1.0),
        (np.round(RNG.normal(size=500), 1), 0.1),
        (1e6 + 5.0 * RNG.integers(0, 40, 300), 5.0),
        (np.repeat([2.0, 5.0, 9.0], 10), 1.0),  # no gap is the step itself
        (np.repeat([0.0, 1.0], 20), 1.0),
    ],
    ids=["whole numbers", "tenths", "far from zero", "a grid with gaps", "two values"],
)
def test_the_step_of_rounded_values_is_found(values, step):
    assert recorded_step(values) == pytest.approx(step)


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=500),
        RNG.choice(RNG.normal(size=100), 300),  # rows drawn again
        np.where(RNG.uniform(size=300) < 0.7, 0.0, RNG.normal(size=300)),  # mostly nothing
        np.full(50, 3.0),
        np.array([1.0, 1.0, 2.0]),
    ],
    ids=["numbers", "drawn again", "mostly zero", "constant", "few"],
)
def test_other_values_have_no_step(values):
    assert recorded_step(values) == 0.0


def test_what_rounding_leaves_out_has_the_variance_of_its_error():
    exact = RNG.normal(size=(20_000, 2)) * [3.0, 40.0]
    rounded = np.stack([np.round(exact[:, 0]), 10 * np.round(exact[:, 1] / 10)], axis=1)
    errors = (exact - rounded).var(axis=0)
    np.testing.assert_allclose(rounding_variances(rounded), errors, rtol=0.03)
