"""Targets that are recorded in steps: what lies within a step is not known."""

import numpy as np
import pytest

import goodprior
from goodprior import BNNRegressor
from tests.estimators.small import SMALL, X, Y


@pytest.mark.slow
def test_learned_noise_stays_above_what_rounding_leaves_out(tmp_path):
    """Rows that are explained perfectly are known to within a step all the same."""
    model = BNNRegressor(**SMALL).fit(X, 5 * np.round(Y / 5))
    least = 5 / 12**0.5
    assert model.predict(X, return_std=True)[1].min() > least
    model.save(tmp_path / "model.safetensors")
    again = goodprior.load(tmp_path / "model.safetensors")
    assert again.predict(X, return_std=True)[1].min() > least
