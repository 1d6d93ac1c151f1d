"""Networks: equinox modules written for one example, with NTK-scaled layers.

Any equinox module is a network; its floating-point arrays are the random weights (`Architecture`).
"""

from goodprior.networks.layers import Dense
from goodprior.networks.mlp import ACTIVATIONS, MLP
from goodprior.networks.structure import Architecture, Parameter

__all__ = ["ACTIVATIONS", "MLP", "Architecture", "Dense", "Parameter"]
