import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from goodprior.matching import Wasserstein
from goodprior.matching.critic import softplus
from tests.monte_carlo import LIMIT

POINTS = 3


@eqx.filter_jit
def _value_at_the_optimum(metric, step):
    """Of a critic fitted to Gaussians this step apart at every point, on many fresh draws."""

    def pair(i):
        key_ours, key_theirs = jax.random.split(jax.random.fold_in(jax.random.key(0), i))
        functions = jax.random.normal(key_ours, (256, POINTS, 1))
        return functions, jax.random.normal(key_theirs, (256, POINTS, 1)) + step

    state = metric.fit(jax.random.key(2), metric.init(jax.random.key(1), POINTS), pair)
    many = jax.random.normal(jax.random.key(3), (20_000, POINTS, 1))
    return metric(state, many, many + step)


@pytest.mark.slow
def test_the_optimum_between_two_gaussians_is_the_shift_and_what_the_penalty_adds():
    metric = Wasserstein(critic_steps=300)
    for shift in (0.5, 1.0, 4.0):
        found = _value_at_the_optimum(metric, jnp.asarray(shift / np.sqrt(POINTS)))
        expected = shift * (1 + shift / (2 * metric.penalty))
        assert float(found) == pytest.approx(expected, rel=0.05)


FUNCTIONS = jax.random.normal(jax.random.key(4), (20, POINTS, 2))
TARGET = 2 * jax.random.normal(jax.random.key(5), (20, POINTS, 2))


@eqx.filter_jit
def _fit(metric, state, key):
    return metric.fit(key, state, lambda i: (FUNCTIONS, TARGET))


@pytest.mark.slow
def test_several_outputs_share_one_critic_and_are_summed():
    metric = Wasserstein(critic_steps=5, width=20)
    state = _fit(metric, metric.init(jax.random.key(0), POINTS), jax.random.key(1))
    value = jax.jit(metric)
    parts = [value(state, FUNCTIONS[..., [i]], TARGET[..., [i]]) for i in (0, 1)]
    np.testing.assert_allclose(value(state, FUNCTIONS, TARGET), sum(parts), rtol=1e-4)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_softplus_and_its_derivatives_are_those_of_jax(order):
    ours, theirs = softplus, jax.nn.softplus
    for _ in range(order):
        ours, theirs = jax.grad(ours), jax.grad(theirs)
    x = jnp.concatenate([jnp.linspace(-30, 30, 301), jnp.asarray([-1e4, 1e4])])
    np.testing.assert_allclose(jax.vmap(ours)(x), jax.vmap(theirs)(x), rtol=1e-5, atol=1e-6)


def test_the_value_is_the_difference_of_the_critics_means():
    metric = Wasserstein(width=20)
    state = metric.init(jax.random.key(0), POINTS)

    def critic(f):
        for layer in state.critic.layers[:-1]:
            f = np.logaddexp(0, np.asarray(layer.weight) @ f + np.asarray(layer.bias))
        last = state.critic.layers[-1]
        return (np.asarray(last.weight) @ f + np.asarray(last.bias)).item()

    ours, theirs = ([critic(f[:, 0]) for f in np.asarray(s)] for s in (FUNCTIONS, TARGET))
    np.testing.assert_allclose(
        metric(state, FUNCTIONS[..., :1], TARGET[..., :1]),
        np.mean(theirs) - np.mean(ours),
        atol=1e-5,
    )
    assert [layer.weight.shape for layer in state.critic.layers] == [(20, 3), (20, 20), (1, 20)]


def test_the_penalty_holds_the_gradient_at_one():
    """A linear critic of gradient s pays `penalty * (s - 1)^2` wherever it is evaluated."""
    metric = Wasserstein(penalty=7.0)
    direction = jnp.array([[0.6, 0.0, 0.8]])
    linear = eqx.nn.MLP(POINTS, "scalar", 1, 0, use_final_bias=False, key=jax.random.key(0))
    same = FUNCTIONS[..., :1]
    for grad in (0.5, 1.0, 3.0):
        critic = eqx.tree_at(lambda m: m.layers[0].weight, linear, grad * direction)
        loss = metric.loss(critic, jax.random.key(0), same, same)
        np.testing.assert_allclose(loss, 7.0 * (grad - 1) ** 2, atol=1e-4)


