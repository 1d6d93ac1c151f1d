import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.networks import IMAGE_NETWORKS, VGG16, Architecture, LeNet5, PreResNet20, outputs
from goodprior.priors import GaussianPrior


@pytest.mark.parametrize(
    ("name", "channels", "weights"),
    [
        ("lenet5", 3, 62_006),
        ("lenet5", 1, 61_706),
        ("vgg16", 3, 3_814_314),
        ("preresnet20", 3, 270_906),
    ],
)
def test_networks_have_as_many_weights_as_the_papers(name, channels, weights):
    build = IMAGE_NETWORKS[name]
    network = jax.eval_shape(lambda key: build((32, 32, channels), 10, key=key), jax.random.key(0))
    assert sum(leaf.size for leaf in jax.tree.leaves(network)) == weights


@pytest.mark.slow
@pytest.mark.parametrize(("name", "side"), [("lenet5", 16), ("preresnet20", 8), ("vgg16", 32)])
def test_outputs_are_of_order_one_for_standard_normal_weights(name, side):
    prior = GaussianPrior(IMAGE_NETWORKS[name]((side, side, 1), 20, key=jax.random.key(0)))
    x = jax.random.normal(jax.random.key(1), (2, side, side, 1))

    def draw(key):
        return outputs(prior.weights(prior.sample(key)), x)

    functions = jax.jit(lambda keys: jax.lax.map(draw, keys))(
        jax.random.split(jax.random.key(2), 3)
    )
    assert functions.shape == (3, 2, 20)
    assert 0.5 < float(functions.std()) < 3


@pytest.mark.slow
def test_only_the_residual_network_normalises_and_its_convolutions_have_no_bias():
    names = [p.name for p in Architecture(PreResNet20(key=jax.random.key(0))).parameters]
    assert [name for name in names if name.endswith("bias")] == ["layer.bias"]
    assert sum("projection" in name for name in names) == 2


@pytest.mark.slow
def test_a_residual_block_adds_what_the_paper_says():
    block = PreResNet20(key=jax.random.key(0)).blocks[3]  # 16 to 32 channels
    x = jax.random.normal(jax.random.key(1), (3, 8, 8, 16))
    y = x
    for conv in block.convs:
        normal = (y - y.mean((0, 1, 2))) / np.sqrt(y.var((0, 1, 2)) + 1e-5)
        y = np.asarray(jax.jit(jax.vmap(conv))(jax.nn.relu(normal)))
    projected = x[:, ::2, ::2] @ np.asarray(block.projection.weight)[:, 0, 0].T / 4
    np.testing.assert_allclose(jax.jit(outputs)(block, x), y + projected, atol=1e-4)


@pytest.mark.parametrize("shape", [(28, 28, 1), (33, 40, 2)])
def test_lenet_takes_images_of_other_sizes(shape):
    network = LeNet5(shape, 3, key=jax.random.key(0))
    assert jax.eval_shape(network, jnp.zeros(shape)).shape == (3,)


@pytest.mark.parametrize(
    ("network", "shape"), [(LeNet5, (15, 32, 3)), (VGG16, (32, 28, 1))], ids=["lenet", "vgg"]
)
def test_images_that_are_too_small_are_refused(network, shape):
    with pytest.raises(ValueError, match=r"at least \d\d by \d\d pixels, got \("):
        network(shape, 10, key=jax.random.key(0))
