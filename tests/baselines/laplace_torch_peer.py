"""A network's Laplace approximation by laplace-torch, in a process (and environment) of its own.

    python laplace_torch_peer.py in.npz out.npz

The weights come in NTK scaling; torch's layers have them divided by the root of the fan-in, and so
the prior's precisions of weights are multiplied by it.
"""

import sys


def main(given: str, result: str) -> None:
    import numpy as np
    import torch
    from laplace import Laplace
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_default_dtype(torch.float64)
    given = np.load(given)
    task, layers = str(given["task"]), int(given["layers"])
    modules, precisions = [], []
    for i in range(layers):
        weight, bias = torch.tensor(given[f"weight{i}"]), torch.tensor(given[f"bias{i}"])
        linear = nn.Linear(weight.shape[1], weight.shape[0])
        linear.weight.data = weight / weight.shape[1] ** 0.5
        linear.bias.data = bias
        modules += [linear, nn.Tanh()]
        precisions += [given["precisions"][2 * i] * weight.shape[1], given["precisions"][2 * i + 1]]
    model = nn.Sequential(*modules[:-1])
    X, y, new = (torch.tensor(given[name]) for name in ("X", "y", "new"))
    loader = DataLoader(TensorDataset(X, y), batch_size=16)
    found = {}
    for structure in ("full", "kron"):
        laplace = Laplace(
            model,
            task,
            subset_of_weights="all",
            hessian_structure=structure,
            sigma_noise=float(given["noise_variance"]) ** 0.5,
            prior_precision=torch.tensor(np.array(precisions)),
        )
        laplace.fit(loader)
        mean, variance = laplace._glm_predictive_distribution(new)
        found[f"{structure}_mean"] = mean.detach().numpy()
        found[f"{structure}_variance"] = variance.detach().numpy()
        found[f"{structure}_evidence"] = float(laplace.log_marginal_likelihood())
    np.savez(result, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
