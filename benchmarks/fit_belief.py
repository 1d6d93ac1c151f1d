"""`belief="fit"` beside scikit-learn's Gaussian process: seconds and log marginal likelihood.

GOODPRIOR_DATA=FOLDER python -m benchmarks.fit_belief servo boston

Both see the same standardised rows, in turn, three times, on one thread, and both optima are read
with one formula. scikit-learn has an ARD RBF, a constant and white noise, from one start; ours
chooses among three kernels and a trend (`ours`), or has the RBF alone (`rbf`). Its objective has a
penalty, the table's likelihoods have none. Finished rows of `results/fit_belief.csv` are kept.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from scipy import linalg
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_limits

from goodprior.beliefs import fit_belief
from goodprior.beliefs.fit import Fitted
from goodprior.beliefs.terms import TermsKernel
from goodprior.data import load
from goodprior.data.scaling import Scaling

TABLES = (
    *("servo", "autompg", "boston", "pendulum", "energy", "stock", "concrete", "airfoil", "wine"),
)
REPEATS = 3
RESULTS = Path("results/fit_belief.csv")


def rows_of(name: str, split: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The standardised training rows of a split."""
    X, y, *_ = load(name).split(split)
    scaling = Scaling.fit(X, y)
    rows = scaling.inputs(X), scaling.targets(y)
    return np.asarray(rows[0], np.float64), np.asarray(rows[1], np.float64)


def log_likelihood(covariance: np.ndarray, y: np.ndarray) -> float:
    """Of targets with this covariance, the noise included."""
    factor = linalg.cholesky(covariance, lower=True)
    white = linalg.solve_triangular(factor, y, lower=True)
    log_det = 2 * np.log(np.diagonal(factor)).sum()
    return float(-0.5 * (np.sum(white**2) + log_det + len(y) * np.log(2 * np.pi)))


def peer(X: np.ndarray, y: np.ndarray) -> GaussianProcessRegressor:
    """scikit-learn's, as its users start it."""
    kernel = ConstantKernel(1.0) * RBF(np.ones(X.shape[1])) + WhiteKernel(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y.ravel())


def covariance_of(fitted: Fitted, X: np.ndarray) -> np.ndarray:
    """Of the targets at these rows, in double precision."""
    with jax.enable_x64(True):
        rows = jnp.asarray(X)
        function = np.asarray(TermsKernel(fitted.belief.terms)(rows, rows))
    return function + fitted.noise_variance * np.eye(len(X))


def compare(name: str) -> dict[str, Any]:
    """One row of the table."""
    X, y = rows_of(name)
    work: dict[str, Callable[[], Any]] = {
        "peer": lambda: peer(X, y),
        "ours": lambda: fit_belief(X, y),
        "rbf": lambda: fit_belief(X, y, kernels=("rbf",), trend=False),
    }
    seconds: dict[str, list[float]] = {who: [] for who in work}
    found: dict[str, Any] = {}
    with threadpool_limits(1):
        for _ in range(REPEATS):
            for who, run in work.items():
                started = time.perf_counter()
                found[who] = run()
                seconds[who].append(time.perf_counter() - started)
    median = {who: float(np.median(times)) for who, times in seconds.items()}
    ours: Fitted = found["ours"]
    return {
        "data": name,
        "rows": len(X),
        "columns": X.shape[1],
        "rows_used": ours.rows,
        **{f"{who}_seconds": value for who, value in median.items()},
        "ratio": median["ours"] / median["peer"],
        "rbf_ratio": median["rbf"] / median["peer"],
        "peer_lml": log_likelihood(found["peer"].kernel_(X), y),
        **{
            f"{who}_lml": log_likelihood(covariance_of(found[who], X), y) for who in ("ours", "rbf")
        },
        "kernel": ours.kernel + (" + trend" if len(ours.belief.terms) > 1 else ""),
        "noise_std": ours.noise_variance**0.5,
    }


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=TABLES)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = pd.read_csv(options.out).to_dict("records") if options.out.exists() else []
    done = {row["data"] for row in rows}
    for name in options.tables:
        if name not in done:
            rows.append(compare(name))
            pd.DataFrame(rows).to_csv(options.out, index=False, float_format="%.5g")
            print(rows[-1], flush=True)
    print(pd.DataFrame(rows).round(2).to_string(index=False))


if __name__ == "__main__":
    main()
