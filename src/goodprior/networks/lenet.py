"""LeNet5 (paper, table 4)."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior.networks.conv import Conv, Image, max_pool
from goodprior.networks.mlp import MLP


class LeNet5(eqx.Module):
    """Two convolutions, each with relu and 2x2 max pooling, then three dense layers.

    Parameters
    ----------
    shape : tuple of int
        Of one image: height, width, channels.
    outputs : int
        Classes.
    key : PRNGKeyArray
        Of the weights.

    Examples
    --------
    >>> import jax
    >>> network = LeNet5((32, 32, 1), 10, key=jax.random.key(0))
    >>> network(jax.numpy.zeros((32, 32, 1))).shape
    (10,)
    """

    convs: tuple[Conv, Conv]
    head: MLP

    def __init__(
        self, shape: tuple[int, int, int] = (32, 32, 3), outputs: int = 10, *, key: PRNGKeyArray
    ):
        height, width, channels = shape
        if min(height, width) < 16:
            raise ValueError(f"LeNet5 needs images of at least 16 by 16 pixels, got {shape}")
        keys = jax.random.split(key, 3)
        self.convs = Conv(channels, 6, 5, key=keys[0]), Conv(6, 16, 5, key=keys[1])
        left = 16 * _after_both(height) * _after_both(width)
        self.head = MLP(left, (120, 84), outputs, activation="relu", key=keys[2])

    def __call__(self, x: Image) -> Float[Array, " out"]:
        for conv in self.convs:
            x = jax.nn.relu(max_pool(conv(x)))  # the same as pooling last, with less to do
        return self.head(x.ravel())


def _after_both(pixels: int) -> int:
    """What is left of a side after both convolutions and poolings."""
    return ((pixels - 4) // 2 - 4) // 2
