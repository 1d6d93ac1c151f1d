"""Convolutions in the NTK parameterisation (paper, section 2.1 and appendix), and pooling."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.networks.convolve import convolve

Image = Float[Array, "height width channels"]
Features = Float[Array, "rows columns features"]
Padding = Literal["valid", "same"]

FEW = 4  # input channels up to which blocks are faster than XLA's convolution on a CPU
WIDE = 24  # columns of a matrix that make its product fast


class Conv(eqx.Module):
    """A convolution of one image (height, width, channels) with square filters.

    The sum over a patch is divided by `sqrt(size * size * inputs)`, so that outputs keep the
    variance of the inputs when the weights are of order one. Weights start as N(0, 1), biases at
    zero. With padding "same" an output stands over every `stride`-th pixel, with zeros beyond the
    border; with "valid" only where the filter fits into the image.

    >>> import jax
    >>> Conv(3, 6, size=5, key=jax.random.key(0))(jax.numpy.ones((32, 32, 3))).shape
    (28, 28, 6)
    """

    weight: Float[Array, "out size size in"]
    bias: Float[Array, " out"] | None
    stride: int = eqx.field(static=True)
    padding: Padding = eqx.field(static=True)

    def __init__(
        self,
        inputs: int,
        outputs: int,
        size: int,
        *,
        stride: int = 1,
        padding: Padding = "valid",
        use_bias: bool = True,
        key: PRNGKeyArray,
    ):
        checks.whole("inputs", inputs)
        checks.whole("outputs", outputs)
        checks.whole("size", size)
        self.weight = jax.random.normal(key, (outputs, size, size, inputs))
        self.bias = jnp.zeros(outputs) if use_bias else None
        self.stride = checks.whole("stride", stride)
        self.padding = padding
        if checks.one_of("padding", padding, ("valid", "same")) == "same" and size % 2 == 0:
            raise ValueError(f'padding="same" needs filters of an odd size, got {size}')

    def __call__(self, x: Image) -> Features:
        filters, padded = self.weight / jnp.sqrt(self.weight[0].size), self._padded(x)
        if _blocks_are_faster(filters, self.stride):
            y = _by_blocks(padded, filters)
        else:
            y = convolve(padded[None], filters, self.stride)[0]
        return y if self.bias is None else y + self.bias

    def patches(self, x: Image) -> Float[Array, "places patch"]:
        """What is multiplied with the weights, a row for each place, scaled as the sum is.

        Outputs are `patches @ weight.reshape(out, -1).T + bias`.
        """
        x, size = self._padded(x), self.weight.shape[1]
        height, width = x.shape[0] - size + 1, x.shape[1] - size + 1
        shifted = [
            x[i : i + height : self.stride, j : j + width : self.stride]
            for i in range(size)
            for j in range(size)
        ]
        together = jnp.stack(shifted, axis=2)
        return together.reshape(-1, self.weight[0].size) / jnp.sqrt(self.weight[0].size)

    def _padded(self, x: Image) -> Features:
        margin = self.weight.shape[1] // 2 if self.padding == "same" else 0
        return jnp.pad(x, ((margin, margin), (margin, margin), (0, 0))) if margin else x


def _blocks_are_faster(filters: Float[Array, "out size size in"], stride: int) -> bool:
    """On a CPU, XLA's convolution of few channels leaves most of the processor idle."""
    return jax.default_backend() == "cpu" and stride == 1 and filters.shape[-1] <= FEW


def _by_blocks(x: Image, filters: Float[Array, "out size size in"]) -> Features:
    """A convolution as products of matrices, one for each row of the filters.

    Several neighbouring outputs of a row are computed together, from all the pixels that any of
    them sees: the matrices have some zeros, but are wide enough for a fast product.
    """
    outputs, size, _, inputs = filters.shape
    height, width = x.shape[0] - size + 1, x.shape[1] - size + 1
    across = max(1, round(WIDE / outputs))
    blocks, reach = -(-width // across), across + size - 1
    x = jnp.pad(x, ((0, 0), (0, blocks * across - width), (0, 0)))
    seen = [x[:, i * across : i * across + reach].reshape(len(x), -1) for i in range(blocks)]
    rows = jnp.stack(seen, axis=1)
    shifted = [
        jnp.pad(filters, ((0, 0), (0, 0), (i, reach - size - i), (0, 0))) for i in range(across)
    ]
    matrices = jnp.stack(shifted).transpose(2, 3, 4, 0, 1).reshape(size, reach * inputs, -1)
    y = sum(rows[i : i + height] @ matrices[i] for i in range(size))
    return jnp.asarray(y).reshape(height, blocks * across, outputs)[:, :width]


def max_pool(x: Image) -> Features:
    """The largest of every two by two pixels; a last odd row or column is left out.

    >>> import jax.numpy as jnp
    >>> max_pool(jnp.arange(16.0).reshape(4, 4, 1))[..., 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    height, width, channels = x.shape
    pairs = x[: height // 2 * 2, : width // 2 * 2]
    # Not a window's reduction, whose slope is slow on a CPU.
    return pairs.reshape(height // 2, 2, width // 2, 2, channels).max(axis=(1, 3))
