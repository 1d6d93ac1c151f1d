"""A deep ensemble in PyTorch, on standardised rows (Lakshminarayanan et al., 2017)."""

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

MEMBERS = 5
WIDTH = 50
BATCH = 100
STEPS = 20_000  # of Adam, at most
PATIENCE = 50  # epochs without a better validation loss
HELD_OUT = 0.1


def ensemble(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of networks that each say both, (members, points).

    All members are trained at once, from starts of their own, and each ends with the weights that
    were best on a tenth of the rows.
    """
    torch.manual_seed(0)
    sizes = (X.shape[1], WIDTH, WIDTH, 2)
    weights = [_layer(*pair) for pair in pairwise(sizes)]
    flat = [part for layer in weights for part in layer]
    order = np.random.default_rng(0).permutation(len(X))
    held, rest = np.split(order, [max(round(HELD_OUT * len(X)), 1)])
    x_held, y_held, x, target = (_tensor(a) for a in (X[held], y[held], X[rest], y[rest]))
    optimiser = torch.optim.Adam(flat, lr=2e-3, weight_decay=1e-5)
    best, kept = torch.full((MEMBERS,), torch.inf), [part.detach().clone() for part in flat]
    since = steps = 0
    while steps < STEPS and since < PATIENCE:
        for rows in torch.randperm(len(x)).split(BATCH):
            optimiser.zero_grad()
            _loss(weights, x[rows], target[rows]).sum().backward()
            optimiser.step()
            steps += 1
        with torch.no_grad():
            now = _loss(weights, x_held, y_held)
            better = now < best
            since = 0 if bool(better.any()) else since + 1
            best = torch.where(better, now, best)
            for old, new in zip(kept, flat, strict=True):
                old[better] = new[better]
    with torch.no_grad():
        for old, new in zip(kept, flat, strict=True):
            new.copy_(old)
        mean, std = _forward(weights, _tensor(X_test))
    return mean.numpy(), std.numpy()


def _layer(inputs: int, outputs: int) -> tuple[Tensor, Tensor]:
    weight = torch.randn(MEMBERS, inputs, outputs) * (2 / inputs) ** 0.5
    return weight.requires_grad_(), torch.zeros(MEMBERS, 1, outputs, requires_grad=True)


def _forward(weights: list[tuple[Tensor, Tensor]], x: Tensor) -> tuple[Tensor, Tensor]:
    value = x.expand(MEMBERS, *x.shape)
    for number, (weight, bias) in enumerate(weights):
        value = torch.baddbmm(bias, value if number == 0 else value.relu(), weight)
    mean, raw = value.unbind(-1)
    return mean, (1e-6 + functional.softplus(raw)).sqrt()


def _loss(weights: list[tuple[Tensor, Tensor]], x: Tensor, y: Tensor) -> Tensor:
    mean, std = _forward(weights, x)
    return (0.5 * ((y - mean) / std) ** 2 + std.log()).mean(dim=1)


def _tensor(values: np.ndarray) -> Tensor:
    return torch.as_tensor(np.asarray(values, np.float32))
