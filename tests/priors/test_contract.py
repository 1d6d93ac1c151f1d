"""What samplers and matching ask of every prior, asked of each of them."""

from functools import cache
from itertools import pairwise, product
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree
from scipy import stats

from goodprior.networks import MLP, Architecture
from goodprior.priors import (
    FlowPrior,
    GaussianPrior,
    GibbsHierarchicalPrior,
    HierarchicalPrior,
    LearnedNoise,
    MarginalHierarchicalPrior,
    NoiseNetworkPrior,
    NoncentredHierarchicalPrior,
)
from tests.monte_carlo import assert_mean

PRIORS = {
    "gaussian": lambda network, key: GaussianPrior(network, 0.7),
    "hierarchical": lambda network, key: GibbsHierarchicalPrior(network, 2.0, 1.5),
    "hierarchical, marginal": lambda network, key: MarginalHierarchicalPrior(network, 2.0, 1.5),
    "hierarchical, noncentred": lambda network, key: NoncentredHierarchicalPrior(network, 2.0, 1.5),
    "flow": lambda network, key: FlowPrior(network, flows=2, key=key),
    "flow below a Gaussian read-out": lambda network, key: FlowPrior(
        network, flows=2, on_readout=False, key=key
    ),
    "learned noise over gaussian": lambda network, key: LearnedNoise(GaussianPrior(network)),
    "learned noise over hierarchical": lambda network, key: LearnedNoise(
        GibbsHierarchicalPrior(network, 2.0, 1.5)
    ),
    "with a base": lambda network, key: NoncentredHierarchicalPrior(
        Architecture(network, [np.full(p.shape, 3.0) for p in Architecture(network).parameters])
    ),
    "noise network": lambda network, key: NoiseNetworkPrior(
        GibbsHierarchicalPrior(network, 2.0, 1.5), GaussianPrior(OneWeight(jnp.zeros(1)), 0.5)
    ),
}
each_prior = pytest.mark.parametrize("make", PRIORS.values(), ids=PRIORS.keys())
X = jnp.array([[0.5, -1.0], [2.0, 0.3]])
DRAWS = 40_000


def small_network(seed=0):
    return MLP(2, (3,), 1, key=jax.random.key(seed))


def users_module(seed=0):
    return eqx.nn.MLP(2, 1, 3, 1, activation=jnp.tanh, key=jax.random.key(seed))


class OneWeight(eqx.Module):
    """The smallest network there is: a line through the origin."""

    weight: Float[Array, " one"]

    def __call__(self, x):
        return self.weight * x[:1]


def bent(prior):
    """The same prior somewhere else in the space that matching explores."""
    arrays, rest = eqx.partition(prior, eqx.is_inexact_array)
    flat, unravel = ravel_pytree(arrays)
    moved = flat + 0.5 * np.random.default_rng(5).normal(size=flat.shape)
    return eqx.combine(unravel(moved.astype(jnp.float32)), rest)


class Draw(NamedTuple):
    """A draw, and all that one can ask about it."""

    latent: PyTree
    log_prob: Array
    outputs: Array
    refreshed: PyTree
    refreshed_log_prob: Array


def one_draw(prior, key):
    key_sample, key_refresh = jax.random.split(key)
    latent = prior.sample(key_sample)
    refreshed = prior.refresh(key_refresh, latent)
    outputs = jax.vmap(prior.weights(latent))(X)
    return Draw(latent, prior.log_prob(latent), outputs, refreshed, prior.log_prob(refreshed))


@cache
def many_draws(make) -> tuple[PyTree, Array, Draw]:
    """A prior over one weight, keys, and a draw for each; compiled once for several tests."""
    prior = bent(make(OneWeight(jnp.zeros(1)), jax.random.key(1)))
    keys = jax.random.split(jax.random.key(2), DRAWS)
    draws = jax.jit(jax.vmap(lambda key: one_draw(prior, key)))(keys)
    return prior, keys, jax.tree.map(np.asarray, draws)


def columns(latents) -> np.ndarray:
    """Draws as the rows of a matrix."""
    leaves = [np.reshape(leaf, (len(leaf), -1)) for leaf in jax.tree.leaves(latents)]
    return np.concatenate(leaves, axis=1).astype(np.float64)


@each_prior
@pytest.mark.parametrize("network", [small_network, users_module])
def test_a_latent_stands_for_a_network(make, network):
    prior = make(network(), jax.random.key(1))
    outputs = (
        2 if isinstance(prior, LearnedNoise | NoiseNetworkPrior) else 1
    )  # the last: the log noise variance

    def at_a_point(key):
        return prior.weights(prior.sample(key))(X[0])

    assert jax.eval_shape(at_a_point, jax.random.key(0)).shape == (outputs,)
    functions = jax.eval_shape(lambda key: prior.functions(key, X, 3), jax.random.key(0))
    assert functions.shape == (3, 2, outputs)


