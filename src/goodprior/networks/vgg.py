"""VGG16 for small images (paper, table 6)."""

from itertools import pairwise

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior.networks.conv import Conv, Image, max_pool
from goodprior.networks.mlp import MLP

WIDTHS = ((32, 32), (64, 64), (128, 128, 128), (256, 256, 256), (256, 256, 256))


class VGG16(eqx.Module):
    """Thirteen 3x3 convolutions in five groups, then three dense layers; relu throughout.

    Each group is followed by 2x2 max pooling.

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
    >>> network = VGG16((32, 32, 3), 10, key=jax.random.key(0))
    >>> [len(group) for group in network.groups]
    [2, 2, 3, 3, 3]
    """

    groups: tuple[tuple[Conv, ...], ...]
    head: MLP

    def __init__(
        self, shape: tuple[int, int, int] = (32, 32, 3), outputs: int = 10, *, key: PRNGKeyArray
    ):
        height, width, channels = shape
        if min(height, width) < 32:
            raise ValueError(f"VGG16 needs images of at least 32 by 32 pixels, got {shape}")
        keys = iter(jax.random.split(key, 14))
        groups, before = [], channels
        for widths in WIDTHS:
            sides = pairwise((before, *widths))
            groups.append(tuple(Conv(a, b, 3, padding="same", key=next(keys)) for a, b in sides))
            before = widths[-1]
        self.groups = tuple(groups)
        left = 256 * (height // 32) * (width // 32)
        self.head = MLP(left, (256, 256), outputs, activation="relu", key=next(keys))

    def __call__(self, x: Image) -> Float[Array, " out"]:
        for group in self.groups:
            for conv in group:
                x = jax.nn.relu(conv(x))
            x = max_pool(x)
        return self.head(x.ravel())
