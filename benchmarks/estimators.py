"""`BNNRegressor()` beside the estimator that a user would pick instead, on the published splits.

Both run one after the other on the same rows, each in a process of its own, compilation included;
finished rows of `results/estimators.csv` are not run again.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from goodprior.data import load

RESULTS = Path("results/estimators.csv")
COMMANDS = {
    "goodprior": [sys.executable, "-m", "benchmarks.estimators", "--fit"],
    "bde": [".venv-peers/bin/python", "-m", "benchmarks.peers.bde"],
}


def fit(table: str) -> None:
    """Our defaults on one table; prints one line of JSON."""
    from goodprior import BNNRegressor
    from goodprior.evaluation import regression_metrics

    with np.load(table) as arrays:
        X, y, X_test, y_test = (arrays[name] for name in ("X", "y", "X_test", "y_test"))
    started = time.perf_counter()
    model = BNNRegressor(random_state=0).fit(X, y.ravel())
    prediction = model.posterior_.predict(X_test)
    found = regression_metrics(prediction, y_test.reshape(-1, 1))
    seconds = time.perf_counter() - started
    assert model.diagnostics_ is not None
    row = {name: found[name] for name in ("rmse", "nll", "coverage_95") if name in found}
    row |= {"rhat": model.diagnostics_.summary["rhat_max"], "seconds": seconds}
    print(json.dumps(row))


def run(jobs: list[str]) -> pd.DataFrame:
    """Every split of every data set with both; what is in the table already is kept."""
    rows = pd.read_csv(RESULTS).to_dict("records") if RESULTS.exists() else []
    done = {(row["data"], row["split"], row["who"]) for row in rows}
    for job in jobs:
        name, _, count = job.partition(":")
        for split in range(int(count or 1)):
            missing = [who for who in COMMANDS if (name, split, who) not in done]
            with tempfile.NamedTemporaryFile(suffix=".npz") as file:
                parts = zip(("X", "y", "X_test", "y_test"), load(name).split(split), strict=True)
                np.savez(file.name, **dict(parts))
                for who in missing:
                    command = [*COMMANDS[who], file.name]
                    told = subprocess.run(command, capture_output=True, text=True, check=False)
                    if told.returncode:
                        print(who, name, split, "failed:", told.stderr[-500:])
                        continue
                    found = json.loads(told.stdout.splitlines()[-1])
                    rows.append({"data": name, "split": split, "who": who, **found})
                    print(rows[-1], flush=True)
                    pd.DataFrame(rows).to_csv(RESULTS, index=False)
    return pd.DataFrame(rows)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over the splits that both have finished, and paired differences with their errors."""
    lines = []
    for name, part in rows.groupby("data", sort=False):
        wide = part.pivot(index="split", columns="who").dropna(axis=0, subset=[("rmse", "bde")])
        wide = wide.dropna(axis=0, subset=[("rmse", "goodprior")])
        line: dict[str, object] = {"data": name, "splits": len(wide)}
        for what in ("rmse", "nll", "seconds"):
            ours, theirs = wide[what, "goodprior"], wide[what, "bde"]
            error = (ours - theirs).std() / max(len(wide), 1) ** 0.5
            line |= {what: ours.mean(), f"{what} bde": theirs.mean()}
            line[f"{what} difference"] = f"{(ours - theirs).mean():+.3f} ± {error:.3f}"
        lines.append(line)
    return pd.DataFrame(lines)


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "jobs",
        nargs="*",
        default=("boston:10", "concrete:5", "energy:5", "wine:5"),
        help="such as boston:10, for its first ten splits",
    )
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        fit(options.fit)
        return
    print(summary(run(options.jobs)).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
