import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from goodprior.networks import Dense
from goodprior.priors import (
    GibbsHierarchicalPrior,
    MarginalHierarchicalPrior,
    NoncentredHierarchicalPrior,
)
from goodprior.priors.gaussian import softplus_inverse
from goodprior.priors.hierarchical import UnitsAndLogVariances, WeightsAndVariances
from tests.monte_carlo import assert_mean

FORMS = {
    "gibbs": GibbsHierarchicalPrior,
    "marginal": MarginalHierarchicalPrior,
    "noncentred": NoncentredHierarchicalPrior,
}
SHAPES = np.array([1.3, 3.0])  # of weight and bias
RATES = np.array([0.4, 2.5])
COUNT = 20_000


def make(form="gibbs"):
    """A prior that has been tuned: three weights and a bias, each group with its own numbers."""
    prior = FORMS[form](Dense(3, 1, key=jax.random.key(0)))
    raw = [softplus_inverse(jnp.asarray(v, jnp.float32)) for v in (SHAPES, RATES)]
    return eqx.tree_at(lambda p: (p.raw_shapes, p.raw_rates), prior, tuple(raw))


def arrays_of(prior, weight, bias):
    flat = jnp.asarray([*np.ravel(weight), *np.ravel(bias)], jnp.float32)
    return prior.architecture.arrays(flat)


WEIGHT, BIAS = np.array([0.5, -1.2, 0.3]), np.array([0.8])


def log_variances(shapes, rates, key):
    """Of one draw, as a function of the tuned numbers, with the draw itself."""
    raw = softplus_inverse(shapes), softplus_inverse(rates)
    latent = eqx.tree_at(lambda p: (p.raw_shapes, p.raw_rates), make(), raw).sample(key)
    return jnp.log(latent.variances).sum(), latent


@pytest.fixture(scope="module")
def gradients_and_draws():
    """Compiled once for several tests."""
    one = jax.grad(log_variances, argnums=(0, 1), has_aux=True)
    many = jax.jit(jax.vmap(one, in_axes=(None, None, 0)))
    numbers = (jnp.asarray(v, jnp.float32) for v in (SHAPES, RATES))
    return many(*numbers, jax.random.split(jax.random.key(1), COUNT))


@pytest.fixture
def draws(gradients_and_draws):
    return gradients_and_draws[1]


def assert_distributed(samples, distribution):
    assert stats.kstest(np.asarray(samples, np.float64), distribution.cdf).pvalue > 1e-4


def test_variances_are_inverse_gamma(draws):
    for i, (shape, rate) in enumerate(zip(SHAPES, RATES, strict=True)):
        assert_distributed(draws.variances[:, i], stats.invgamma(shape, scale=rate))


def test_each_weight_is_student_t(draws):
    leaves = (draws.weights.weight.reshape(COUNT, -1), draws.weights.bias)
    for leaf, shape, rate in zip(leaves, SHAPES, RATES, strict=True):
        for column in leaf.T:
            assert_distributed(column, stats.t(2 * shape, scale=np.sqrt(rate / shape)))


def test_the_weights_of_a_parameter_share_their_variance(draws):
    """Given it they are Gaussian: the squared length of three is its chi-squared."""
    ratios = (draws.weights.weight**2).sum(axis=(1, 2)) / draws.variances[:, 0]
    assert_distributed(ratios, stats.chi2(3))


def test_the_marginal_density_is_multivariate_student_t():
    prior = make("marginal")
    expected = sum(
        stats.multivariate_t.logpdf(w, shape=rate / shape * np.eye(len(w)), df=2 * shape)
        for w, shape, rate in zip((WEIGHT, BIAS), SHAPES, RATES, strict=True)
    )
    np.testing.assert_allclose(prior.log_prob(arrays_of(prior, WEIGHT, BIAS)), expected, rtol=1e-5)


def test_the_joint_density_is_gaussian_times_inverse_gamma():
    prior, variances = make(), np.array([0.3, 1.7])
    expected = sum(
        stats.norm.logpdf(w, scale=np.sqrt(v)).sum() + stats.invgamma.logpdf(v, a, scale=b)
        for w, v, a, b in zip((WEIGHT, BIAS), variances, SHAPES, RATES, strict=True)
    )
    latent = WeightsAndVariances(
        arrays_of(prior, WEIGHT, BIAS), jnp.asarray(variances, jnp.float32)
    )
    np.testing.assert_allclose(prior.log_prob(latent), expected, rtol=1e-5)


def test_the_marginal_density_is_the_integral_of_the_joint_one():
    joint, marginal = make(), make("marginal")
    weights = arrays_of(joint, WEIGHT, BIAS)
    log_v = np.linspace(-8, 25, 400)
    grid = np.stack(np.meshgrid(log_v, log_v, indexing="ij"), -1).reshape(-1, 2)

    def log_integrand(log_variances):
        latent = WeightsAndVariances(weights, jnp.exp(log_variances))
        return joint.log_prob(latent) + log_variances.sum()

    values = jax.jit(jax.vmap(log_integrand))(jnp.asarray(grid, jnp.float32))
    integral = np.exp(np.asarray(values, np.float64)).sum() * (log_v[1] - log_v[0]) ** 2
    np.testing.assert_allclose(np.log(integral), marginal.log_prob(weights), rtol=1e-4)


