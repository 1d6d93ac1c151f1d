"""What the estimators' defaults should be: settings side by side on the same splits.

GOODPRIOR_DATA=FOLDER python -m benchmarks.choices servo boston --splits 1 2

Finished rows of `results/choices.csv` are kept. The table has paired differences to the default
with their standard errors over splits, and the worst R-hat: what has not converged is no finding.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from goodprior import BNNRegressor
from goodprior.data import load
from goodprior.evaluation import regression_metrics

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "fitted": {"belief": "fit"},
    "smooth": {"belief": "smooth", "hidden": (50, 50)},
    "sghmc": {"method": "sghmc"},
    "gaussian": {"likelihood": "gaussian"},
}
TABLES = (
    "servo",
    "autompg",
    "boston",
    "pendulum",
    "energy",
    "stock",
    "concrete",
    "airfoil",
    "wine",
)
SCORES = ("rmse", "nll", "nll_moment")
RESULTS = Path("results/choices.csv")


def fit(name: str, split: int, settings: dict[str, Any]) -> dict[str, Any]:
    """One row of the table."""
    X, y, X_test, y_test = load(name).split(split)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say is in the row
        model = BNNRegressor(random_state=split, **settings).fit(X, y.ravel())
    seconds = time.perf_counter() - started
    assert model.diagnostics_ is not None
    scores = regression_metrics(model.posterior_.predict(X_test), y_test.reshape(-1, 1))
    known = model.diagnostics_.summary
    names = ("rhat_functions", "rhat_noise", "ess_min", "kinetic_temperature", "energy_error")
    return {
        **{name: scores[name] for name in (*SCORES, "crps", "coverage_95")},
        **{name: known.get(name) for name in names},
        "steps": known["steps"],
        "seconds": seconds,
    }


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over the splits that a setting shares with the default, and paired differences."""
    lines = []
    for (name, setting), part in rows.groupby(["data", "setting"], sort=False):
        default = rows[(rows["data"] == name) & (rows["setting"] == "default")]
        both = part.merge(default, on="split", suffixes=("", "_default"))
        line: dict[str, Any] = {"data": name, "setting": setting, "splits": len(both)}
        for score in SCORES:
            difference = both[score] - both[f"{score}_default"]
            error = difference.std() / max(len(both), 1) ** 0.5
            line[score] = both[score].mean()
            line[f"{score} difference"] = f"{difference.mean():+.3f} ± {error:.3f}"
        line |= {"worst R-hat": both[["rhat_functions", "rhat_noise"]].max(axis=None)}
        lines.append(line | {"seconds": both["seconds"].mean()})
    return pd.DataFrame(lines)


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=TABLES)
    parser.add_argument("--splits", nargs="+", type=int, default=range(5))
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=("default", "fitted"))
    options = parser.parse_args()
    rows = pd.read_csv(RESULTS).to_dict("records") if RESULTS.exists() else []
    done = {(row["data"], row["split"], row["setting"]) for row in rows}
    for split in options.splits:
        for name in options.tables:
            for setting in options.settings:
                if (name, split, setting) in done:
                    continue
                found = fit(name, split, SETTINGS[setting])
                rows.append({"data": name, "split": split, "setting": setting, **found})
                pd.DataFrame(rows).to_csv(RESULTS, index=False, float_format="%.5g")
                print(rows[-1], flush=True)
    print(summary(pd.DataFrame(rows)).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
