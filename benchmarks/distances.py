"""Which distance to match by: held-out figures and the posterior's NLL, set by set.

python -m benchmarks.distances boston energy concrete wine

Finished rows of `results/distances.csv` are not run again.
"""

import argparse
import time
from pathlib import Path

import pandas as pd

from benchmarks.table import Table
from goodprior.devices import keep_compiled_programs
from goodprior.studies import protocol, uci_regression
from goodprior.studies.study import Choice

DISTANCES = ("energy", "sliced", "mmd", "wasserstein")
CASES = (("gpi-g", 2), ("gpi-h", 1))  # the prior, and the number of hidden layers
SPLIT = 19  # one that no table of ours reports
SHOWN = ("match_energy_distance", "match_squared_mmd", "match_std_ratio", "nll", "rmse")


def main() -> None:
    """Run what is missing, then print means over the data sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=("boston", "energy", "concrete", "wine"))
    parser.add_argument("--out", type=Path, default=Path("results/distances.csv"))
    args = parser.parse_args()
    keep_compiled_programs()
    table = Table(args.out, ("dataset", "method", "depth", "distance"))
    for dataset in args.datasets:
        for method, depth in CASES:
            for distance in DISTANCES:
                choice = Choice("paper", distance=distance)
                settings = protocol.table_settings(dataset, method, depth, SPLIT, choice)
                if settings not in table:
                    started = time.perf_counter()
                    row = uci_regression.run(settings)
                    table.add({**settings, **row, "seconds": time.perf_counter() - started})
    print(summary(table.frame).to_string())


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Each distance's figures by case, over the data sets."""
    by = frame.groupby(["method", "depth", "distance"], sort=False)
    return by[[*SHOWN, "match_seconds"]].mean().round(4)


if __name__ == "__main__":
    main()
