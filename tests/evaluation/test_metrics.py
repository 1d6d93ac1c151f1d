import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from goodprior.evaluation import (
    accuracy,
    calibration_error,
    class_nll,
    classification_metrics,
    coverage,
    crps,
    expected_calibration_error,
    log_predictive_density,
    nll,
    nll_moment,
    regression_metrics,
    rmse,
)
from goodprior.evaluation.metrics import LEVELS
from goodprior.inference import ClassPrediction, Prediction

RNG = np.random.default_rng(0)
LOCATION, SCALE = RNG.normal(size=(5, 8, 1)), RNG.uniform(0.3, 2.0, size=(5, 8, 1))
Y = RNG.normal(size=(8, 1)) * 2
MIXTURE = Prediction(jnp.asarray(LOCATION, jnp.float32), jnp.asarray(SCALE, jnp.float32))
SINGLE = Prediction(MIXTURE.location[:1], MIXTURE.scale[:1])


def test_rmse_is_that_of_the_predictive_mean():
    expected = np.sqrt(np.mean((LOCATION.mean(axis=0) - Y) ** 2))
    assert rmse(MIXTURE, Y) == pytest.approx(expected, rel=1e-5)


def test_far_from_zero_all_metrics_are_the_same():
    far = Prediction(MIXTURE.location, MIXTURE.scale, origin=np.array([1e8]))
    expected = regression_metrics(MIXTURE, Y)
    assert regression_metrics(far, Y + 1e8) == pytest.approx(expected, rel=1e-4)


def test_nll_is_that_of_the_mixture():
    expected = -np.log(stats.norm.pdf(Y, LOCATION, SCALE).mean(axis=0)).mean()
    assert nll(MIXTURE, Y) == pytest.approx(expected, rel=1e-5)


def test_nll_of_several_targets_is_that_of_their_joint_mixture():
    """Draws (0, 0) and (10, 10): each target alone is likely, both together are not."""
    draws = jnp.array([[[0.0, 0.0]], [[10.0, 10.0]]])
    prediction = Prediction(draws, jnp.ones((2, 1, 2)))
    assert nll(prediction, [[0.0, 10.0]]) == pytest.approx(50 + np.log(2 * np.pi), rel=1e-5)
    assert nll(prediction, [[10.0, 10.0]]) == pytest.approx(np.log(4 * np.pi), rel=1e-5)


@pytest.mark.parametrize("degrees", [None, 4.0])
def test_log_predictive_density_of_several_targets_agrees_with_scipy(degrees):
    location, scale = RNG.normal(size=(5, 8, 3)), RNG.uniform(0.3, 2.0, size=(5, 8, 3))
    y = RNG.normal(size=(8, 3))
    noise = stats.norm if degrees is None else stats.t(degrees)
    each = np.prod(noise.pdf((y - location) / scale) / scale, axis=-1)
    prediction = Prediction(
        jnp.asarray(location, jnp.float32), jnp.asarray(scale, jnp.float32), degrees
    )
    found = log_predictive_density(prediction, y)
    np.testing.assert_allclose(found, np.log(each.mean(axis=0)), rtol=1e-4)
    assert nll(prediction, y) == pytest.approx(-np.log(each.mean(axis=0)).mean(), rel=1e-5)


def test_several_targets_of_a_single_draw_are_independent():
    both = Prediction(jnp.tile(SINGLE.location, 2), jnp.tile(SINGLE.scale, 2))
    assert nll(both, np.tile(Y, 2)) == pytest.approx(2 * nll(SINGLE, Y), rel=1e-5)
    assert nll_moment(both, np.tile(Y, 2)) == pytest.approx(2 * nll_moment(SINGLE, Y), rel=1e-5)


def test_the_two_nlls_agree_for_one_gaussian_and_only_then():
    assert nll_moment(SINGLE, Y) == pytest.approx(nll(SINGLE, Y), rel=1e-5)
    assert abs(nll_moment(MIXTURE, Y) - nll(MIXTURE, Y)) > 1e-3


