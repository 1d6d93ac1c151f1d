"""One SGHMC chain as most people would write it: `nn.Module`, autograd, a loop over parameters.

`plain_torch` is the same algorithm on flat vectors, about twice as fast; both are peers.
"""

import math

import torch
from torch import Tensor, nn


class NTKLinear(nn.Module):
    """A linear layer divided by the square root of its inputs."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight / math.sqrt(x.shape[-1]), self.bias)


def run_chain(
    X: Tensor,
    y: Tensor,
    steps: int,
    *,
    noise_variance: float = 0.1,
    batch_size: int = 32,
    step_size: float = 0.01,
    momentum_decay: float = 0.01,
) -> nn.Module:
    """A chain with frozen estimates under the N(0, 1) prior; returns the network at its end."""
    network = nn.Sequential(
        NTKLinear(X.shape[1], 100), nn.Tanh(), NTKLinear(100, 100), nn.Tanh(), NTKLinear(100, 1)
    )
    parameters = list(network.parameters())
    momenta = [torch.zeros_like(p) for p in parameters]
    rates = [torch.full_like(p, step_size**2 / 30) for p in parameters]
    noises = [torch.sqrt(2 * momentum_decay * r - step_size**4) for r in rates]
    for _ in range(steps):
        rows = torch.randint(len(X), (batch_size,))
        residual = y[rows] - network(X[rows]).squeeze(1)
        loss = 0.5 * len(X) / batch_size * residual.square().sum() / noise_variance
        loss = loss + 0.5 * sum(p.square().sum() for p in parameters)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, v, g, r, s in zip(parameters, momenta, gradients, rates, noises, strict=True):
                v.mul_(1 - momentum_decay).addcmul_(r, g, value=-1).addcmul_(s, torch.randn_like(v))
                p.add_(v)
    return network
