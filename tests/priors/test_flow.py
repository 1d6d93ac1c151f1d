import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float
from scipy import integrate, stats

from goodprior.inference import SGHMC, Gaussian, sample_posterior
from goodprior.networks import MLP
from goodprior.priors import FlowPrior
from goodprior.priors.flow import PlanarFlow
from tests.monte_carlo import assert_mean


class Line(eqx.Module):
    """Two weights in one layer: intercept and grad."""

    weight: Float[Array, " two"]

    def __call__(self, x):
        return self.weight[:1] + self.weight[1:] * x


def strong(prior, seed, size):
    """The prior with flows that bend a lot: pushes and directions of this size."""
    arrays, rest = eqx.partition(prior.flows, eqx.is_inexact_array)
    rng = np.random.default_rng(seed)
    bent = jax.tree.map(lambda a: jnp.asarray(size * rng.normal(size=a.shape), jnp.float32), arrays)
    return eqx.tree_at(lambda p: p.flows, prior, eqx.combine(bent, rest))


def on_a_line():
    return strong(FlowPrior(Line(jnp.zeros(2)), flows=3, key=jax.random.key(0)), seed=8, size=1.0)


def on_fifty_weights():
    network = MLP(5, (7,), 1, key=jax.random.key(0))
    return strong(FlowPrior(network, flows=2, key=jax.random.key(1)), seed=0, size=0.5)


def flow_with(push, direction, offset=0.0):
    """A flow with these numbers."""
    return eqx.tree_at(
        lambda f: (f.push, f.direction, f.offset),
        PlanarFlow(len(push), key=jax.random.key(0)),
        tuple(jnp.asarray(a, jnp.float32) for a in (push, direction, offset)),
    )


@pytest.fixture
def base_draws():
    return jax.random.normal(jax.random.key(3), (20, 50))


@pytest.fixture
def flow():
    rng = np.random.default_rng(1)
    return flow_with(rng.normal(size=50), 0.4 * rng.normal(size=50), 0.3)


def test_a_new_flow_is_near_the_identity_along_a_direction_of_length_one():
    size = 4000
    flow = PlanarFlow(size, key=jax.random.key(0))
    for vector, expected in ((flow.direction, 1 / size), (flow.push, 0.01**2)):
        assert_mean(np.asarray(vector)[:, None], 0.0)
        assert_mean(np.asarray(vector)[:, None] ** 2, expected)
    assert flow.offset == 0


def test_log_det_is_that_of_the_jacobian(flow, base_draws):
    jacobians = jax.jit(jax.vmap(jax.jacfwd(flow)))(base_draws)
    signs, logarithms = np.linalg.slogdet(np.asarray(jacobians, np.float64))
    assert (signs > 0).all()
    assert np.ptp(logarithms) > 0.3  # the flow does something
    log_dets = jax.jit(jax.vmap(flow.log_det))(base_draws)
    np.testing.assert_allclose(log_dets, logarithms, atol=1e-4)


def test_the_inverse_inverts(flow, base_draws):
    again = jax.jit(jax.vmap(lambda z: flow.inverse(flow(z))))(base_draws)
    np.testing.assert_allclose(again, base_draws, atol=1e-4)


def test_a_push_of_zero_is_the_identity(base_draws):
    flow = flow_with(np.zeros(50), np.ones(50))
    np.testing.assert_allclose(flow.u, 0, atol=1e-7)
    np.testing.assert_allclose(flow(base_draws[0]), base_draws[0], atol=1e-6)


@pytest.mark.parametrize("dim", [1, 2, 50])
@pytest.mark.parametrize("push_size", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("direction_size", [1e-3, 1.0, 30.0])
def test_every_number_gives_an_invertible_flow(dim, push_size, direction_size):
    """`direction . u > -1`, and the log determinant is finite where the flow compresses most."""
    pushes, directions = np.random.default_rng(0).normal(size=(2, 100, dim)).astype(np.float32)

    @jax.jit
    @jax.vmap
    def u_and_log_det(push, direction):
        flow = flow_with(push, direction)
        return flow.u, flow.log_det(jnp.zeros(dim))

    pushes, directions = push_size * pushes, direction_size * directions
    u, log_det = u_and_log_det(jnp.asarray(pushes), jnp.asarray(directions))
    assert ((directions.astype(np.float64) * np.asarray(u, np.float64)).sum(axis=1) > -1).all()
    assert np.isfinite(log_det).all()


@pytest.mark.parametrize(
    ("push", "direction"), [([-1e6, 0], [1e6, 0]), ([3.0, 1.0], [0.0, 0.0]), ([1e6, 1], [1e-6, 1])]
)
def test_extreme_numbers_leave_everything_finite(push, direction):
    z = jnp.array([0.0, 0.5])
    value, grad = jax.value_and_grad(lambda f: f(z).sum() + f.log_det(z))(
        flow_with(push, direction)
    )
    assert np.isfinite(value)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(grad))


def test_the_density_of_weights_is_that_of_the_draws_in_two_dimensions():
    """Each cell of a histogram holds the share that the density's integral over it says."""
    prior, count = on_a_line(), 100_000
    draw = jax.jit(jax.vmap(lambda key: prior.weights(prior.sample(key)).weight))
    draws = np.asarray(draw(jax.random.split(jax.random.key(1), count)), np.float64)
    edges = [np.linspace(*np.quantile(draws[:, i], [0.002, 0.998]), 16) for i in range(2)]
    shares = np.histogram2d(*draws.T, bins=edges)[0] / count

    fine = [np.linspace(e[0], e[-1], 15 * 20 + 1) for e in edges]
    points = np.stack(np.meshgrid(*fine, indexing="ij"), -1)
    heights = weights_density(prior)(points.reshape(-1, 2)).reshape(301, 301)
    corners = heights[:-1, :-1] + heights[1:, :-1] + heights[:-1, 1:] + heights[1:, 1:]
    areas = corners / 4 * np.diff(fine[0])[0] * np.diff(fine[1])[0]
    expected = areas.reshape(15, 20, 15, 20).sum(axis=(1, 3))

    filled = expected * count > 20
    assert filled.sum() > 60
    errors = np.sqrt(expected * (1 - expected) / count)
    z = ((shares - expected) / errors)[filled]
    assert np.abs(z).max() < 4.5
    assert stats.chi2(len(z)).sf((z**2).sum()) > 1e-3
    # The flows are strong: no Gaussian looks like this.
    assert np.abs(stats.skew(draws)).max() > 0.3


