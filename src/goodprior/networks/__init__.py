"""Networks: equinox modules written for one example, with NTK-scaled layers.

Any equinox module is a network; its floating-point arrays are the random weights (`Architecture`).
"""

from goodprior.networks.batch import BatchNorm, batch_statistics, outputs, with_statistics
from goodprior.networks.conv import Conv, max_pool
from goodprior.networks.layers import Dense
from goodprior.networks.lenet import LeNet5
from goodprior.networks.many import over_many
from goodprior.networks.mlp import ACTIVATIONS, MLP
from goodprior.networks.preresnet import PreResNet20
from goodprior.networks.structure import Architecture, Parameter
from goodprior.networks.vgg import VGG16

IMAGE_NETWORKS = {"lenet5": LeNet5, "vgg16": VGG16, "preresnet20": PreResNet20}

__all__ = [
    "ACTIVATIONS",
    "IMAGE_NETWORKS",
    "MLP",
    "VGG16",
    "Architecture",
    "BatchNorm",
    "Conv",
    "Dense",
    "LeNet5",
    "Parameter",
    "PreResNet20",
    "batch_statistics",
    "max_pool",
    "outputs",
    "over_many",
    "with_statistics",
]
