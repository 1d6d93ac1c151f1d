"""Layers in the NTK parameterisation (paper, section 2.1)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


class Dense(eqx.Module):
    """A fully connected layer, `weight @ x / sqrt(fan_in) + bias`.

    Dividing by the square root of the fan-in keeps the variance of the output the same for any
    width when the weights are of order one. Weights start as N(0, 1), biases at zero.

    Parameters
    ----------
    inputs, outputs : int
        Fan-in, and units.
    use_bias : bool
        Whether there is a bias.
    key : PRNGKeyArray
        Of the weights.

    Examples
    --------
    >>> import jax
    >>> layer = Dense(3, 5, key=jax.random.key(0))
    >>> layer(jax.numpy.ones(3)).shape
    (5,)
    """

    weight: Float[Array, "out in"]
    bias: Float[Array, " out"] | None

    def __init__(self, inputs: int, outputs: int, *, use_bias: bool = True, key: PRNGKeyArray):
        if inputs < 1 or outputs < 1:
            raise ValueError(
                f"a Dense layer needs at least one input and one output, got {inputs} -> {outputs}"
            )
        self.weight = jax.random.normal(key, (outputs, inputs))
        self.bias = jnp.zeros(outputs) if use_bias else None

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        fan_in = self.weight.shape[1]
        y = (self.weight @ x) / jnp.sqrt(fan_in)
        return y if self.bias is None else y + self.bias
