import numpy as np
import pytest

from goodprior.inference import Gaussian, Heteroscedastic
from goodprior.pipeline import ObservationModel
from goodprior.pipeline.observation import regression_model


def test_learned_noise_has_the_larger_of_both_limits():
    model = regression_model("auto", "auto", targets=2, inputs=1)
    (least,) = {model.likelihood.least_variance}
    rounded = model.with_rounding(np.array([0.0, 0.3])).likelihood
    assert rounded.least_variance == pytest.approx((least, 0.3))
    assert rounded.typical_variance == model.likelihood.typical_variance


@pytest.mark.parametrize("likelihood", [Gaussian(1e-3), Heteroscedastic(0.5)])
def test_noise_that_is_known_or_larger_is_left_as_it_is(likelihood):
    model = ObservationModel(likelihood, 1)
    assert model.with_rounding(np.array([0.3])) is model
