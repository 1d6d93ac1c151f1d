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

FEW = 8  # input channels up to which squares of pixels are faster on a CPU


class Conv(eqx.Module):
    """A convolution of one image (height, width, channels) with square filters.

    The sum over a patch is divided by `sqrt(size * size * inputs)`, so that outputs keep the
    variance of the inputs when the weights are of order one. Weights start as N(0, 1), biases at
    zero.

    Parameters
    ----------
    inputs, outputs : int
        Channels.
    size : int
        Of the filters' sides.
    stride : int
        Pixels between two outputs.
    padding : str
        With `same` an output stands over every `stride`-th pixel, with zeros beyond the border;
        with `valid` only where the filter fits into the image.
    use_bias : bool
        Whether there is a bias for each output channel.
    key : PRNGKeyArray
        Of the weights.

    Examples
    --------
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
        filters = self.weight / jnp.sqrt(self.weight[0].size)
        if min(x.shape[:2]) + 2 * self._margin < filters.shape[1]:
            raise ValueError(
                f"filters of size {filters.shape[1]} do not fit into an image of {x.shape[0]} by "
                f"{x.shape[1]} pixels"
            )
        if _squares_are_faster(x, filters, self.stride):
            y = _by_squares(self._padded(x), filters)
        else:
            y = convolve(x[None], filters, self.stride, self._margin)[0]
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

    @property
    def _margin(self) -> int:
        return self.weight.shape[1] // 2 if self.padding == "same" else 0

    def _padded(self, x: Image) -> Features:
        margin = self._margin
        return jnp.pad(x, ((margin, margin), (margin, margin), (0, 0))) if margin else x


def _squares_are_faster(x: Image, filters: Float[Array, "out size size in"], stride: int) -> bool:
    """On a CPU, XLA's convolution of few channels leaves most of the processor idle."""
    odd = filters.shape[1] % 2 == 1 and filters.shape[1] > 1
    even = x.shape[0] % 2 == 0 and x.shape[1] % 2 == 0
    return (
        jax.default_backend() == "cpu" and stride == 1 and odd and even and filters.shape[-1] <= FEW
    )


def _by_squares(x: Image, filters: Float[Array, "out size size in"]) -> Features:
    """The same convolution of images with a quarter of the pixels and four times the channels.

    Two by two pixels become one, and the four outputs above them are computed together, from all
    the pixels that any of them sees: the filters have some zeros, but more channels.
    """
    outputs, size, _, inputs = filters.shape
    half = (size + 1) // 2
    moved = [
        jnp.pad(filters, ((0, 0), (i, 1 - i), (j, 1 - j), (0, 0))) for i in (0, 1) for j in (0, 1)
    ]
    squares = jnp.stack(moved).reshape(4 * outputs, half, 2, half, 2, inputs)
    squares = squares.transpose(0, 1, 3, 2, 4, 5).reshape(4 * outputs, half, half, 4 * inputs)
    height, width = x.shape[0] // 2, x.shape[1] // 2
    x = x.reshape(height, 2, width, 2, inputs).transpose(0, 2, 1, 3, 4)
    y = convolve(x.reshape(1, height, width, 4 * inputs), squares)[0]
    height, width = y.shape[:2]
    y = y.reshape(height, width, 2, 2, outputs).transpose(0, 2, 1, 3, 4)
    return y.reshape(2 * height, 2 * width, outputs)


def max_pool(x: Image) -> Features:
    """The largest of every two by two pixels; a last odd row or column is left out.

    Parameters
    ----------
    x : Array
        One image, (height, width, channels).

    Returns
    -------
    Array
        One of half its sides.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> max_pool(jnp.arange(16.0).reshape(4, 4, 1))[..., 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    height, width, channels = x.shape
    pairs = x[: height // 2 * 2, : width // 2 * 2]
    # Not `reduce_window`, whose gradient is slow on a CPU.
    return pairs.reshape(height // 2, 2, width // 2, 2, channels).max(axis=(1, 3))
