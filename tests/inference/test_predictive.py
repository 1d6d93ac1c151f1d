import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from goodprior.evaluation import regression_metrics
from goodprior.inference import ClassPrediction, Prediction
from tests.monte_carlo import assert_mean

RNG = np.random.default_rng(0)
LOCATION = RNG.normal(size=(6, 4, 2)) * 2
SCALE = RNG.uniform(0.3, 1.5, size=(6, 4, 2))
MIXTURES = {
    "gaussian": (None, lambda: stats.norm(LOCATION, SCALE)),
    "student": (5.0, lambda: stats.t(5.0, LOCATION, SCALE)),
}
each_mixture = pytest.mark.parametrize(
    ("degrees", "components"), MIXTURES.values(), ids=MIXTURES.keys()
)


def _prediction(degrees):
    return Prediction(jnp.asarray(LOCATION, jnp.float32), jnp.asarray(SCALE, jnp.float32), degrees)


@each_mixture
def test_density_and_cdf_are_averages_over_draws(degrees, components):
    y = RNG.normal(size=(4, 2)) * 3
    prediction, at = _prediction(degrees), jnp.asarray(y, jnp.float32)
    np.testing.assert_allclose(
        prediction.log_prob(at), np.log(components().pdf(y).mean(axis=0)), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(prediction.cdf(at), components().cdf(y).mean(axis=0), atol=2e-6)


@each_mixture
def test_moments_are_those_of_the_mixture(degrees, components):
    each = components()
    mean = each.mean().mean(axis=0)
    variance = (each.var() + each.mean() ** 2).mean(axis=0) - mean**2
    prediction = _prediction(degrees)
    np.testing.assert_allclose(prediction.mean, mean, rtol=1e-5)
    np.testing.assert_allclose(prediction.std, np.sqrt(variance), rtol=1e-5)
    np.testing.assert_allclose(prediction.function_std, LOCATION.std(axis=0), rtol=1e-5)


@each_mixture
@pytest.mark.parametrize("level", [0.001, 0.025, 0.5, 0.8, 0.999])
def test_quantiles_invert_the_cdf(degrees, components, level):
    found = np.asarray(_prediction(degrees).quantiles([level])[0], np.float64)
    np.testing.assert_allclose(components().cdf(found).mean(axis=0), level, atol=3e-6)


def test_the_quantile_of_distant_components_lies_between_them():
    apart = Prediction(jnp.array([[[-1e3]], [[1e3]]]), jnp.ones((2, 1, 1)))
    low, high = apart.interval(0.5)
    np.testing.assert_allclose([low.item(), high.item()], [-1e3, 1e3], rtol=1e-5)


@each_mixture
def test_an_interval_holds_its_share_of_observations(degrees, components):
    low, high = (np.asarray(edge) for edge in _prediction(degrees).interval(0.8))
    draws = components().rvs(size=(5_000, 6, 4, 2), random_state=1).reshape(-1, 4, 2)
    assert_mean((draws > low) & (draws < high), 0.8)
    assert_mean(draws < low, 0.1)


def test_an_interval_of_the_function_leaves_the_noise_out():
    low, high = _prediction(None).interval(0.8, of="function")
    expected = np.quantile(LOCATION, [0.1, 0.9], axis=0)
    np.testing.assert_allclose([low, high], expected, rtol=1e-5)


@each_mixture
def test_samples_are_observations(degrees, components):
    keys = jax.random.split(jax.random.key(0), 5_000)
    draws = jax.jit(jax.vmap(_prediction(degrees).sample))(keys)
    assert draws.shape == (5_000, 6, 4, 2)
    assert_mean(draws, LOCATION)
    assert_mean((draws - LOCATION) ** 2, components().var())


def test_the_moment_density_is_one_gaussian():
    y = RNG.normal(size=(4, 2))
    prediction = _prediction(None)
    expected = stats.norm.logpdf(y, np.asarray(prediction.mean), np.asarray(prediction.std))
    np.testing.assert_allclose(
        prediction.log_prob_moment(jnp.asarray(y, jnp.float32)), expected, rtol=1e-4, atol=1e-5
    )


def test_rescaling_moves_observations_with_their_density():
    prediction = _prediction(5.0)
    mean, std = np.array([10.0, -3.0]), np.array([2.0, 0.5])
    moved = prediction.rescale(mean, std)
    y = jnp.asarray(RNG.normal(size=(4, 2)), jnp.float32)
    np.testing.assert_allclose(moved.mean, prediction.mean * std + mean, rtol=1e-5)
    np.testing.assert_allclose(moved.std, prediction.std * std, rtol=1e-5)
    np.testing.assert_allclose(
        moved.log_prob(y * std + mean), prediction.log_prob(y) - np.log(std), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("levels", [[0.0], [1.0], [-0.1, 0.5], [float("nan")]])
def test_levels_outside_the_unit_interval_are_refused(levels):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        _prediction(None).quantiles(levels)


def test_an_unknown_kind_of_interval_is_refused(as_users_run_it):
    with pytest.raises(ValueError, match="of must be one of function, observation; got 'mean'"):
        _prediction(None).interval(0.9, of="mean")


PROBABILITIES = RNG.dirichlet(np.ones(3), size=(5, 4))  # draws, points, classes


def test_entropy_splits_into_mutual_information_and_the_rest():
    prediction = ClassPrediction(jnp.log(jnp.asarray(PROBABILITIES, jnp.float32)))
    mean = PROBABILITIES.mean(axis=0)
    total = stats.entropy(mean, axis=-1)
    within = stats.entropy(PROBABILITIES, axis=-1).mean(axis=0)
    np.testing.assert_allclose(prediction.probabilities, mean, rtol=1e-5)
    np.testing.assert_allclose(prediction.entropy, total, rtol=1e-5)
    np.testing.assert_allclose(prediction.mutual_information, total - within, rtol=1e-3, atol=1e-6)


def test_draws_that_agree_have_no_mutual_information():
    same = jnp.log(jnp.asarray(np.repeat(PROBABILITIES[:1], 5, axis=0), jnp.float32))
    np.testing.assert_allclose(ClassPrediction(same).mutual_information, 0.0, atol=1e-6)


def test_certain_classes_have_no_entropy():
    certain = ClassPrediction(jnp.array([[[0.0, -jnp.inf]]]))
    assert certain.entropy.item() == 0.0


def test_class_log_prob_averages_probabilities_not_logarithms():
    prediction = ClassPrediction(jnp.log(jnp.asarray(PROBABILITIES, jnp.float32)))
    y = np.array([0, 2, 1, 1])
    expected = np.log(PROBABILITIES.mean(axis=0)[np.arange(4), y])
    np.testing.assert_allclose(prediction.log_prob(jnp.asarray(y)), expected, rtol=1e-5)


@each_mixture
def test_targets_far_from_zero_keep_their_digits(degrees, components):
    plain, offset = _prediction(degrees), np.array([1e9, -3e9])
    far = plain.rescale(offset, np.ones(2))
    y = RNG.normal(size=(4, 2))
    for name in ("mean", "functions"):
        np.testing.assert_allclose(getattr(far, name) - offset, getattr(plain, name), atol=1e-6)
    for of in ("observation", "function"):
        apart = far.quantiles([0.1, 0.9], of) - offset
        np.testing.assert_allclose(apart, plain.quantiles([0.1, 0.9], of), atol=1e-5)
    near = jnp.asarray(y, jnp.float32)
    for name in ("log_prob", "log_prob_moment", "cdf"):
        found = getattr(far, name)(y + offset)
        np.testing.assert_allclose(found, getattr(plain, name)(near), atol=1e-5)
    key = jax.random.key(0)
    np.testing.assert_allclose(far.sample(key) - offset, plain.sample(key), atol=1e-5)
    found, expected = regression_metrics(far, y + offset), regression_metrics(plain, y)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("degrees", [None, 5.0])
def test_probabilities_of_events_are_shares_of_the_mixture(degrees):
    prediction = _prediction(degrees)
    at = np.full(prediction.location.shape[1:], 0.5, np.float32)
    below = np.asarray(prediction.cdf(at))
    np.testing.assert_allclose(prediction.probability(below=0.5), below, rtol=1e-5)
    np.testing.assert_allclose(prediction.probability(above=0.5), 1 - below, atol=1e-6)
    between = prediction.probability(above=-1.0, below=0.5)
    np.testing.assert_allclose(between, below - prediction.probability(below=-1.0), atol=1e-6)
    functions = np.asarray(prediction.functions)
    share = (functions > 0.5).mean(axis=0)
    np.testing.assert_allclose(prediction.probability(above=0.5, of="function"), share)


def test_rare_events_keep_their_digits_on_both_sides():
    far = Prediction(jnp.zeros((1, 1, 1)), jnp.ones((1, 1, 1)), None, np.array([1e9]))
    for event in ({"above": 1e9 + 8}, {"below": 1e9 - 8}):
        assert far.probability(**event).item() == pytest.approx(stats.norm.sf(8), rel=1e-3)


@pytest.mark.parametrize(
    ("event", "complaint"),
    [
        ({}, "say which event is meant"),
        ({"above": 2.0, "below": 1.0}, "above must be less than below"),
        ({"above": np.inf}, "above must be a finite number"),
    ],
)
def test_events_that_make_no_sense_are_refused(event, complaint):
    with pytest.raises(ValueError, match=complaint):
        _prediction(None).probability(**event)
