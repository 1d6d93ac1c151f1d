"""Other people's regressors on one table, each as its own documentation starts it.

Runs in the peers' environment and writes what is predicted for the test rows, on the target's
original scale: the centres and deviations of a Gaussian mixture with one component per draw.

    python -m benchmarks.peers.regressors ngboost table.npz predicted.npz
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

MOST_DRAWS = 2000  # of a mixture that are kept, evenly spaced
GP_ROWS = 1000  # random rows that scikit-learn's Gaussian process is given, at most


class Mixture(NamedTuple):
    """Centres and deviations, (draws, points), and whatever else is worth a column."""

    mean: np.ndarray
    std: np.ndarray
    extra: dict[str, float]


Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], Mixture]


def gaussian_process(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Mixture:
    """scikit-learn's, with an RBF kernel of a lengthscale for each column and white noise.

    Of tables with more than 1,000 rows it sees 1,000 random ones: its cost is cubic.
    """
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    rows = np.random.default_rng(0).permutation(len(X))[:GP_ROWS]
    kernel = ConstantKernel(1.0) * RBF(np.ones(X.shape[1])) + WhiteKernel(1.0)
    model = GaussianProcessRegressor(kernel, normalize_y=True).fit(X[rows], y[rows])
    mean, std = model.predict(X_test, return_std=True)
    return Mixture(mean[None], std[None], {"rows_used": len(rows)})


def ngboost(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Mixture:
    """NGBoost's defaults: 500 natural gradient steps for the parameters of a Gaussian."""
    from ngboost import NGBRegressor

    found = NGBRegressor(random_state=0, verbose=False).fit(X, y).pred_dist(X_test)
    return Mixture(np.asarray(found.loc)[None], np.asarray(found.scale)[None], {})


def catboost(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Mixture:
    """CatBoost with the loss RMSEWithUncertainty and ten virtual ensembles (its own tutorial)."""
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(
        loss_function="RMSEWithUncertainty",
        posterior_sampling=True,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
        thread_count=2,
    ).fit(X, y)
    members = model.virtual_ensembles_predict(
        X_test, prediction_type="VirtEnsembles", virtual_ensembles_count=10
    )
    return Mixture(members[..., 0].T, np.sqrt(members[..., 1].T), {})


def deep_ensemble(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Mixture:
    """Five networks with two layers of 50 ReLU units and a variance of their own (PyTorch)."""
    from benchmarks.peers.ensemble_torch import ensemble

    return Mixture(*ensemble(X, y, X_test), {})


def bde(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, **settings: Any) -> Mixture:
    """sklearn-contrib-bde with the settings of its README (1.0.2), unless others are given."""
    readme = {"n_members": 8, "epochs": 200, "warmup_steps": 5000, "n_samples": 2000}
    readme |= {"n_thinning": 2, "patience": 10, "weight_decay": 1e-4}
    settings = readme | settings
    # A device for each member, as its README says; before JAX is imported.
    flag = f"--xla_force_host_platform_device_count={settings['n_members']}"
    os.environ.setdefault("XLA_FLAGS", flag)
    from bde import BdeRegressor
    from bde.loss import GaussianNLL

    model = BdeRegressor(
        hidden_layers=[16, 16], seed=0, loss=GaussianNLL(), activation="relu",
        validation_split=0.15, lr=1e-3, **settings,
    )  # fmt: skip
    model.fit(x=X, y=y[:, None])
    raw = np.asarray(model.predict(X_test, raw=True), np.float32)  # members, draws, points, 2
    rhat = split_rhat(raw[:, :, :50, 0])
    raw = raw.reshape(-1, *raw.shape[2:])
    raw = raw[np.linspace(0, len(raw) - 1, min(len(raw), MOST_DRAWS)).astype(int)]
    scale = np.logaddexp(0, raw[..., 1]) + 1e-6  # the softplus of its Gaussian likelihood
    return Mixture(raw[..., 0], scale, {"rhat": rhat})


def bde_paper(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Mixture:
    """The same with the paper's lengths: 12 members, 50,000 steps of warm-up, 10,000 of sampling.

    Sommer et al., Microcanonical Langevin Ensembles (ICLR 2025), as `experiments/replicate_uci/
    mclmc.yaml` of the paper's code has them; minibatches of the first training are not to be had.
    """
    return bde(
        X, y, X_test,
        n_members=12, epochs=500, patience=10, weight_decay=1e-3, step_size_init=1e-3,
        warmup_steps=50_000, n_samples=10_000, n_thinning=10,
    )  # fmt: skip


def split_rhat(functions: np.ndarray) -> float:
    """The largest R-hat of function values, (chains, draws, points), over halves of the chains."""
    half = functions.shape[1] // 2
    parts = np.concatenate([functions[:, :half], functions[:, -half:]]).astype(np.float64)
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    return float(np.sqrt((half - 1) / half + between / within).max())


FITS: dict[str, Fit] = {
    "gp": gaussian_process,
    "catboost": catboost,
    "ngboost": ngboost,
    "ensemble": deep_ensemble,
    "bde": bde,
    "bde-paper": bde_paper,
}
TREES = ("catboost", "ngboost")  # see the columns as they are; all others see them standardised


def fit(name: str, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> tuple[Mixture, float]:
    """The prediction on the target's scale, and the seconds of fitting and predicting."""
    started = time.perf_counter()
    center, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)  # constant columns
    if name not in TREES:
        X, X_test = (X - center) / scale, (X_test - center) / scale
    y_mean, y_std = y.mean(), y.std()
    found = FITS[name](X, (y - y_mean) / y_std, X_test)
    seconds = time.perf_counter() - started
    mean, std = (np.asarray(part, np.float64) * y_std for part in found[:2])
    return found._replace(mean=mean + y_mean, std=std), seconds


def main() -> None:
    """Fit one regressor to one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=FITS)
    parser.add_argument("table", help="npz with X, y and X_test")
    parser.add_argument("out", help="npz that is written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with np.load(options.table) as table:
        X, y, X_test = (np.asarray(table[name], np.float64) for name in ("X", "y", "X_test"))
    found, seconds = fit(options.name, X, y.ravel(), X_test)
    np.savez(options.out, mean=found.mean, std=found.std)
    print(json.dumps({"seconds": seconds, **found.extra}))


if __name__ == "__main__":
    main()
