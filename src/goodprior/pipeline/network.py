"""Networks by their widths or their names."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from goodprior import checks
from goodprior.networks import IMAGE_NETWORKS, MLP, WithLogNoise, zero_network

HIDDEN = (50, 50)  # of an MLP, unless said otherwise
NOISE_HIDDEN = (16,)  # of the MLP for log noise variances


@dataclass(frozen=True)
class NetworkSpec:
    """A network that is built once the shape of the inputs and the outputs are known.

    Parameters
    ----------
    hidden, activation
        Widths of the hidden layers and the activation of an MLP (None: chosen for the belief where
        it has a closed form, otherwise two layers of 50).
    name
        A network for images instead: one of `lenet5`, `vgg16`, `preresnet20`.

    Examples
    --------
    >>> NetworkSpec((20,)).build((3,), 1).layers[0].weight.shape
    (20, 3)
    """

    hidden: tuple[int, ...] | None = None
    activation: str | Callable[..., Any] = "tanh"
    name: str | None = None

    @property
    def is_automatic(self) -> bool:
        """Whether the network may be chosen for the belief."""
        return self.hidden is None and self.name is None

    def build(self, shape: tuple[int, ...], outputs: int, noise_outputs: int = 0) -> Any:
        """The network for inputs of this shape, with weights of zero: a prior draws them.

        `noise_outputs` log noise variances are a small network of their own.
        """
        if noise_outputs:
            noise = NetworkSpec(NOISE_HIDDEN).build((prod(shape),), noise_outputs)
            return WithLogNoise(self.build(shape, outputs), noise)
        names = ", ".join(IMAGE_NETWORKS)
        if self.name is not None:
            make = IMAGE_NETWORKS[checks.one_of("network", self.name, IMAGE_NETWORKS)]
            if len(shape) != 3:
                raise ValueError(
                    f"the networks {names} take images, of shape (rows, height, width, channels); "
                    f"a row of X has the shape {shape}"
                )
            return zero_network(lambda key: make(shape, outputs, key=key))
        if len(shape) != 1:
            raise ValueError(f"images need a network: one of {names}, or an equinox module")
        hidden = HIDDEN if self.hidden is None else self.hidden
        return zero_network(
            lambda key: MLP(shape[0], hidden, outputs, activation=self.activation, key=key)
        )