@each_prior
def test_the_latent_is_what_is_known_without_drawing(make):
    prior, _, draws = many_draws(make)
    known = jax.eval_shape(prior.sample, jax.random.key(0))
    assert jax.tree.structure(draws.latent) == jax.tree.structure(known)
    for leaf, shape in zip(jax.tree.leaves(draws.latent), jax.tree.leaves(known), strict=True):
        assert jnp.issubdtype(leaf.dtype, jnp.floating)
        assert (leaf.shape[1:], leaf.dtype) == (shape.shape, shape.dtype)


@each_prior
def test_compiled_and_mapped_it_is_the_same(make):
    prior, keys, mapped = many_draws(make)
    for a, b in zip(
        jax.tree.leaves(mapped), jax.tree.leaves(one_draw(prior, keys[0])), strict=True
    ):
        np.testing.assert_allclose(a[0], b, rtol=2e-5, atol=1e-6)


@each_prior
def test_every_key_gives_another_draw(make):
    few = columns(many_draws(make)[2].latent)[:100]
    assert all(len(np.unique(column)) == 100 for column in few.T)


@each_prior
def test_a_start_is_a_latent_where_the_density_is_finite(make):
    prior, keys, draws = many_draws(make)
    first, other = prior.start(keys[0]), prior.start(keys[1])
    assert jax.tree.structure(first) == jax.tree.structure(draws.latent)
    for leaf, draw in zip(jax.tree.leaves(first), jax.tree.leaves(draws.latent), strict=True):
        assert (leaf.shape, leaf.dtype) == (draw.shape[1:], draw.dtype)
    assert np.isfinite(prior.log_prob(first))
    assert not eqx.tree_equal(first, other)


@each_prior
def test_a_chain_starts_at_a_draw_or_with_weights_of_size_one(make):
    """The second where draws can be extreme: under variances that are uncertain."""
    prior, keys, draws = many_draws(make)
    one = jax.jit(jax.vmap(lambda key: prior.weights(prior.start(key))(X[0])[0]))
    found = np.asarray(one(keys[:2000]), np.float64)
    within = getattr(prior, "inner", getattr(prior, "function", prior))
    if isinstance(within, HierarchicalPrior):
        base = 1.0 if within.architecture.base is None else 3.0
        expected = stats.norm(0.0, base * abs(float(X[0, 0])))
        assert stats.kstest(found, expected.cdf).pvalue > 1e-4
    else:
        assert stats.ks_2samp(found, draws.outputs[2000:, 0, 0]).pvalue > 1e-4


@each_prior
def test_a_latent_can_be_had_for_given_weights(make):
    """But for priors with a noise of their own, which weights alone do not tell."""
    prior = bent(make(small_network(), jax.random.key(1)))
    arrays = Architecture(small_network()).normal(jax.random.key(3))
    if isinstance(prior, LearnedNoise | NoiseNetworkPrior):
        with pytest.raises(NotImplementedError, match="has no latent for weights alone"):
            prior.latent_of(arrays)
        return
    latent = prior.latent_of(arrays)
    shapes = jax.eval_shape(prior.sample, jax.random.key(0))
    assert jax.tree.structure(latent) == jax.tree.structure(shapes)
    assert np.isfinite(prior.log_prob(latent))
    wanted = prior.architecture.network(arrays)
    for found, leaf in zip(
        jax.tree.leaves(prior.weights(latent)), jax.tree.leaves(wanted), strict=True
    ):
        np.testing.assert_allclose(found, leaf, atol=2e-5)


