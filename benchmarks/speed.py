"""One step of four chains and one whole fit, by public names and default arguments only.

As a script it measures whichever goodprior is on the path, and prints one line of JSON; `compare`
does so with two source trees in turn, so that both meet the same state of the machine.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

CHUNKS = 8  # between two draws of 2,000 steps, after those that compile


def step_seconds(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Seconds for one step of four chains after burn-in (median), and until the first draw."""
    import jax

    import goodprior as gp

    prior = gp.GaussianPrior(gp.MLP(X.shape[1], (100, 100), 1, key=jax.random.key(0)))
    times: list[tuple[int, float]] = []

    def on_progress(done: int, _: int, phase: str) -> None:
        if phase == "sampling":
            times.append((done, time.perf_counter()))
        if len(times) > CHUNKS:
            raise gp.StopSampling

    scaling, started = gp.Scaling.fit(X, y), time.perf_counter()
    gp.sample_posterior(
        prior, gp.Gaussian(0.1), X, y, scaling=scaling, key=jax.random.key(1),
        on_progress=on_progress,
    )  # fmt: skip
    steps, seconds = np.diff(np.array(times), axis=0).T
    return {"step": float(np.median(seconds / steps)), "first draw": times[0][1] - started}


def fit_seconds(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Seconds for the estimator's fit and prediction, compilation included."""
    import goodprior as gp

    started = time.perf_counter()
    gp.BNNRegressor(random_state=0).fit(X, y.ravel()).predict(X)
    return {"whole fit": time.perf_counter() - started}


def compare(trees: dict[str, Path], X: np.ndarray, y: np.ndarray, repeats: int) -> pd.DataFrame:
    """A row per tree and run; the trees take turns, each run in a process of its own."""
    rows = []
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file.name, X=X, y=y)
        for i in range(repeats):
            for name, tree in trees.items():
                env = {**os.environ, "PYTHONPATH": str(tree.resolve())}
                env["JAX_ENABLE_COMPILATION_CACHE"] = "false"
                command = [sys.executable, __file__, file.name]
                done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
                rows.append({"tree": name, "run": i, **json.loads(done.stdout.splitlines()[-1])})
                print(rows[-1], flush=True)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    with np.load(sys.argv[1]) as arrays:
        table = arrays["X"], arrays["y"]
    from goodprior.devices import use_all_cores

    use_all_cores()
    print(json.dumps({**step_seconds(*table), **fit_seconds(*table)}))
