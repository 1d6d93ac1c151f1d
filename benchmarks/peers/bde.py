"""A Bayesian deep ensemble (sklearn-contrib-bde) on one table; prints one line of JSON.

Runs in the peers' own environment, with the settings of its README and all cores:
python -m benchmarks.peers.bde table.npz
"""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import argparse
import json
import time

import numpy as np
from bde import BdeRegressor
from bde.loss import GaussianNLL


def main() -> None:
    """Fit on the training rows, score the test rows on the target's original scale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", help="npz with X, y, X_test and y_test")
    options = parser.parse_args()
    with np.load(options.table) as table:
        X, y, X_test, y_test = (table[name] for name in ("X", "y", "X_test", "y_test"))
    y, y_test = y.reshape(-1, 1), y_test.reshape(-1, 1)
    x_mean, x_std, y_mean, y_std = X.mean(0), X.std(0) + 1e-8, y.mean(0), y.std(0) + 1e-8
    started = time.perf_counter()
    model = BdeRegressor(
        hidden_layers=[16, 16], n_members=8, seed=0, loss=GaussianNLL(), activation="relu",
        epochs=1000, validation_split=0.15, lr=1e-3, weight_decay=1e-4, warmup_steps=5000,
        n_samples=2000, n_thinning=10, patience=20,
    )  # fmt: skip
    model.fit(x=(X - x_mean) / x_std, y=(y - y_mean) / y_std)
    raw = np.asarray(model.predict((X_test - x_mean) / x_std, raw=True), np.float64)
    seconds = time.perf_counter() - started
    raw = raw.reshape(-1, *raw.shape[2:])  # draws, points, (mean, scale before softplus)
    mean = raw[..., 0] * y_std[0] + y_mean[0]
    scale = (np.log1p(np.exp(raw[..., 1])) + 1e-6) * y_std[0]
    z = (y_test[:, 0] - mean) / scale
    each = -0.5 * z**2 - np.log(scale) - 0.5 * np.log(2 * np.pi)
    top = each.max(axis=0)
    nll = -(top + np.log(np.exp(each - top).mean(axis=0))).mean()
    rmse = np.sqrt(((mean.mean(axis=0) - y_test[:, 0]) ** 2).mean())
    print(json.dumps({"rmse": float(rmse), "nll": float(nll), "seconds": seconds}))


if __name__ == "__main__":
    main()
