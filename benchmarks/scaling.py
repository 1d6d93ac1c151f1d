"""How the cost of sampling grows: with steps, chains, draws, rows, width and depth."""

import resource
import tempfile
import time
from pathlib import Path

import jax
import numpy as np
import pandas as pd

import goodprior as gp
from goodprior import plots

BASE = {"rows": 1000, "width": 100, "depth": 2, "chains": 4, "draws": 4, "thinning": 500}
CURVES = {
    "thinning": (250, 500, 1000, 2000),
    "draws": (2, 4, 8, 16),
    "chains": (1, 2, 4, 8),
    "rows": (1_000, 10_000, 100_000),
    "width": (50, 100, 200, 400),
    "depth": (1, 2, 4, 8),
}


def sample_seconds(*, rows: int, width: int, depth: int, chains: int, draws: int, thinning: int):
    """Seconds of a second run: compiled already."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 10))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=rows)
    prior = gp.GaussianPrior(gp.MLP(10, (width,) * depth, 1, key=jax.random.key(0)))
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        gp.sample_posterior(
            prior, gp.Gaussian(0.1), X, y, key=jax.random.key(1), chains=chains, burn_in=0,
            draws=draws, thinning=thinning,
        )  # fmt: skip
        best = min(best, time.perf_counter() - started)
    return best


def disk_run(rows: int) -> dict[str, float]:
    """Sampling from a table on disk against the same table in memory."""
    prior = gp.GaussianPrior(gp.MLP(20, (100, 100), 1, key=jax.random.key(0)))
    settings = {"key": jax.random.key(1), "burn_in": 0, "draws": 4, "thinning": 500}
    with tempfile.TemporaryDirectory() as folder:
        X = np.memmap(Path(folder) / "X", np.float32, "w+", shape=(rows, 20))
        rng = np.random.default_rng(0)
        for i in range(0, rows, 100_000):
            X[i : i + 100_000] = rng.normal(size=X[i : i + 100_000].shape)
        y = np.asarray(X[:, 0])
        found = {"rows": float(rows)}
        for name, table in (("disk", X), ("memory", np.asarray(X))):
            gp.sample_posterior(prior, gp.Gaussian(0.1), table, y, **settings)
            started = time.perf_counter()
            gp.sample_posterior(prior, gp.Gaussian(0.1), table, y, **settings)
            found[f"{name}_seconds"] = time.perf_counter() - started
            found[f"{name}_peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def run(out: Path) -> None:
    """All curves into a CSV file and a picture."""
    rows = []
    for name, values in CURVES.items():
        for value in values:
            seconds = sample_seconds(**{**BASE, name: value})
            rows.append({"curve": name, "value": value, "seconds": seconds})
            print(rows[-1], flush=True)
    frame = pd.DataFrame(rows)
    frame.to_csv(out / "scaling.csv", index=False)
    figure = plots.new_figure(2, 3)
    for axes, (name, curve) in zip(
        figure.subplots(2, 3).flat, frame.groupby("curve", sort=False), strict=True
    ):
        axes.loglog(curve["value"], curve["seconds"], "o-", color="black")
        first = curve.iloc[0]
        axes.loglog(
            curve["value"], first["seconds"] * curve["value"] / first["value"], ":", color="grey"
        )
        axes.set(xlabel=name, ylabel="seconds (dotted: linear)")
    figure.savefig(out / "scaling.png")
    disk = pd.DataFrame([disk_run(rows) for rows in (100_000, 1_000_000)])
    disk.to_csv(out / "disk.csv", index=False)
    print(disk.to_string(index=False))
