"""How the cost of sampling grows: with steps, chains, draws, rows, width and depth."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

import goodprior as gp
from goodprior import plots

BASE = {"rows": 1000, "width": 100, "depth": 2, "chains": 4, "draws": 4, "thinning": 500}
NAMES = {"thinning": "steps between two draws", "rows": "rows of data"}
CURVES = {
    "thinning": (250, 500, 1000, 2000),
    "draws": (2, 4, 8, 16),
    "chains": (1, 2, 4, 8),
    "rows": (1_000, 10_000, 100_000),
    "width": (50, 100, 200, 400),
    "depth": (1, 2, 4, 8),
}


def sample_seconds(*, rows: int, width: int, depth: int, chains: int, draws: int, thinning: int):
    """Seconds for so many draws after burn-in, compiled already."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 10))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=rows)
    prior = gp.GaussianPrior(gp.MLP(10, (width,) * depth, 1, key=jax.random.key(0)))

    def sample(kept: int, resume: gp.Posterior | None = None) -> gp.Posterior:
        return gp.sample_posterior(
            prior, gp.Gaussian(0.1), X, y, key=jax.random.key(1), chains=chains, draws=kept,
            sampler=gp.SGHMC(burn_in=500, thinning=thinning), resume=resume,
        )  # fmt: skip

    first, best = sample(1), float("inf")
    for _ in range(3):
        started = time.perf_counter()
        sample(1 + draws, first)
        best = min(best, time.perf_counter() - started)
    return best


def disk_run(rows: int, kind: str) -> None:
    """Sample from a table on disk, or in memory; prints one line of JSON.

    Memory is what is the process's own: pages of the mapped file can be dropped at any time.
    """
    prior = gp.GaussianPrior(gp.MLP(20, (100, 100), 1, key=jax.random.key(0)))
    sampler = gp.SGHMC(burn_in=500, thinning=500)
    settings: dict[str, Any] = {"key": jax.random.key(1), "sampler": sampler, "draws": 4}
    peak = 0.0

    def look(done: int, total: int, phase: str) -> None:
        nonlocal peak
        peak = max(peak, _own_mib())

    with tempfile.TemporaryDirectory() as folder:
        X = np.memmap(Path(folder) / "X", np.float32, "w+", shape=(rows, 20))
        y = np.memmap(Path(folder) / "y", np.float32, "w+", shape=(rows,))
        rng = np.random.default_rng(0)
        for i in range(0, rows, 100_000):
            X[i : i + 100_000] = rng.normal(size=X[i : i + 100_000].shape)
        y[:] = X[:, 0]
        table = (X, y) if kind == "disk" else (np.asarray(X), np.asarray(y))
        for _ in range(2):
            started = time.perf_counter()
            gp.sample_posterior(prior, gp.Gaussian(0.1), *table, on_progress=look, **settings)
        seconds = time.perf_counter() - started
    print(json.dumps({"rows": rows, "table": kind, "seconds": seconds, "peak_mib": peak}))


def _own_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


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
    picture(frame).savefig(out / "scaling.png")
    found = []
    for rows in (100_000, 1_000_000, 4_000_000):
        for kind in ("disk", "memory"):
            command = [sys.executable, "-m", "benchmarks.scaling", str(rows), kind]
            told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found.append(json.loads(told.stdout.splitlines()[-1]))
            print(found[-1], flush=True)
    pd.DataFrame(found).to_csv(out / "disk.csv", index=False)


def picture(frame: pd.DataFrame) -> Figure:
    """A panel per curve, with a dotted line where the cost would be proportional."""
    figure = plots.new_figure(2, 3)
    for axes, (name, curve) in zip(
        figure.subplots(2, 3).flat, frame.groupby("curve", sort=False), strict=True
    ):
        axes.loglog(curve["value"], curve["seconds"], "o-", color="black")
        first = curve.iloc[0]
        proportional = first["seconds"] * curve["value"] / first["value"]
        axes.loglog(curve["value"], proportional, ":", color="grey")
        axes.set(xlabel=NAMES.get(name, name), ylabel="seconds")
        axes.set_xticks(curve["value"], [f"{value:,}" for value in curve["value"]])
        axes.minorticks_off()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
    figure.suptitle("Cost of sampling (dotted: proportional)")
    return figure


if __name__ == "__main__":
    disk_run(int(sys.argv[1]), sys.argv[2])
