"""scikit-learn's own checks of what an estimator must do, at the smallest size that works."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from goodprior import SGHMC, BNNClassifier, BNNRegressor

SMALL = {
    "prior": "fg",
    "hidden": (4,),
    "method": SGHMC(0.02, 0.02, gradient_noise="none", burn_in=100, thinning=20, batch_size=None),
    "chains": 2,
    "draws": 5,
    "random_state": 0,
}

# A weight of two equals a repeated row only in distribution: see test_weights.
DIFFERENT = {
    "check_sample_weight_equivalence_on_dense_data": "equal in distribution only",
    "check_sample_weight_equivalence_on_sparse_data": "equal in distribution only",
}


@pytest.mark.slow
@parametrize_with_checks(
    [BNNRegressor(**SMALL), BNNClassifier(**SMALL)],
    expected_failed_checks=lambda estimator: DIFFERENT,
)
@pytest.mark.filterwarnings("default")
def test_scikit_learn_is_content(estimator, check):
    check(estimator)