def test_nll_moment_uses_mean_and_variance_of_the_mixture():
    variance = LOCATION.var(axis=0) + (SCALE**2).mean(axis=0)
    expected = -stats.norm.logpdf(Y, LOCATION.mean(axis=0), np.sqrt(variance)).mean()
    assert nll_moment(MIXTURE, Y) == pytest.approx(expected, rel=1e-5)


def test_crps_of_a_gaussian_has_its_closed_form():
    """Gneiting and Raftery (2007), equation 21."""
    z = (Y - LOCATION[0]) / SCALE[0]
    closed = z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi)
    assert crps(SINGLE, Y) == pytest.approx((SCALE[0] * closed).mean(), rel=1e-5)


def test_crps_of_a_mixture_is_the_integral_of_the_squared_difference():
    x = np.linspace(-25, 25, 100_001)
    cdf = stats.norm.cdf(x[:, None], LOCATION[:, None, :, 0], SCALE[:, None, :, 0]).mean(axis=0)
    each = integrate.trapezoid((cdf - (x[:, None] >= Y[:, 0])) ** 2, x, axis=0)
    assert crps(MIXTURE, Y) == pytest.approx(each.mean(), rel=1e-4)


def test_crps_of_student_noise_goes_over_to_that_of_gaussian_noise():
    """200 quantiles are good for three digits."""
    student = Prediction(MIXTURE.location, MIXTURE.scale, 1e4)
    assert crps(student, Y) == pytest.approx(crps(MIXTURE, Y), rel=2e-3)


def test_crps_of_student_noise_is_the_mean_over_draws():
    """`E|Y - y| - E|Y - Y'| / 2` by a million draws, components of different widths."""
    rng = np.random.default_rng(1)
    location, scale = rng.normal(size=(20, 1, 1)), np.exp(rng.normal(-2, 1, size=(20, 1, 1)))
    which = rng.integers(20, size=(2, 1_000_000))
    draws = location[which, 0, 0] + scale[which, 0, 0] * rng.standard_t(5, size=which.shape)
    each = np.abs(draws[0] - 0.3) - 0.5 * np.abs(draws[0] - draws[1])
    found = crps(Prediction(jnp.asarray(location), jnp.asarray(scale), 5.0), [0.3])
    error = each.std() / each.size**0.5
    assert abs(found - each.mean()) < 4 * error < 0.02


def test_crps_of_a_certain_prediction_is_the_absolute_error():
    certain = Prediction(jnp.zeros((1, 2, 1)), jnp.full((1, 2, 1), 1e-4))
    assert crps(certain, [3.0, -5.0]) == pytest.approx(4.0, rel=1e-4)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_coverage_counts_observations_in_the_central_interval(level):
    standard = Prediction(jnp.zeros((1, 200, 1)), jnp.ones((1, 200, 1)))
    y = RNG.normal(size=200) * 1.5
    edge = stats.norm.ppf((1 + level) / 2)
    assert coverage(standard, y, level) == pytest.approx(np.mean(np.abs(y) <= edge))


def test_calibration_error_is_nil_when_observations_follow_the_prediction():
    standard = Prediction(jnp.zeros((1, 1000, 1)), jnp.ones((1, 1000, 1)))
    y = stats.norm.ppf((np.arange(1000) + 0.5) / 1000)
    assert calibration_error(standard, y) < 1e-3


@pytest.mark.parametrize(("factor", "inside"), [(0.0, 1.0), (1e3, 0.0)])
def test_calibration_error_sees_too_wide_and_too_narrow_predictions(factor, inside):
    standard = Prediction(jnp.zeros((1, 1000, 1)), jnp.ones((1, 1000, 1)))
    y = factor * stats.norm.ppf((np.arange(1000) + 0.5) / 1000)
    assert calibration_error(standard, y) == pytest.approx(np.abs(inside - LEVELS).mean(), abs=2e-3)


