import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from goodprior.networks import ACTIVATIONS, MLP

IN_NUMPY = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "erf": special.erf,
    "sin": np.sin,
    "swish": lambda x: x * special.expit(x),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "softplus": lambda x: np.logaddexp(0, x),
    "identity": lambda x: x,
}


def test_every_activation_has_a_test():
    assert set(IN_NUMPY) == set(ACTIVATIONS)


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_an_mlp_is_dense_layers_with_activations_between(activation):
    network = MLP(3, (5, 4), 2, activation=activation, key=jax.random.key(0))
    network = jax.tree.map(lambda leaf: leaf + 0.1, network)  # biases away from zero
    x = value = np.array([0.3, -1.2, 0.8])
    for layer in network.layers[:-1]:
        value = IN_NUMPY[activation](_dense(layer, value))
    np.testing.assert_allclose(
        network(jnp.asarray(x, jnp.float32)), _dense(network.layers[-1], value), atol=1e-5
    )


def test_an_activation_may_be_any_function():
    x, key = jnp.array([0.3, -1.2, 0.8]), jax.random.key(0)
    named, given = (MLP(3, (5,), 2, activation=a, key=key) for a in ("erf", jax.scipy.special.erf))
    np.testing.assert_array_equal(eqx.filter_jit(named)(x), eqx.filter_jit(given)(x))
    with pytest.raises(ValueError, match=r"activation must be one of .* or a function, got 'rleu'"):
        MLP(3, (5,), 2, activation="rleu", key=key)


def test_an_mlp_without_hidden_layers_is_linear():
    network = MLP(2, (), 1, key=jax.random.key(0))
    x = jnp.array([1.0, 2.0])
    np.testing.assert_allclose(network(3 * x), 3 * network(x), rtol=1e-6)


def test_layers_have_different_random_weights():
    network = MLP(4, (4, 4), 4, key=jax.random.key(0))
    weights = [np.asarray(layer.weight) for layer in network.layers]
    assert not np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[1], weights[2])


def _dense(layer, x):
    weight, bias = np.asarray(layer.weight, np.float64), np.asarray(layer.bias, np.float64)
    return weight @ x / np.sqrt(weight.shape[1]) + bias
