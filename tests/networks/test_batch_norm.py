import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.networks import MLP, BatchNorm, Dense, batch_statistics, outputs, with_statistics

X = 5 + 3 * jax.random.normal(jax.random.key(3), (20, 4))


class Normalised(eqx.Module):
    """Two dense layers with a normalisation before each."""

    layers: tuple[Dense, Dense]
    norms: tuple[BatchNorm, BatchNorm]

    def __init__(self):
        first, second = jax.random.split(jax.random.key(0))
        self.layers = Dense(4, 6, key=first), Dense(6, 2, key=second)
        self.norms = BatchNorm(), BatchNorm()

    def __call__(self, x):
        x = self.layers[0](self.norms[0](x))
        return self.layers[1](self.norms[1](jnp.tanh(x)))


def _by_hand(network, batch, rows):
    """In NumPy, with the statistics of `batch`."""
    for i, layer in enumerate(network.layers):
        mean, std = batch.mean(axis=0), np.sqrt(batch.var(axis=0) + 1e-5)
        weight = np.asarray(layer.weight) / np.sqrt(layer.weight.shape[1])
        batch, rows = ((part - mean) / std @ weight.T for part in (batch, rows))
        batch, rows = (np.tanh(part) if i == 0 else part for part in (batch, rows))
    return rows


def test_a_batch_is_normalised_by_its_own_statistics():
    network = Normalised()
    np.testing.assert_allclose(outputs(network, X), _by_hand(network, X, X), atol=1e-4)


def test_images_are_normalised_by_channel_over_rows_and_pixels():
    images = X.reshape(5, 2, 4, 2)
    expected = (images - images.mean((0, 1, 2))) / np.sqrt(images.var((0, 1, 2)) + 1e-5)
    np.testing.assert_allclose(outputs(BatchNorm(), images), expected, atol=1e-4)


def test_values_and_grads_survive_a_mean_far_from_zero():
    images = X.reshape(5, 2, 4, 2)

    def loss(images):
        return jnp.sin(outputs(BatchNorm(), images)).sum()

    far = 5000 + jnp.round(64 * images) / 64  # exact in single precision
    near = far - 5000
    assert float(jnp.abs(outputs(BatchNorm(), far) - outputs(BatchNorm(), near)).max()) < 2e-3
    np.testing.assert_allclose(jax.grad(loss)(far), jax.grad(loss)(near), atol=2e-3)


def test_the_slope_goes_through_the_statistics():
    def by_hand(x):
        return jnp.sin((x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5)).sum()

    grad = jax.grad(lambda x: jnp.sin(outputs(BatchNorm(), x)).sum())(X)
    np.testing.assert_allclose(grad, jax.grad(by_hand)(X), atol=1e-5)


def test_with_fixed_statistics_rows_do_not_depend_on_each_other():
    network, new = Normalised(), X[:3] + 10
    fixed = with_statistics(network, batch_statistics(network, X))
    expected = _by_hand(network, X, new)
    np.testing.assert_allclose(outputs(fixed, new), expected, atol=1e-4)
    np.testing.assert_allclose(fixed(new[1]), expected[1], atol=1e-4)


def test_other_networks_have_no_statistics():
    network = MLP(4, (3,), 1, key=jax.random.key(0))
    assert batch_statistics(network, X) == []
    assert with_statistics(network, []) is network


def test_a_layer_that_is_used_twice_is_refused():
    class Twice(Normalised):
        def __call__(self, x):
            return super().__call__(self.norms[0](x))

    with pytest.raises(ValueError, match="must use each such layer once"):
        batch_statistics(Twice(), X)
