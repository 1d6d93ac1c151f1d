"""Networks: equinox modules written for one example, with NTK-scaled layers.

Any equinox module is a network; its floating-point arrays are the random weights (`Architecture`).
"""

from goodprior.networks.architecture import Architecture, Parameter, zero_network
from goodprior.networks.batch_norm import BatchNorm, batch_statistics, outputs, with_statistics
from goodprior.networks.conv import Conv, max_pool
from goodprior.networks.dense import Dense
from goodprior.networks.fourier import Fourier, Monomial, Slopes, Waves
from goodprior.networks.lenet import LeNet5
from goodprior.networks.mlp import ACTIVATIONS, MLP
from goodprior.networks.monotone import MonotoneNetwork
from goodprior.networks.preresnet import PreResNet20
from goodprior.networks.vectorize import vectorize
from goodprior.networks.vgg import VGG16
from goodprior.networks.with_log_noise import WithLogNoise

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
    "Fourier",
    "LeNet5",
    "Monomial",
    "MonotoneNetwork",
    "Parameter",
    "PreResNet20",
    "Slopes",
    "Waves",
    "WithLogNoise",
    "batch_statistics",
    "max_pool",
    "outputs",
    "vectorize",
    "with_statistics",
    "zero_network",
]
