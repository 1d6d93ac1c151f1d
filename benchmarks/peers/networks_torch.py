"""A deep ensemble and a Laplace approximation in PyTorch, on standardised rows."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

MEMBERS = 5
WIDTH = 50
BATCH = 100
STEPS = 20_000  # of Adam, at most
PATIENCE = 50  # epochs without a better validation loss
HELD_OUT = 0.1


def ensemble(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of networks that each say both (Lakshminarayanan et al., 2017).

    Members have their own start and the weights that were best on a tenth of the rows.
    """
    torch.manual_seed(0)
    weights = [_layer(a, b) for a, b in ((X.shape[1], WIDTH), (WIDTH, WIDTH), (WIDTH, 2))]
    weights = [part for layer in weights for part in layer]

    def forward(x: Tensor) -> Tensor:
        value = x.expand(MEMBERS, *x.shape)
        for i in range(0, len(weights), 2):
            value = torch.baddbmm(weights[i + 1], value, weights[i])
            value = value if i == len(weights) - 2 else value.relu()
        return value

    def loss(x: Tensor, y: Tensor) -> Tensor:
        mean, log_variance = forward(x).unbind(-1)
        variance = 1e-6 + nn.functional.softplus(log_variance)
        return 0.5 * ((y - mean) ** 2 / variance + variance.log()).mean(dim=1)

    _train(weights, loss, X, y, members=MEMBERS)
    with torch.no_grad():
        mean, log_variance = forward(_tensor(X_test)).unbind(-1)
        std = (1e-6 + nn.functional.softplus(log_variance)).sqrt()
    return mean.numpy(), std.numpy()


def laplace(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Gaussian around one trained network's weights, linearised (Daxberger et al., 2021).

    As in the regression example of laplace-torch, with its default Kronecker factors: the prior's
    precision and the noise are tuned by the marginal likelihood once the network is trained.
    """
    from laplace import Laplace
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(X.shape[1], WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(),
        nn.Linear(WIDTH, 1),
    )  # fmt: skip
    _train(
        list(model.parameters()),
        lambda x, y: ((model(x)[:, 0] - y) ** 2).mean().expand(1),
        X, y, members=1,
    )  # fmt: skip
    rows = DataLoader(TensorDataset(_tensor(X), _tensor(y)[:, None]), batch_size=BATCH)
    found = Laplace(model, "regression", subset_of_weights="all", hessian_structure="kron")
    found.fit(rows)
    log_prior, log_sigma = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.Adam([log_prior, log_sigma], lr=0.1)
    for _ in range(200):
        optimiser.zero_grad()
        (-found.log_marginal_likelihood(log_prior.exp(), log_sigma.exp())).backward()
        optimiser.step()
    mean, variance = found(_tensor(X_test))
    noise = found.sigma_noise.detach().item() ** 2
    std = (variance[:, 0, 0].detach() + noise).sqrt()
    return mean.detach().numpy().T, std.numpy()[None]


def _layer(inputs: int, outputs: int) -> tuple[Tensor, Tensor]:
    weight = torch.randn(MEMBERS, inputs, outputs) * (2 / inputs) ** 0.5
    return weight.requires_grad_(), torch.zeros(MEMBERS, 1, outputs, requires_grad=True)


def _tensor(values: np.ndarray) -> Tensor:
    return torch.as_tensor(np.asarray(values, np.float32))


def _train(
    weights: list[Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    X: np.ndarray,
    y: np.ndarray,
    *,
    members: int,
) -> None:
    """Adam in minibatches; each member ends with its best weights on the rows held out."""
    order = np.random.default_rng(0).permutation(len(X))
    held = max(round(HELD_OUT * len(X)), 1)
    x_held, y_held = _tensor(X[order[:held]]), _tensor(y[order[:held]])
    x, t = _tensor(X[order[held:]]), _tensor(y[order[held:]])
    optimiser = torch.optim.Adam(weights, lr=2e-3, weight_decay=1e-5)
    best, best_weights, since, steps = torch.full((members,), torch.inf), None, 0, 0
    while steps < STEPS and since < PATIENCE:
        for rows in torch.randperm(len(x)).split(BATCH):
            optimiser.zero_grad()
            loss(x[rows], t[rows]).sum().backward()
            optimiser.step()
            steps += 1
        with torch.no_grad():
            now = loss(x_held, y_held)
            better = now < best
            since = 0 if bool(better.any()) else since + 1
            best = torch.where(better, now, best)
            if best_weights is None:
                best_weights = [w.clone() for w in weights]
            for kept, weight in zip(best_weights, weights, strict=True):
                if members == 1:
                    kept.copy_(torch.where(better, weight, kept))
                else:
                    kept[better] = weight[better]
    with torch.no_grad():
        assert best_weights is not None
        for weight, kept in zip(weights, best_weights, strict=True):
            weight.copy_(kept)
