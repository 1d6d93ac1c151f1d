import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.networks import Dense


@pytest.mark.parametrize("use_bias", [True, False])
def test_a_dense_layer_divides_by_the_root_of_its_fan_in(use_bias):
    layer = Dense(3, 2, use_bias=use_bias, key=jax.random.key(0))
    x = np.array([0.5, -1.0, 2.0])
    expected = np.asarray(layer.weight) @ x / np.sqrt(3)
    if use_bias:
        bias = np.array([0.3, -0.7])
        layer = eqx.tree_at(lambda layer: layer.bias, layer, jnp.asarray(bias, jnp.float32))
        expected = expected + bias
    np.testing.assert_allclose(layer(jnp.asarray(x, jnp.float32)), expected, rtol=1e-6)


def test_weights_start_standard_normal_and_biases_at_zero():
    layer = Dense(100, 200, key=jax.random.key(1))
    weights = np.asarray(layer.weight).ravel()
    assert abs(weights.mean()) * np.sqrt(len(weights)) < 4
    assert abs(weights.var() - 1) / np.sqrt(2 / len(weights)) < 4
    assert not np.asarray(layer.bias).any()


@pytest.mark.parametrize(("inputs", "outputs"), [(0, 1), (1, 0), (-2, 3)])
def test_a_layer_without_inputs_or_outputs_is_refused(inputs, outputs):
    with pytest.raises(ValueError, match=f"at least one input .* got {inputs} -> {outputs}"):
        Dense(inputs, outputs, key=jax.random.key(0))
