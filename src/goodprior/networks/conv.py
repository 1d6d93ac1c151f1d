"""Convolutions in the NTK parameterisation (paper, section 2.1 and appendix), and pooling."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks

Image = Float[Array, "height width channels"]
Features = Float[Array, "rows columns features"]
Padding = Literal["valid", "same"]


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
        margin = self.weight.shape[1] // 2 if self.padding == "same" else 0
        y = jax.lax.conv_general_dilated(
            x[None],
            self.weight,
            (self.stride, self.stride),
            [(margin, margin)] * 2,
            dimension_numbers=("NHWC", "OHWI", "NHWC"),
        )[0] / jnp.sqrt(self.weight[0].size)
        return y if self.bias is None else y + self.bias


def max_pool(x: Image) -> Features:
    """The largest of every two by two pixels; a last odd row or column is left out.

    >>> import jax.numpy as jnp
    >>> max_pool(jnp.arange(16.0).reshape(4, 4, 1))[..., 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    height, width, channels = x.shape
    pairs = x[: height // 2 * 2, : width // 2 * 2]
    return pairs.reshape(height // 2, 2, width // 2, 2, channels).max(axis=(1, 3))
