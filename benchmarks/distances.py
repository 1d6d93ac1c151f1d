"""Which distance to match by: held-out figures and the posterior's NLL, set by set.

python -m benchmarks.distances boston energy concrete wine

Finished rows of `results/distances.csv` are not run again.
"""

import argparse
from pathlib import Path

import pandas as pd

from goodprior.devices import keep_compiled_programs
from goodprior.studies.engine.study import Choice
from goodprior.studies.experiments import uci_regression
from goodprior.studies.protocols import tables

DISTANCES = ("energy", "sliced", "mmd", "wasserstein")
CASES = (("gpi-g", 2), ("gpi-h", 1))  # the prior, and the number of hidden layers
SPLIT = 19  # one that no table of ours reports
NAMES = ("dataset", "method", "depth", "distance")
SHOWN = ("match_energy_distance", "match_squared_mmd", "match_std_ratio", "nll", "rmse")


def main() -> None:
    """Run what is missing, then print means over the data sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=("boston", "energy", "concrete", "wine"))
    parser.add_argument("--out", type=Path, default=Path("results/distances.csv"))
    args = parser.parse_args()
    keep_compiled_programs()
    rows = pd.read_csv(args.out).to_dict("records") if args.out.exists() else []
    done = {tuple(row[name] for name in NAMES) for row in rows}
    for dataset in args.datasets:
        for method, depth in CASES:
            for distance in DISTANCES:
                choice = Choice("paper", distance=distance)
                settings = tables.table_settings(dataset, method, depth, SPLIT, choice)
                if tuple(settings[name] for name in NAMES) not in done:
                    rows.append({**settings, **uci_regression.run(settings)})
                    pd.DataFrame(rows).to_csv(args.out, index=False)
                    print({name: rows[-1][name] for name in (*NAMES, *SHOWN)}, flush=True)
    print(summary(pd.DataFrame(rows)).to_string())


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Each distance's figures by case, over the data sets."""
    by = frame.groupby(["method", "depth", "distance"], sort=False)
    return by[[*SHOWN, "match_seconds"]].mean().round(4)


if __name__ == "__main__":
    main()
