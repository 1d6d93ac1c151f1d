"""Multi-layer perceptrons."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior.networks.dense import Dense

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
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

    >>> import jax
    >>> network = MLP(1, (50, 50, 50), 1, activation="tanh", key=jax.random.key(0))
    >>> network(jax.numpy.zeros(1)).shape
    (1,)
    """

    layers: tuple[Dense, ...]
    activation: str = eqx.field(static=True)

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        *,
        activation: str = "tanh",
        key: PRNGKeyArray,
    ):
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation must be one of {sorted(ACTIVATIONS)}, got {activation!r}")
        widths = (inputs, *hidden, outputs)
        keys = jax.random.split(key, len(widths) - 1)
        self.layers = tuple(
            Dense(a, b, key=k) for a, b, k in zip(widths[:-1], widths[1:], keys, strict=True)
        )
        self.activation = activation

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        activation = ACTIVATIONS[self.activation]
        for layer in self.layers[:-1]:
            x = activation(layer(x))
        return self.layers[-1](x)
