import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from goodprior.beliefs import GaussianProcess, Grid, rbf
from goodprior.matching import MatchSchedule, match
from goodprior.networks import MLP, Dense
from goodprior.priors import GaussianPrior
from goodprior.priors.gaussian import softplus_inverse
from tests.monte_carlo import assert_covariance, assert_mean

SCALES = {
    "layers.0.weight": 1.5,
    "layers.0.bias": 0.7,
    "layers.1.weight": 2.0,
    "layers.1.bias": 0.3,
}


def test_log_prob_is_the_sum_of_normal_log_densities():
    prior = GaussianPrior(MLP(2, (5,), 3, key=jax.random.key(0)), SCALES)
    latent = jax.tree.map(lambda leaf: leaf + 0.2, prior.sample(jax.random.key(1)))
    expected = sum(
        stats.norm.logpdf(np.asarray(leaf, np.float64), scale=scale).sum()
        for leaf, scale in zip(jax.tree.leaves(latent), SCALES.values(), strict=True)
    )
    np.testing.assert_allclose(prior.log_prob(latent), expected, rtol=1e-6)


def test_log_prob_is_the_density_that_sample_draws_from():
    prior = GaussianPrior(Dense(1, 1, use_bias=False, key=jax.random.key(0)), 0.6)
    draws = jax.jit(jax.vmap(lambda key: prior.sample(key).weight[0, 0]))(
        jax.random.split(jax.random.key(1), 50_000)
    )
    edges = np.linspace(-2, 2, 21)
    inside = (np.asarray(draws)[:, None] >= edges[:-1]) & (np.asarray(draws)[:, None] < edges[1:])

    def density(value):
        latent = eqx.tree_at(lambda d: d.weight, prior.sample(jax.random.key(0)), value[None, None])
        return jnp.exp(prior.log_prob(latent))

    fine = np.linspace(-2, 2, 2001)
    heights = np.asarray(jax.jit(jax.vmap(density))(jnp.asarray(fine, jnp.float32)), np.float64)
    areas = 0.5 * (heights[1:] + heights[:-1]) * np.diff(fine)
    assert_mean(inside, areas.reshape(20, 100).sum(axis=1))


def test_each_parameter_is_drawn_with_its_own_scale():
    prior = GaussianPrior(MLP(2, (3,), 1, key=jax.random.key(0)), SCALES)
    latents = jax.jit(jax.vmap(prior.sample))(jax.random.split(jax.random.key(1), 40_000))
    flat = np.concatenate([leaf.reshape(40_000, -1) for leaf in jax.tree.leaves(latents)], axis=1)
    scales = np.repeat(list(SCALES.values()), [6, 3, 3, 1])
    assert_covariance(flat, np.diag(scales**2))


@pytest.mark.parametrize("width", [3, 200])
def test_an_erf_network_has_the_arcsine_covariance(width):
    """Williams (1996), equation 11; exact at any width for the covariance, in our NTK scaling."""
    prior = GaussianPrior(MLP(2, (width,), 1, activation="erf", key=jax.random.key(0)), SCALES)
    x = np.array([[0.0, 0.0], [1.0, -0.5], [-2.0, 1.0], [3.0, 3.0]])
    draws = eqx.filter_jit(prior.functions)(jax.random.key(1), jnp.asarray(x, jnp.float32), 20_000)
    w, b, v, c = SCALES.values()
    inner = b**2 + w**2 * x @ x.T / 2
    norms = 1 + 2 * np.diag(inner)
    arcsine = 2 / np.pi * np.arcsin(2 * inner / np.sqrt(np.outer(norms, norms)))
    assert_covariance(draws[..., 0], c**2 + v**2 * arcsine)


def test_functions_are_those_of_the_drawn_networks():
    prior = GaussianPrior(MLP(1, (4,), 2, key=jax.random.key(0)))
    x = jnp.array([[0.5], [-1.0]])
    functions = eqx.filter_jit(prior.functions)(jax.random.key(2), x, 3)
    assert functions.shape == (3, 2, 2)
    for key, function in zip(jax.random.split(jax.random.key(2), 3), functions, strict=True):
        network = prior.weights(prior.sample(key))
        np.testing.assert_allclose(function, jax.jit(jax.vmap(network))(x), atol=1e-6)


def test_draws_can_be_differentiated_in_the_scales():
    prior = GaussianPrior(Dense(1, 1, use_bias=False, key=jax.random.key(0)), 0.6)
    value, grad = jax.value_and_grad(
        lambda raw: (
            eqx.tree_at(lambda p: p.raw_scales, prior, raw).sample(jax.random.key(3)).weight.sum()
        )
    )(prior.raw_scales)
    step = 1 - np.exp(-0.6)  # the grad of softplus where it is 0.6
    np.testing.assert_allclose(grad, [value / 0.6 * step], rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-4, 0.1, 1.0, 30.0])
def test_softplus_inverse_inverts(scale):
    np.testing.assert_allclose(
        jax.nn.softplus(softplus_inverse(jnp.array(scale))), scale, rtol=1e-5
    )


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (0.0, "the scale of layers.0.weight must be a finite number above zero, got 0.0"),
        (-1.0, "above zero, got -1.0"),
        (float("inf"), "above zero, got inf"),
        ({"layers.0.bias": -2.0}, "the scale of layers.0.bias must be"),
        ({"layers.7.bias": 1.0}, r"scale names \['layers.7.bias'\], but the network has"),
    ],
)
def test_bad_scales_are_refused(scale, message):
    with pytest.raises(ValueError, match=message):
        GaussianPrior(MLP(1, (2,), 1, key=jax.random.key(0)), scale)


@pytest.mark.slow
def test_fixed_scales_stay_as_they_are_when_the_others_are_matched():
    network = MLP(1, (10,), 1, key=jax.random.key(0))
    prior = GaussianPrior(network, SCALES, fixed=("layers.0.weight", "layers.1.bias"))
    belief, points = GaussianProcess(rbf(0.5)), Grid([-1], [1], 10)
    how = {"schedule": MatchSchedule(steps=10), "held_out": 0}
    matched = match(prior, belief, points, key=jax.random.key(1), **how).prior
    assert isinstance(matched, GaussianPrior)
    same = {name for name, scale in matched.scales.items() if scale == prior.scales[name]}
    assert same == {"layers.0.weight", "layers.1.bias"}


def test_a_fixed_scale_must_be_one_of_the_network():
    with pytest.raises(ValueError, match=r"fixed names \['weights'\], but the network has"):
        GaussianPrior(MLP(1, (10,), 1, key=jax.random.key(0)), fixed=("weights",))
