"""Multi-layer perceptrons."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior.networks.dense import Dense

Activation = Callable[[Array], Array]
ACTIVATIONS: dict[str, Activation] = {
    "tanh": jnp.tanh,
    "relu": jax.nn.relu,
    "erf": jax.scipy.special.erf,
    "sin": jnp.sin,
    "swish": jax.nn.swish,
    "gelu": jax.nn.gelu,
    "softplus": jax.nn.softplus,
    "identity": lambda x: x,
}


class MLP(eqx.Module):
    """A fully connected network: `Dense` layers with an activation between them.

    Parameters
    ----------
    inputs, outputs : int
        Columns of the input, and of the output.
    hidden : sequence of int
        Units of each hidden layer.
    activation : str or callable
        A name from `ACTIVATIONS`, or any function of an array. A network with a function of your
        own cannot be stored in a file.
    key : PRNGKeyArray
        Of the weights.

    Examples
    --------
    >>> import jax
    >>> network = MLP(1, (50, 50, 50), 1, activation="tanh", key=jax.random.key(0))
    >>> network(jax.numpy.zeros(1)).shape
    (1,)
    """

    layers: tuple[Dense, ...]
    activation: str | Activation = eqx.field(static=True)

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        *,
        activation: str | Activation = "tanh",
        key: PRNGKeyArray,
    ):
        if not callable(activation) and activation not in ACTIVATIONS:
            raise ValueError(
                f"activation must be one of {sorted(ACTIVATIONS)} or a function, got {activation!r}"
            )
        widths = (inputs, *hidden, outputs)
        keys = jax.random.split(key, len(widths) - 1)
        self.layers = tuple(
            Dense(a, b, key=k) for a, b, k in zip(widths[:-1], widths[1:], keys, strict=True)
        )
        self.activation = activation

    @property
    def readout(self) -> Any:
        """The last layer: the network is `readout(features(x))`."""
        return self.layers[-1]

    def features(self, x: Float[Array, " in"]) -> Float[Array, " features"]:
        """The last hidden layer's activations."""
        activation = self.activation
        if isinstance(activation, str):
            activation = ACTIVATIONS[activation]
        for layer in self.layers[:-1]:
            x = activation(layer(x))
        return x

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        return self.readout(self.features(x))