def weights_density(prior):
    """The density of intercept and grad, for many pairs at once."""

    def one(pair):
        return jnp.exp(prior.weights_log_prob(prior.architecture.arrays(pair)))

    many = jax.jit(jax.vmap(one))
    return lambda points: np.asarray(many(jnp.asarray(points, jnp.float32)), np.float64)


def test_the_density_of_weights_takes_all_flows_of_all_layers_into_account():
    prior = on_fifty_weights()
    assert prior.architecture.size == 50

    def push(flat):
        network = prior.weights(prior.architecture.arrays(flat))
        leaves = prior.architecture.leaves(eqx.filter(network, eqx.is_inexact_array))
        return jnp.concatenate([leaf.ravel() for leaf in leaves])

    @jax.jit
    @jax.vmap
    def both(z):
        latent = prior.architecture.arrays(z)
        said = prior.weights_log_prob(prior.architecture.arrays(push(z)))
        return said, prior.log_prob(latent), jax.jacfwd(push)(z)

    said, base, jacobian = both(jax.random.normal(jax.random.key(4), (5, 50)))
    _, log_det = np.linalg.slogdet(np.asarray(jacobian, np.float64))
    assert np.ptp(log_det) > 0.5
    np.testing.assert_allclose(said, base - log_det, rtol=1e-4)


@pytest.mark.slow
def test_the_posterior_in_base_space_is_that_of_the_weights():
    """Moments of intercept and grad, against quadrature over the weights themselves."""
    prior, noise_variance = on_a_line(), 0.5
    X = np.array([[-1.0], [0.0], [0.5], [1.5]])
    y = np.array([[0.2], [-0.5], [0.4], [1.0]])
    posterior = sample_posterior(
        prior,
        Gaussian(noise_variance),
        X,
        y,
        key=jax.random.key(2),
        sampler=SGHMC(
            0.05, 0.05, gradient_noise="none", burn_in=1000, thinning=200, batch_size=None
        ),
        chains=200,
        draws=20,
    )
    at_zero, at_one = np.moveaxis(posterior.functions([[0.0], [1.0]])[..., 0], -1, 0)
    w = np.stack([at_zero, at_one - at_zero]).reshape(2, 200, 20)
    moments = np.stack([w[0], w[1], w[0] ** 2, w[1] ** 2, w[0] * w[1]], axis=-1)

    axis = np.linspace(-6, 6, 601)
    a, b = np.meshgrid(axis, axis, indexing="ij")
    prior_density = weights_density(prior)(np.stack([a, b], -1).reshape(-1, 2)).reshape(a.shape)
    residuals = y - (a[..., None, None] + b[..., None, None] * X)
    heights = prior_density * np.exp(-0.5 / noise_variance * (residuals**2).sum(axis=(-2, -1)))

    def mean(values):
        return integrate.trapezoid(integrate.trapezoid(values * heights, axis), axis)

    exact = [mean(m) / mean(1.0) for m in (a, b, a**2, b**2, a * b)]
    assert_mean(moments.mean(axis=1), exact)  # chains are independent


def test_at_least_one_flow_is_asked_for():
    with pytest.raises(ValueError, match="flows must be a whole number of at least 1, got 0"):
        FlowPrior(Line(jnp.zeros(2)), flows=0, key=jax.random.key(0))


def test_without_flows_on_it_the_last_layer_is_gaussian_whatever_the_others_are():
    network, key = MLP(2, (3,), 1, key=jax.random.key(0)), jax.random.key(1)
    below = strong(FlowPrior(network, 2, on_readout=False, key=key), seed=0, size=0.5)
    assert list(below.flows) == ["layers.0"]
    assert list(FlowPrior(network, 2, key=key).flows) == ["layers.0", "layers.1"]
    latent = below.sample(key)
    weights = below.weights(latent)
    np.testing.assert_array_equal(weights.layers[1].weight, latent.layers[1].weight)
    assert np.abs(weights.layers[0].weight - latent.layers[0].weight).max() > 0.01
    part = below.gaussian_part(latent)
    assert part.layers[0].weight is None
    assert part.layers[1].bias is latent.layers[1].bias


def test_a_network_of_the_last_layer_alone_may_have_no_flows():
    prior = FlowPrior(MLP(2, (), 1, key=jax.random.key(0)), on_readout=False, key=jax.random.key(1))
    assert prior.flows == {}
    assert prior.scale_penalty() == prior.base.scale_penalty()
    assert prior.functions(jax.random.key(2), jnp.zeros((3, 2)), 4).shape == (4, 3, 1)


def test_the_penalty_on_scales_has_the_squared_lengths_of_the_flows_moves():
    prior = on_fifty_weights()
    moves = [flow.u for flows in prior.flows.values() for flow in flows]
    expected = float(prior.base.scale_penalty()) + sum(float(jnp.sum(u * u)) for u in moves)
    np.testing.assert_allclose(float(prior.scale_penalty()), expected, rtol=1e-5)