def test_of_several_outputs_the_loss_is_summed():
    metric = Wasserstein(penalty=7.0)
    direction = jnp.array([[0.6, 0.0, 0.8]])  # of length one: nothing is paid for it
    linear = eqx.nn.MLP(POINTS, "scalar", 1, 0, use_final_bias=False, key=jax.random.key(0))
    critic = eqx.tree_at(lambda m: m.layers[0].weight, linear, direction)
    means = [np.einsum("p,npo->no", direction[0], s).mean(axis=0) for s in (FUNCTIONS, TARGET)]
    loss = metric.loss(critic, jax.random.key(0), FUNCTIONS, TARGET)
    np.testing.assert_allclose(loss, (means[0] - means[1]).sum(), atol=1e-4)
    steep = eqx.tree_at(lambda m: m.layers[0].weight, linear, 3 * direction)
    paid = metric.loss(steep, jax.random.key(0), FUNCTIONS, FUNCTIONS)
    np.testing.assert_allclose(paid, 2 * 7.0 * (3 - 1) ** 2, rtol=1e-4)


def test_the_penalty_is_paid_between_a_draw_and_its_partner():
    """The critic's gradient is one above zero and two below; only pairs across see both."""
    metric = Wasserstein(penalty=1.0)
    kinked = eqx.nn.MLP(
        1, "scalar", 2, 1, use_bias=False, use_final_bias=False, key=jax.random.key(0)
    )
    kinked = eqx.tree_at(
        lambda m: (m.layers[0].weight, m.layers[1].weight),
        kinked,
        (jnp.array([[1.0], [-1.0]]), jnp.array([[1.0, -2.0]])),
    )
    below, above = jnp.full((4000, 1, 1), -1.0), jnp.full((4000, 1, 1), 1.0)
    value = 1.0 - (-2.0)  # the critic above, less the critic below
    loss = metric.loss(kinked, jax.random.key(0), below, above)
    share = float(loss) + value  # of gradients of two, each paying one
    assert abs(share - 0.5) < LIMIT * 0.5 / np.sqrt(4000)


@pytest.mark.slow
def test_a_critic_that_starts_anew_keeps_its_adagrad_sums():
    metric = Wasserstein(critic_steps=5, width=20, critic_learning_rate=1e-9, restart=True)
    start = metric.init(jax.random.key(0), POINTS)
    first, second = _fit(metric, start, jax.random.key(1)), _fit(metric, start, jax.random.key(2))
    weights = [s.critic.layers[0].weight for s in (start, first, second)]
    assert not np.allclose(weights[0], weights[1])
    assert not np.allclose(weights[1], weights[2])
    again = _fit(metric, first, jax.random.key(2))
    earlier, later = (ravel_pytree(state.optimiser)[0] for state in (first, again))
    assert (later >= earlier).all()
    assert (later > earlier).mean() > 0.9  # the last bias does not matter, its gradient is zero


def test_the_critic_goes_on_from_where_it_was():
    metric = Wasserstein(critic_steps=5, width=20, critic_learning_rate=1e-9)
    start = metric.init(jax.random.key(0), POINTS)
    fitted = _fit(metric, start, jax.random.key(1))
    for before, after in zip(
        jax.tree.leaves(start.critic), jax.tree.leaves(fitted.critic), strict=True
    ):
        np.testing.assert_allclose(before, after, atol=1e-6)


def test_only_redrawing_asks_for_a_pair_per_critic_step():
    assert Wasserstein(critic_steps=5).redraw == 0
    assert Wasserstein(critic_steps=5, redraw_functions=True).redraw == 5


def test_as_published_the_prior_moves_on_functions_that_the_critic_was_not_fitted_to():
    assert Wasserstein(critic_steps=5, restart=True).redraw == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"critic_steps": 0}, "critic_steps must be a whole number of at least 1, got 0"),
        ({"penalty": 0.0}, "penalty must be a finite number above zero, got 0.0"),
        ({"critic_learning_rate": -1.0}, "critic_learning_rate must be a finite number above zero"),
        ({"width": 0}, "width must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_settings_are_refused(settings, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        Wasserstein(**settings)
