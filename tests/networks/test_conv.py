import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.signal import correlate

from goodprior.networks import Conv, conv, max_pool

EVEN = np.random.default_rng(0).normal(size=(10, 8, 3)).astype(np.float32)
IMAGE = EVEN[:9]


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [1, 3, 5])
@pytest.mark.parametrize("image", [IMAGE, EVEN], ids=["odd", "even"])
def test_a_convolution_is_the_scaled_sum_over_each_patch(image, size, stride, padding):
    module = Conv(3, 4, size, stride=stride, padding=padding, key=jax.random.key(0))
    bias = np.array([0.5, -1.0, 2.0, 0.0], np.float32)
    module = eqx.tree_at(lambda c: c.bias, module, jnp.asarray(bias))
    filters = np.asarray(module.weight, np.float64)
    sums = [
        sum(correlate(image[..., c], f[..., c], mode=padding) for c in range(3)) for f in filters
    ]
    expected = np.stack(sums, axis=-1)[::stride, ::stride] / np.sqrt(size * size * 3) + bias
    np.testing.assert_allclose(module(jnp.asarray(image)), expected, atol=1e-5)


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 6), (6, 40), (20, 1)])
def test_squares_and_xla_agree_in_values_and_grads(inputs, outputs, padding, monkeypatch):
    module = Conv(inputs, outputs, 3, padding=padding, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (3, 8, 12, inputs))

    def value_and_slopes(few):
        monkeypatch.setattr(conv, "FEW", few)
        loss = eqx.filter_value_and_grad(lambda both: (jax.vmap(both[0])(both[1]) ** 3).sum())
        return eqx.filter_jit(loss)((module, x))

    by_squares, by_xla = value_and_slopes(few=100), value_and_slopes(few=0)
    for a, b in zip(jax.tree.leaves(by_squares), jax.tree.leaves(by_xla), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("side", "seen"), [(32, (8, 16, 16, 12)), (31, (8, 31, 31, 3))])
def test_a_batch_is_one_convolution_of_squares_where_the_sides_are_even(side, seen):
    module = Conv(3, 6, 5, key=jax.random.key(0))
    program = jax.make_jaxpr(jax.vmap(module))(jnp.zeros((8, side, side, 3)))
    (shape,) = [e.invars[0].aval.shape for e in program.eqns if e.primitive.name == "convolve"]
    assert shape == seen


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("stride", [1, 2])
def test_patches_times_weights_are_the_outputs(stride, padding):
    module = Conv(3, 4, 3, stride=stride, padding=padding, key=jax.random.key(0))
    x = jnp.asarray(IMAGE)
    product = module.patches(x) @ module.weight.reshape(4, -1).T
    np.testing.assert_allclose(product, module(x).reshape(-1, 4), atol=1e-5)


def test_a_convolution_may_have_no_bias():
    module = Conv(3, 4, 3, use_bias=False, key=jax.random.key(0))
    assert module.bias is None
    assert not np.asarray(module(jnp.zeros((5, 5, 3)))).any()


@pytest.mark.parametrize(("inputs", "size"), [(1, 5), (16, 3), (64, 1)])
def test_outputs_keep_the_variance_of_the_inputs(inputs, size):
    keys = jax.random.split(jax.random.key(0), 200)

    def one(key):
        key_x, key_weight = jax.random.split(key)
        x = jax.random.normal(key_x, (size, size, inputs))
        return Conv(inputs, 20, size, key=key_weight)(x).ravel()

    squares = np.asarray(jax.jit(jax.vmap(one))(keys)) ** 2
    each = squares.mean(axis=1)  # outputs of one image are not independent
    assert abs(each.mean() - 1) < 4 * each.std() / np.sqrt(len(each))


def test_weights_start_standard_normal_and_biases_at_zero():
    module = Conv(20, 30, 5, key=jax.random.key(1))
    weights = np.asarray(module.weight).ravel()
    assert abs(weights.mean()) * np.sqrt(len(weights)) < 4
    assert abs(weights.var() - 1) / np.sqrt(2 / len(weights)) < 4
    assert not np.asarray(module.bias).any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"inputs": 0}, "inputs must be a whole number of at least 1, got 0"),
        ({"stride": 0}, "stride must be a whole number of at least 1, got 0"),
        ({"padding": "full"}, "padding must be one of same, valid; got 'full'"),
        ({"size": 4, "padding": "same"}, "odd size, got 4"),
    ],
)
def test_impossible_convolutions_are_refused(given, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        Conv(**{"inputs": 1, "outputs": 1, "size": 3, **given}, key=jax.random.key(0))


def test_an_image_smaller_than_the_filters_is_refused(as_users_run_it):
    module = Conv(3, 4, 11, key=jax.random.key(0))
    with pytest.raises(ValueError, match="size 11 do not fit into an image of 9 by 8 pixels"):
        module(jnp.asarray(IMAGE))


def test_pooling_takes_the_largest_of_four_and_leaves_out_odd_edges():
    pooled = max_pool(jnp.asarray(IMAGE))
    expected = [
        [IMAGE[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max(axis=(0, 1)) for j in range(4)]
        for i in range(4)
    ]
    np.testing.assert_array_equal(pooled, expected)


def test_the_slope_of_pooling_goes_to_the_largest():
    grad = np.asarray(jax.grad(lambda x: max_pool(x).sum())(jnp.asarray(IMAGE)))
    largest = np.zeros_like(IMAGE)
    for i in range(4):
        for j in range(4):
            for c in range(3):
                four = IMAGE[2 * i : 2 * i + 2, 2 * j : 2 * j + 2, c]
                at = np.unravel_index(four.argmax(), (2, 2))
                largest[2 * i + at[0], 2 * j + at[1], c] = 1
    np.testing.assert_array_equal(grad, largest)
