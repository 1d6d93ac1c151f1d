"""PreResNet20 (paper, table 5): a residual network that normalises before it convolves."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior.networks.batch_norm import BatchNorm
from goodprior.networks.conv import Conv, Features, Image
from goodprior.networks.dense import Dense


class Residual(eqx.Module):
    """Normalise, relu, convolve, twice, and add the result to the input.

    Where the number of channels changes, the input is projected by a 1x1 convolution.
    """

    norms: tuple[BatchNorm, BatchNorm]
    convs: tuple[Conv, Conv]
    projection: Conv | None

    def __init__(self, inputs: int, outputs: int, *, stride: int = 1, key: PRNGKeyArray):
        first, second, third = jax.random.split(key, 3)
        self.norms = BatchNorm(), BatchNorm()
        self.convs = (
            Conv(inputs, outputs, 3, stride=stride, padding="same", use_bias=False, key=first),
            Conv(outputs, outputs, 3, padding="same", use_bias=False, key=second),
        )
        self.projection = None
        if inputs != outputs:
            self.projection = Conv(inputs, outputs, 1, stride=stride, use_bias=False, key=third)

    def __call__(self, x: Image) -> Features:
        y = x
        for norm, conv in zip(self.norms, self.convs, strict=True):
            y = conv(jax.nn.relu(norm(y)))
        return y + (x if self.projection is None else self.projection(x))


class PreResNet20(eqx.Module):
    """A convolution, nine residual blocks of 16, 32 and 64 channels, and a dense layer.

    The only network here with batch normalisation; evaluate it with `goodprior.networks.outputs`.

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
    >>> from goodprior.networks import outputs
    >>> network = PreResNet20((32, 32, 3), 10, key=jax.random.key(0))
    >>> jax.eval_shape(lambda x: outputs(network, x), jax.numpy.zeros((2, 32, 32, 3))).shape
    (2, 10)
    """

    conv: Conv
    blocks: tuple[Residual, ...]
    norm: BatchNorm
    layer: Dense

    def __init__(
        self, shape: tuple[int, int, int] = (32, 32, 3), outputs: int = 10, *, key: PRNGKeyArray
    ):
        *_, channels = shape
        keys = iter(jax.random.split(key, 11))
        self.conv = Conv(channels, 16, 3, padding="same", use_bias=False, key=next(keys))
        blocks = []
        for inputs, width in ((16, 16), (16, 32), (32, 64)):
            stride = 1 if inputs == width else 2
            blocks.append(Residual(inputs, width, stride=stride, key=next(keys)))
            blocks += [Residual(width, width, key=next(keys)) for _ in range(2)]
        self.blocks = tuple(blocks)
        self.norm = BatchNorm()
        self.layer = Dense(64, outputs, key=next(keys))

    def __call__(self, x: Image) -> Float[Array, " out"]:
        x = self.conv(x)
        for block in self.blocks:
            x = block(x)
        return self.layer(jax.nn.relu(self.norm(x)).mean(axis=(0, 1)))
