import pickle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.networks import MLP, Architecture


class Embedding(eqx.Module):
    """Has random weights, whole numbers and a plain number; only the first are random."""

    table: jax.Array
    order: jax.Array
    power: float
    inner: dict

    def __call__(self, x):
        return (self.table[self.order] * x**self.power).sum(keepdims=True) + self.inner["shift"]


EMBEDDING = Embedding(jnp.array([1.0, 2.0]), jnp.array([1, 0]), 2.0, {"shift": jnp.ones(1)})


def test_parameters_are_the_floating_point_arrays_with_their_layer_and_kind():
    parameters = Architecture(EMBEDDING).parameters
    assert [(p.layer, p.kind, p.shape) for p in parameters] == [
        ("", "table", (2,)),
        ("inner", "shift", (1,)),
    ]
    assert [p.name for p in parameters] == ["table", "inner.shift"]


@pytest.mark.parametrize("network", [EMBEDDING, MLP(2, (3,), 1, key=jax.random.key(0))])
def test_a_network_is_its_architecture_and_its_arrays(network):
    architecture = Architecture(network)
    arrays = eqx.filter(network, eqx.is_inexact_array)
    flat = jnp.concatenate([leaf.ravel() for leaf in architecture.leaves(arrays)])
    assert architecture.size == len(flat) == sum(architecture.sizes)
    rebuilt = architecture.network(architecture.arrays(flat))
    assert eqx.tree_equal(rebuilt, network)
    x = jnp.array([0.5, -1.0])
    assert np.array_equal(rebuilt(x), network(x))


def test_flat_entries_fill_one_parameter_after_another():
    architecture = Architecture(MLP(2, (2,), 1, key=jax.random.key(0)))
    first, second, *_ = architecture.leaves(architecture.arrays(jnp.arange(9.0)))
    assert first.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert second.tolist() == [4.0, 5.0]


def test_a_network_without_weights_is_refused():
    with pytest.raises(ValueError, match="no floating-point arrays"):
        Architecture(eqx.nn.Lambda(jnp.tanh))


def test_a_pickled_architecture_makes_the_same_networks():
    network = MLP(2, (3,), 1, key=jax.random.key(0))
    architecture = Architecture(network)
    again = pickle.loads(pickle.dumps(architecture))
    flat = jnp.arange(architecture.size, dtype=jnp.float32)
    assert again.treedef == architecture.treedef
    assert again.parameters == architecture.parameters
    assert eqx.tree_equal(
        again.network(again.arrays(flat)), architecture.network(architecture.arrays(flat))
    )


def test_weights_are_multiples_of_the_base():
    network = MLP(2, (3,), 1, key=jax.random.key(0))
    base = [np.array([[2.0, 300.0]]), np.ones(3), np.full((1, 1), 0.5), np.ones(1)]
    plain, scaled = Architecture(network), Architecture(network, base)
    arrays = plain.normal(jax.random.key(1))
    for before, after, scale in zip(
        plain.leaves(arrays), jax.tree.leaves(scaled.network(arrays)), base, strict=True
    ):
        np.testing.assert_array_equal(after, before * np.float32(scale))
    assert not jax.tree.leaves(eqx.filter(scaled, eqx.is_inexact_array)), "nothing to be tuned"
    again = Architecture(scaled)
    assert all(a is b for a, b in zip(again.bits, scaled.bits, strict=True))
    pickled = pickle.loads(pickle.dumps(scaled))
    assert eqx.tree_equal(pickled.network(arrays), scaled.network(arrays))


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ([np.ones(1)], "base must have 4 arrays"),
        ([np.ones(5), *[np.ones(1)] * 3], "layers.0.weight has the shape"),
        ([np.ones(1), np.zeros(1), *[np.ones(1)] * 2], "layers.0.bias must be positive"),
    ],
)
def test_a_base_that_does_not_fit_is_refused(base, message):
    with pytest.raises(ValueError, match=message):
        Architecture(MLP(2, (3,), 1, key=jax.random.key(0)), base)
