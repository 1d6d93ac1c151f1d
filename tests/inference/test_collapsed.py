"""The density with the read-out integrated out, against closed forms and the density of all."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from goodprior import MCLMC, SGHMC, sample_posterior
from goodprior.inference import (
    Categorical,
    Collapsed,
    Density,
    Gaussian,
    Heteroscedastic,
    StudentT,
)
from goodprior.inference.collapsed import log_evidence, solve
from goodprior.networks import MLP, Dense, WithLogNoise
from goodprior.priors import (
    FlowPrior,
    GaussianPrior,
    GibbsHierarchicalPrior,
    LearnedNoise,
    NoiseNetworkPrior,
    NoncentredHierarchicalPrior,
)
from goodprior.priors.noise_network import FunctionAndNoise
from tests.monte_carlo import assert_covariance, assert_mean

KEY = jax.random.key(0)
ROWS, TARGETS = 9, 2
with jax.enable_x64(True):
    X = jnp.asarray(np.random.default_rng(0).normal(size=(ROWS, 3)))
    Y = jnp.asarray(np.random.default_rng(1).normal(size=(ROWS, TARGETS)))
NET = MLP(3, (4,), TARGETS, key=KEY)
BOTH = WithLogNoise(NET, MLP(3, (5,), TARGETS, key=KEY))
SCALES = {"function.layers.1.weight": 1.7, "function.layers.1.bias": 0.4}
SCALES_APART = {f"function.layers.{i}.{kind}": 0.8 for i in (0, 1) for kind in ("weight", "bias")}
CASES = {
    "known noise": (GaussianPrior(NET, 0.8), Gaussian(0.3)),
    "a level of noise": (LearnedNoise(GaussianPrior(NET), targets=TARGETS), Heteroscedastic(1e-3)),
    "noise by a network": (GaussianPrior(BOTH, SCALES), Heteroscedastic(1e-3, 0.2)),
    "hierarchical": (NoncentredHierarchicalPrior(NET), Gaussian(0.3)),
    "flow below the read-out": (
        FlowPrior(NET, on_readout=False, key=jax.random.key(6)),
        Gaussian(0.3),
    ),
    "hierarchical, noise by a network": (NoncentredHierarchicalPrior(BOTH), Heteroscedastic()),
}
each_case = pytest.mark.parametrize("name", CASES)
one_quickly = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "a level of noise" else [pytest.mark.slow])
        for name in CASES
    ],
)


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def latent_of(prior, seed=2):
    return jax.tree.map(lambda leaf: leaf.astype(jnp.float64), prior.sample(jax.random.key(seed)))


def with_readout(density, latent, units):
    """The latent whose read-out is so many prior deviations from zero; a row for each target."""
    weight, bias = density._readout(density.prior.deviations())
    return density._with_readout(latent, [weight * units[:, :-1], bias * units[:, -1]])


def dense_density(prior, likelihood, latent, weights=None):
    """log p(y, latent without read-out) by the N x N covariance of the targets, and no algebra."""
    density = Collapsed(prior, likelihood, ROWS)
    zero = with_readout(density, latent, jnp.zeros((TARGETS, 5)))
    outputs = jax.vmap(prior.weights(zero))(X)
    noise = likelihood.predict(outputs[None]).scale[0]
    value = prior.log_prob(zero)
    for k in range(TARGETS):
        columns = [
            jax.vmap(prior.weights(with_readout(density, latent, unit)))(X)[:, k]
            for unit in jnp.zeros((5, TARGETS, 5)).at[:, k].set(jnp.eye(5))
        ]
        columns = jnp.stack(columns, axis=1)
        covariance = columns @ columns.T + jnp.diag(noise[:, k] ** 2)
        value += jax.scipy.stats.multivariate_normal.logpdf(Y[:, k], jnp.zeros(ROWS), covariance)
    return value


@each_case
def test_the_density_and_its_gradient_are_those_of_the_targets_joint_gaussian(name):
    prior, likelihood = CASES[name]
    density = Collapsed(prior, likelihood, ROWS)
    one, other = latent_of(prior, 2), latent_of(prior, 3)
    found = density(one, X, Y) - density(other, X, Y)
    expected = dense_density(prior, likelihood, one) - dense_density(prior, likelihood, other)
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # scales are in single precision
    gradient = ravel_pytree(jax.grad(density)(one, X, Y))[0]
    wanted = ravel_pytree(jax.grad(lambda latent: dense_density(prior, likelihood, latent))(one))[0]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-5, atol=1e-5)
    assert np.abs(gradient).max() > 0.1


@each_case
def test_the_drawn_readout_has_the_conditional_distribution(name):
    """The density of all weights is Gaussian in the read-out: mode and curvature are known."""
    prior, likelihood = CASES[name]
    density, latent = Collapsed(prior, likelihood, ROWS), latent_of(prior)
    full = Density(prior, likelihood, ROWS)

    def by_units(units):
        return full(with_readout(density, latent, units.reshape(TARGETS, 5)), X, Y)

    zero = jnp.zeros(TARGETS * 5)
    covariance = np.linalg.inv(-jax.hessian(by_units)(zero))
    mean = covariance @ jax.grad(by_units)(zero)
    keys = jax.random.split(jax.random.key(4), 4000)
    drawn = jax.jit(jax.vmap(lambda key: density.complete(key, latent, X, Y)[0]))(keys)
    leaves = zip(density._readout(drawn), density._readout(prior.deviations()), strict=True)
    weight, bias = (leaf / deviation for leaf, deviation in leaves)
    units = np.concatenate([weight, bias[:, :, None]], axis=2).reshape(len(keys), -1)
    assert_mean(units, mean)
    assert_covariance(units, covariance, mean)
    rest = [
        density._with_readout(tree, [None, None])
        for tree in (latent, jax.tree.map(lambda leaf: leaf[0], drawn))
    ]
    assert eqx.tree_equal(*rest)


def test_a_row_that_counts_twice_is_a_row_that_is_there_twice():
    prior, likelihood = CASES["noise by a network"]
    one, other = latent_of(prior, 2), latent_of(prior, 3)
    counts = jnp.array([2.0] * 3 + [1.0] * 5 + [0.0])
    rows = np.repeat(np.arange(ROWS), np.asarray(counts, int))
    weighted, repeated = Collapsed(prior, likelihood, ROWS), Collapsed(prior, likelihood, len(rows))
    np.testing.assert_allclose(
        weighted(one, X, Y, counts) - weighted(other, X, Y, counts),
        repeated(one, X[rows], Y[rows]) - repeated(other, X[rows], Y[rows]),
        rtol=1e-8,
    )


def test_at_a_temperature_the_readout_is_integrated_out_of_the_tempered_density():
    """By quadrature, in one dimension: a read-out without bias and with one feature."""
    network = eqx.tree_at(lambda n: n.layers[1].bias, MLP(3, (1,), 1, key=KEY), None)
    prior, likelihood, temperature = GaussianPrior(network), Gaussian(0.3), 0.4
    y = Y[:, :1]
    collapsed = Collapsed(prior, likelihood, ROWS, temperature)
    full = Density(prior, likelihood, ROWS, temperature)
    grid = jnp.linspace(-12, 12, 4001)

    def by_quadrature(latent):
        def at(value):
            return full(collapsed._with_readout(latent, [value[None, None]]), X, y)

        return jax.scipy.special.logsumexp(jax.vmap(at)(grid))

    one, other = latent_of(prior, 2), latent_of(prior, 5)
    np.testing.assert_allclose(
        collapsed(one, X, y) - collapsed(other, X, y),
        by_quadrature(one) - by_quadrature(other),
        rtol=1e-6,
    )


def test_evidence_with_little_noise_keeps_its_digits():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 30)) * 100 / 1e-3
    y = features @ rng.normal(size=30) + rng.normal(size=200)
    found = float(log_evidence(jnp.asarray(features), jnp.asarray(y)))
    logs = np.linalg.slogdet(np.eye(30) + features.T @ features)[1]
    residual = y - features @ np.linalg.solve(np.eye(30) + features.T @ features, features.T @ y)
    np.testing.assert_allclose(found, -0.5 * (y @ residual + logs), rtol=1e-4)
    assert np.isfinite(solve(jnp.asarray(features), jnp.asarray(y))[1].root).all()


@pytest.mark.parametrize(
    ("prior", "likelihood", "words"),
    [
        (GaussianPrior(NET), StudentT(0.1), "StudentT is not Gaussian"),
        (GaussianPrior(NET), Categorical(2), "Categorical is not Gaussian"),
        (FlowPrior(NET, key=KEY), Gaussian(0.1), "FlowPrior"),
        (GibbsHierarchicalPrior(NET), Gaussian(0.1), "GibbsHierarchicalPrior"),
        (GaussianPrior(Dense(3, 2, key=KEY)), Gaussian(0.1), "Dense has no linear last layer"),
    ],
)
def test_what_cannot_be_integrated_out_is_said(prior, likelihood, words):
    assert words in Collapsed.refuses(prior, likelihood)
    with jax.enable_x64(False):
        y = Y if not likelihood.is_classification else np.arange(ROWS) % 2
        with pytest.raises(ValueError, match=words):
            sample_posterior(
                prior, likelihood, X, y, sampler=SGHMC(batch_size=None), collapse=True, key=KEY
            )


def test_minibatches_are_refused():
    prior, likelihood = CASES["known noise"]
    with jax.enable_x64(False), pytest.raises(ValueError, match="sees 4 rows, not all"):
        sample_posterior(
            prior, likelihood, X, Y, sampler=SGHMC(batch_size=4), collapse=True, key=KEY
        )
    with pytest.raises(ValueError, match="all 9 are needed"):
        Collapsed(prior, likelihood, ROWS)(latent_of(prior), X[:4], Y[:4])


@one_quickly
def test_a_run_goes_on_bit_by_bit_and_keeps_all_weights(name):
    prior, likelihood = CASES[name]
    sampler = MCLMC(burn_in=10, thinning=4, window=5)
    with jax.enable_x64(False):

        def run(draws, **options):
            return sample_posterior(
                *(prior, likelihood, X, Y),
                **{"sampler": sampler, "collapse": True, "key": KEY, "chains": 2, "draws": draws},
                **options,
            )

        whole, part = run(5), run(2)
        resumed = run(5, resume=part)
        assert "drawn exactly" in whole.report.density
        leaves = jax.tree.leaves((whole.draws, whole.probe, whole.run_state))
        others = jax.tree.leaves((resumed.draws, resumed.probe, resumed.run_state))
        for a, b in zip(leaves, others, strict=True):
            np.testing.assert_array_equal(a, b)
        assert {leaf.dtype for leaf in jax.tree.leaves(whole.draws)} == {np.dtype(np.float32)}
        density = Collapsed(prior, likelihood, ROWS)
        for leaf in density._readout(whole.draws):  # new in every draw, finite, not zero
            assert len(np.unique(leaf)) == leaf.size


def test_noise_with_a_network_of_its_own_leaves_the_readout_gaussian():
    function, noise = GaussianPrior(NET, 0.8), GaussianPrior(MLP(3, (5,), TARGETS, key=KEY))
    apart, likelihood = NoiseNetworkPrior(function, noise), Heteroscedastic(1e-3, 0.2)
    assert Collapsed.refuses(apart, likelihood) is None
    together, latent = GaussianPrior(BOTH, SCALES_APART), latent_of(apart)
    same = WithLogNoise(latent.function, latent.log_noise)
    other = WithLogNoise(latent_of(apart, 3).function, latent_of(apart, 4).log_noise)
    split = FunctionAndNoise(other.function, other.log_noise)
    found = [Collapsed(apart, likelihood, ROWS)(each, X, Y) for each in (latent, split)]
    known = [Collapsed(together, likelihood, ROWS)(each, X, Y) for each in (same, other)]
    np.testing.assert_allclose(found[1] - found[0], known[1] - known[0], rtol=1e-6)


def test_student_t_noise_has_row_precisions_that_leave_its_posterior_as_it_is():
    """By quadrature, in one dimension: Gibbs draws of a read-out with one feature."""
    network = eqx.tree_at(lambda n: n.layers[1].bias, MLP(3, (1,), 1, key=KEY), None)
    prior = LearnedNoise(GaussianPrior(network, {"layers.1.weight": 2.0}))
    likelihood, y = Heteroscedastic(1e-3, degrees=3.0), Y[:, :1].at[0].add(6.0)  # one outlier
    latent = latent_of(prior)
    latent = latent._replace(log_variance=jnp.array([-1.5]))
    density = Collapsed(prior, likelihood, ROWS)

    def gibbs(state, key):
        latent, auxiliary = density.complete(key, state[0], X, y, auxiliary=state[1])
        return (latent, auxiliary), latent.inner.layers[1].weight[0, 0]

    keys = jax.random.split(jax.random.key(5), 20_000)
    _, draws = jax.lax.scan(gibbs, (latent, density.auxiliary(y)), keys)
    grid, full = np.linspace(-8, 8, 2001), Density(prior, likelihood, ROWS)

    def at(weight):
        readout = [jnp.reshape(weight, (1, 1))]
        return full(density._with_readout(latent, readout), X, y)

    log_density = jax.vmap(at)(jnp.asarray(grid))
    mass = np.exp(log_density - log_density.max())
    mass /= mass.sum()
    mean = mass @ grid
    batches = np.asarray(draws).reshape(200, 100)  # far longer than the draws' memory
    assert_mean(batches.mean(axis=1), mean)
    assert_mean(((batches - mean) ** 2).mean(axis=1), mass @ (grid - mean) ** 2)
    gaussian = solve(*(part[0] for part in density._linear_model(latent, X, y)[:2]))[1].mean[0] * 2
    assert abs(gaussian - mean) > 10 * batches.mean(axis=1).std() / 200**0.5  # the outlier matters


def test_student_t_noise_is_refused_where_rows_count_more_than_once_or_the_posterior_is_cold():
    prior, likelihood = LearnedNoise(GaussianPrior(NET), targets=TARGETS), Heteroscedastic(1e-3)
    robust = Heteroscedastic(1e-3, degrees=4.0)
    for given in ({"row_weights": np.ones(ROWS)}, {"temperature": 0.5}):
        with pytest.raises(ValueError, match="Student-t noise needs a temperature of 1"):
            sample_posterior(prior, robust, X, Y, key=KEY, sampler=MCLMC(), collapse=True, **given)
    assert Collapsed.refuses_rows(likelihood, 0.5, True) is None