@each_prior
def test_log_prob_is_the_density_that_sample_draws_from(make):
    """The share of draws in each cell of a grid is the integral of the density over it."""
    prior, _, mapped = many_draws(make)
    unravel = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], mapped.latent))[1]
    density = jax.jit(jax.vmap(lambda flat: jnp.exp(prior.log_prob(unravel(flat)))))
    scouts, draws = np.split(columns(mapped.latent), [DRAWS // 10])
    edges = np.quantile(scouts, [0.05, 0.3, 0.5, 0.8, 0.95], axis=0)  # where the scouts are
    inside, integrals = [], []
    for cell in product(*(pairwise(e) for e in edges.T)):
        low, high = np.array(cell).T
        inside.append(((draws >= low) & (draws < high)).all(axis=1))
        points, weights = gauss_legendre(low, high, 6)
        integrals.append(np.asarray(density(points), np.float64) @ weights)
    assert_mean(np.stack(inside, axis=1), integrals)


def gauss_legendre(low, high, count):
    """Points and weights that integrate over a box."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    axes = [(l + h) / 2 + (h - l) / 2 * nodes for l, h in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes))
    each = np.prod(np.meshgrid(*[weights] * len(axes), indexing="ij"), axis=0).ravel()
    return jnp.asarray(points, jnp.float32), each * np.prod((high - low) / 2)


@each_prior
def test_log_prob_has_a_gradient_in_the_latent(make):
    prior, _, mapped = many_draws(make)
    latent = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), mapped.latent)
    grad = np.asarray(ravel_pytree(jax.jit(jax.grad(prior.log_prob))(latent))[0])
    assert np.isfinite(grad).all()
    assert (grad != 0).all()


@each_prior
def test_matching_reaches_all_that_is_tuned(make):
    prior = bent(make(small_network(), jax.random.key(1)))
    arrays, rest = eqx.partition(prior, eqx.is_inexact_array)

    @jax.jit
    @jax.grad
    def gradients_of_a_draw(arrays):
        prior = eqx.combine(arrays, rest)
        outputs = jax.vmap(prior.weights(prior.sample(jax.random.key(0))))(X)
        return jnp.tanh(outputs).sum()

    for path, grad in jax.tree_util.tree_leaves_with_path(gradients_of_a_draw(arrays)):
        assert np.isfinite(grad).all(), path
        assert (np.asarray(grad) != 0).all(), path


@each_prior
def test_its_arrays_are_all_that_need_be_saved(make):
    prior = bent(make(small_network(seed=0), jax.random.key(1)))
    saved = [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(prior, eqx.is_inexact_array))]

    another = make(small_network(seed=7), jax.random.key(8))
    arrays, rest = eqx.partition(another, eqx.is_inexact_array)
    leaves = [jnp.asarray(leaf) for leaf in saved]
    rebuilt = eqx.combine(jax.tree.unflatten(jax.tree.structure(arrays), leaves), rest)

    shapes = jax.eval_shape(prior.sample, jax.random.key(0))
    latent = jax.tree.map(lambda s: jnp.linspace(0.1, 2, s.size).reshape(s.shape), shapes)

    @eqx.filter_jit
    def said_of(prior):
        return prior.log_prob(latent), jax.vmap(prior.weights(latent))(X)

    assert not np.allclose(said_of(another)[0], said_of(prior)[0])
    for a, b in zip(said_of(rebuilt), said_of(prior), strict=True):
        np.testing.assert_array_equal(a, b)


@each_prior
def test_moving_says_what_samplers_move(make):
    prior, _, draws = many_draws(make)
    moving, held = eqx.partition(draws.latent, prior.moving)
    assert eqx.tree_equal(eqx.combine(moving, held), draws.latent)
    assert jax.tree.leaves(moving)
    assert bool(jax.tree.leaves(held)) == bool(prior.refresh_every)


@each_prior
def test_refresh_resamples_what_is_held_and_nothing_else(make):
    prior, _, draws = many_draws(make)
    assert jax.tree.structure(draws.refreshed) == jax.tree.structure(draws.latent)
    moving, held = eqx.partition(draws.latent, prior.moving)
    moving_after, held_after = eqx.partition(draws.refreshed, prior.moving)
    assert eqx.tree_equal(moving_after, moving)
    for before, after in zip(jax.tree.leaves(held), jax.tree.leaves(held_after), strict=True):
        assert before.shape == after.shape
        assert np.mean(before == after) < 1e-3


@each_prior
def test_refresh_leaves_the_prior_as_it_is(make):
    """A draw that is refreshed is again a draw: its log density has the same mean and square."""
    prior, _, draws = many_draws(make)
    before, after = draws.log_prob, draws.refreshed_log_prob
    if prior.refresh_every:
        assert_mean(np.stack([after - before, after**2 - before**2], axis=1), 0.0)
    else:
        np.testing.assert_array_equal(before, after)


@each_prior
def test_strain_grows_as_the_tuned_scales_leave_one(make):
    plain = make(small_network(), jax.random.key(1))
    far = jax.tree.map(lambda leaf: leaf + 3 if eqx.is_inexact_array(leaf) else leaf, plain)
    straight, strained = (eqx.filter_jit(lambda p: p.scale_penalty())(p) for p in (plain, far))
    assert 0 <= straight < strained


def test_a_prior_that_has_one_form_is_the_same_object_in_every_form():
    """Estimators tell by that whether a prior that they were given is used as it is."""
    gaussian = GaussianPrior(small_network())
    both = NoiseNetworkPrior(gaussian, GaussianPrior(small_network(1)))
    for prior in (gaussian, both):
        assert prior.in_form("noncentred") is prior
    hierarchical = NoiseNetworkPrior(GibbsHierarchicalPrior(small_network()), both.log_noise)
    assert isinstance(hierarchical.in_form("noncentred").function, NoncentredHierarchicalPrior)
