"""The paper's convolutional networks in PyTorch: milliseconds for a gradient, one line of JSON.

Runs in the peers' own environment: python -m benchmarks.peers.convolutions_torch 128 128 32
"""

import json
import os
import statistics
import sys
import time
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

Weights = list[Tensor]


def conv(x: Tensor, weight: Tensor, **options: int) -> Tensor:
    """A convolution divided by the root of its fan-in."""
    return F.conv2d(x, weight / weight[0].numel() ** 0.5, **options)


def dense(x: Tensor, weight: Tensor) -> Tensor:
    """A product divided by the root of its fan-in."""
    return F.linear(x, weight / weight.shape[1] ** 0.5)


def head(x: Tensor, weights: Weights) -> Tensor:
    """Dense layers with relu between them."""
    for weight in weights[:-1]:
        x = F.relu(dense(x, weight))
    return dense(x, weights[-1])


LENET = [(6, 3, 5, 5), (16, 6, 5, 5), (120, 400), (84, 120), (10, 84)]


def lenet5(weights: Weights, x: Tensor) -> Tensor:
    """Two convolutions with pooling, three dense layers."""
    for weight in weights[:2]:
        x = F.max_pool2d(F.relu(conv(x, weight)), 2)
    return head(x.flatten(1), weights[2:])


GROUPS = ((32, 32), (64, 64), (128, 128, 128), (256, 256, 256), (256, 256, 256))
_WIDTHS = [3, *(width for group in GROUPS for width in group)]
VGG = [(b, a, 3, 3) for a, b in pairwise(_WIDTHS)]
VGG += [(256, 256), (256, 256), (10, 256)]


def vgg16(weights: Weights, x: Tensor) -> Tensor:
    """Thirteen convolutions in five groups, three dense layers."""
    left = iter(weights[:-3])
    for group in GROUPS:
        for _ in group:
            x = F.relu(conv(x, next(left), padding=1))
        x = F.max_pool2d(x, 2)
    return head(x.flatten(1), weights[-3:])


BLOCKS = [(16, 16)] * 3 + [(16, 32)] + [(32, 32)] * 2 + [(32, 64)] + [(64, 64)] * 2
PRERESNET = [(16, 3, 3, 3)]
for _a, _b in BLOCKS:
    PRERESNET += [(_b, _a, 3, 3), (_b, _b, 3, 3)] + ([(_b, _a, 1, 1)] if _a != _b else [])
PRERESNET += [(10, 64)]


def normal(x: Tensor) -> Tensor:
    """Relu of the input, normalised by the statistics of the batch."""
    return F.relu(F.batch_norm(x, None, None, training=True))


def preresnet20(weights: Weights, x: Tensor) -> Tensor:
    """Nine residual blocks with batch normalisation."""
    left = iter(weights)
    x = conv(x, next(left), padding=1)
    for a, b in BLOCKS:
        stride = 1 if a == b else 2
        y = conv(normal(x), next(left), padding=1, stride=stride)
        y = conv(normal(y), next(left), padding=1)
        x = y + (x if a == b else conv(x, next(left), stride=stride))
    return dense(normal(x).mean((2, 3)), next(left))


NETWORKS = {
    "lenet5": (lenet5, LENET),
    "preresnet20": (preresnet20, PRERESNET),
    "vgg16": (vgg16, VGG),
}


def main() -> None:
    """Time each network's gradient at the batch size given for it."""
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    found = {}
    for (name, (network, shapes)), rows in zip(NETWORKS.items(), sys.argv[1:], strict=True):
        weights = [torch.randn(shape, requires_grad=True) for shape in shapes]
        x, y = torch.randn(int(rows), 3, 32, 32), torch.randint(0, 10, (int(rows),))
        times, busy = [], []
        for _ in range(12):
            started, worked = time.perf_counter(), time.process_time()
            loss = F.cross_entropy(network(weights, x), y, reduction="sum")
            torch.autograd.grad(loss, weights)
            times.append(1000 * (time.perf_counter() - started))
            busy.append(1000 * (time.process_time() - worked))
        found[name] = {
            "median": statistics.median(times[2:]),
            "best": min(times[2:]),
            "cpu": min(busy[2:]),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