def test_refresh_draws_from_the_conditional_of_the_variances():
    """InverseGamma(shape + n / 2, rate + sum w^2 / 2), of the constrained shape and rate."""
    prior = make()
    latent = WeightsAndVariances(arrays_of(prior, WEIGHT, BIAS), jnp.array([9.0, 9.0]))
    refresh = jax.jit(jax.vmap(lambda key: prior.refresh(key, latent).variances))
    variances = refresh(jax.random.split(jax.random.key(2), COUNT))
    for i, w in enumerate((WEIGHT, BIAS)):
        conditional = stats.invgamma(SHAPES[i] + len(w) / 2, scale=RATES[i] + (w**2).sum() / 2)
        assert_distributed(variances[:, i], conditional)
    assert abs(stats.pearsonr(*np.log(variances).T).statistic) < 4 / np.sqrt(COUNT)


def test_a_gibbs_chain_starts_with_variances_that_fit_its_weights():
    """Weights N(0, 1), and given these each variance is a draw of its conditional."""
    prior = make()
    starts = jax.jit(jax.vmap(prior.start))(jax.random.split(jax.random.key(4), 2000))
    groups = (starts.weights.weight.reshape(2000, 3), starts.weights.bias)
    for i, weights in enumerate(groups):
        squares = np.sum(np.asarray(weights, np.float64) ** 2, axis=1)
        conditional = stats.invgamma(SHAPES[i] + weights.shape[1] / 2, scale=RATES[i] + squares / 2)
        assert_distributed(weights.ravel(), stats.norm())
        assert_distributed(conditional.cdf(starts.variances[:, i]), stats.uniform())


def test_the_penalty_is_the_sum_over_shapes_and_rates_that_is_described():
    logs = 10 * np.log(SHAPES) ** 2 + np.log(RATES) ** 2
    assert make().scale_penalty() == pytest.approx(logs.sum(), rel=1e-4)
    below = eqx.tree_at(
        lambda p: p.raw_shapes, make(), softplus_inverse(jnp.array([0.4, 3.0], jnp.float32))
    )
    expected = 10 * np.log([0.4, 3.0]) ** 2 + np.log(RATES) ** 2
    expected = expected.sum() + 10_000 * np.log(0.5 / 0.4) ** 2
    assert below.scale_penalty() == pytest.approx(expected, rel=1e-4)


def test_draws_can_be_differentiated_in_shape_and_rate(gradients_and_draws):
    """E log variance = log rate - digamma(shape), so the mean gradients are known."""
    by_shape, by_rate = gradients_and_draws[0]
    assert_mean(by_shape, -special.polygamma(1, SHAPES))
    np.testing.assert_allclose(by_rate, np.broadcast_to(1 / RATES, (COUNT, 2)), rtol=1e-4)


def test_the_noncentred_density_is_the_joint_one_in_other_coordinates():
    joint, noncentred = make(), make("noncentred")
    units, logs = arrays_of(joint, WEIGHT, BIAS), jnp.array([-0.7, 1.9])
    latent = UnitsAndLogVariances(units, logs)
    weights = joint.architecture.scaled(units, jnp.exp(logs / 2))
    stretch = logs @ (jnp.array([3, 1]) / 2 + 1)  # of weights by units, and of variances by logs
    expected = joint.log_prob(WeightsAndVariances(weights, jnp.exp(logs))) + stretch
    np.testing.assert_allclose(noncentred.log_prob(latent), expected, rtol=1e-5)


def test_all_forms_draw_the_same_functions():
    key, x = jax.random.key(3), jnp.array([[0.3, -1.0, 2.0]])
    plain = make().functions(key, x, 5)
    for form in ("marginal", "noncentred"):
        np.testing.assert_allclose(make(form).functions(key, x, 5), plain, rtol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_a_tuned_prior_can_change_its_form(form):
    for before in FORMS:
        other = make(before).in_form(form, refresh_every=7)
        assert type(other) is FORMS[form]
        assert other.refresh_every == (7 if form == "gibbs" else 0)
        np.testing.assert_allclose(other.shapes, SHAPES, rtol=1e-5)
        np.testing.assert_allclose(other.rates, RATES, rtol=1e-5)


def test_a_change_of_form_keeps_how_often_variances_are_drawn():
    prior = GibbsHierarchicalPrior(Dense(3, 1, key=jax.random.key(0)), refresh_every=7)
    assert prior.in_form("gibbs").refresh_every == 7
    assert prior.in_form("noncentred").in_form("gibbs").refresh_every == 100
    with pytest.raises(ValueError, match="refresh_every must be a whole number of at least 1"):
        prior.in_form("gibbs", refresh_every=0)


def test_an_unknown_form_is_refused(as_users_run_it):
    with pytest.raises(ValueError, match="form must be one of gibbs, marginal, noncentred; got"):
        make().in_form("centred")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": 0.0}, "shape must be a finite number above zero, got 0.0"),
        ({"rate": float("nan")}, "rate must be a finite number above zero, got nan"),
        ({"refresh_every": 0}, "refresh_every must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_settings_are_refused(arguments, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        GibbsHierarchicalPrior(Dense(1, 1, key=jax.random.key(0)), **arguments)