def test_calibration_error_is_the_mean_gap_over_levels():
    standard = Prediction(jnp.zeros((1, 300, 1)), jnp.ones((1, 300, 1)))
    y = 1.7 * RNG.normal(size=300)
    shares = [np.mean(np.abs(y) <= stats.norm.ppf((1 + level) / 2)) for level in LEVELS]
    assert calibration_error(standard, y) == pytest.approx(np.abs(shares - LEVELS).mean(), rel=1e-4)


def test_all_regression_metrics_come_by_name():
    assert regression_metrics(MIXTURE, Y) == {
        "rmse": rmse(MIXTURE, Y),
        "nll": nll(MIXTURE, Y),
        "nll_moment": nll_moment(MIXTURE, Y),
        "crps": crps(MIXTURE, Y),
        "coverage_95": coverage(MIXTURE, Y, 0.95),
        "calibration_error": calibration_error(MIXTURE, Y),
    }


PROBABILITIES = RNG.dirichlet(np.ones(3), size=(4, 60))  # draws, points, classes
LABELS = RNG.integers(0, 3, size=60)
CLASSES = ClassPrediction(jnp.log(jnp.asarray(PROBABILITIES, jnp.float32)))


def test_class_metrics_use_probabilities_averaged_over_draws():
    mean = PROBABILITIES.mean(axis=0)
    assert accuracy(CLASSES, LABELS) == pytest.approx(np.mean(mean.argmax(axis=1) == LABELS))
    expected = -np.log(mean[np.arange(60), LABELS]).mean()
    assert class_nll(CLASSES, LABELS) == pytest.approx(expected, rel=1e-5)


def test_expected_calibration_error_is_the_weighted_gap_over_bins():
    mean = PROBABILITIES.mean(axis=0)
    confidence, right = mean.max(axis=1), mean.argmax(axis=1) == LABELS
    expected = 0.0
    for low in np.arange(10) / 10:
        rows = (confidence >= low) & (confidence < low + 0.1)
        if rows.any():
            expected += rows.mean() * abs(confidence[rows].mean() - right[rows].mean())
    found = expected_calibration_error(CLASSES, LABELS, bins=10)
    assert found == pytest.approx(expected, abs=1e-6)


def test_expected_calibration_error_of_certain_and_wrong_predictions_is_one():
    certain = ClassPrediction(jnp.array([[[0.0, -jnp.inf]] * 5]))
    assert expected_calibration_error(certain, np.ones(5)) == pytest.approx(1.0)
    assert expected_calibration_error(certain, np.zeros(5)) == pytest.approx(0.0)


def test_labels_may_come_as_a_column():
    as_column = classification_metrics(CLASSES, LABELS[:, None].astype(float))
    assert as_column == classification_metrics(CLASSES, LABELS)
    assert as_column["ece"] == expected_calibration_error(CLASSES, LABELS)


@pytest.mark.parametrize("metric", [rmse, nll, nll_moment, crps, coverage, calibration_error])
@pytest.mark.parametrize("y", [Y[:1], Y[:3], np.tile(Y, 2), Y[0, 0]])
def test_targets_must_fit_the_prediction(metric, y):
    with pytest.raises(ValueError, match=r"y must .* its shape is"):
        metric(MIXTURE, y)


@pytest.mark.parametrize("metric", [accuracy, class_nll, expected_calibration_error])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (LABELS[:1], "a label for each of the 60 points, it has 1"),
        (LABELS + 1, "from 0 to 2; found values from 1 to 3"),
        (np.tile(LABELS[:, None], 2), "vector of labels"),
    ],
)
def test_labels_must_fit_the_prediction(metric, y, message):
    with pytest.raises(ValueError, match=message):
        metric(CLASSES, y)
