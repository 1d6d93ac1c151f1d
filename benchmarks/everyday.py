"""From file to report: five tables as people have them, beside scikit-learn on the same rows.

    python -m benchmarks.everyday
    python -m benchmarks.everyday visitors --transcript words.txt

Runs `goodprior fit`, `predict` and `show` as a user would, on the tables of `tests/data/everyday`,
and scikit-learn's Gaussian process (1,000 rows at most) and gradient boosting on the same rows.
Writes `results/everyday.csv`.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from goodprior import load

FOLDER = Path(__file__).parents[1] / "tests/data/everyday"
RESULTS = Path("results/everyday.csv")
GP_ROWS = 1000  # its cost is cubic
TARGETS = {
    "prices": "price",
    "faults": "state",
    "visitors": "visitors",
    "sensors": "signal",
    "formula": "bend",
}
OPTIONS = {  # beside the target: what somebody who has these rows knows
    "prices": ["--impute"],
    "visitors": ["--belief", "trend + season(period.month=12)"],
    "formula": ["--belief", "fit", "--likelihood", "gaussian"],
}


def goodprior(*arguments: str) -> str:
    """What the command line printed."""
    command = [sys.executable, "-m", "goodprior", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = f"$ goodprior {' '.join(arguments)}\n{done.stdout}{done.stderr}"
    if done.returncode:
        raise RuntimeError(text)
    return text


def ours(name: str, folder: Path) -> tuple[dict[str, float], str]:
    """Scores on the held-out rows, and the transcript."""
    table, new = (str(FOLDER / f"{name}{ending}.csv.gz") for ending in ("", "-new"))
    model, out = (str(folder / f) for f in ("model.safetensors", "out.csv"))
    started = time.perf_counter()
    text = goodprior(
        "fit", table, "--target", TARGETS[name], *OPTIONS.get(name, []), "--out", model
    )
    seconds = time.perf_counter() - started
    text += goodprior("predict", model, new, "--out", out)
    text += goodprior("show", model, table, "--out", str(folder / "report.html"))
    found, y = pd.read_csv(out), pd.read_csv(new)[TARGETS[name]]
    diagnostics = load(model).diagnostics_
    assert diagnostics is not None
    row = {"seconds": seconds, "rhat": diagnostics.summary["rhat_max"]}
    if name == "faults":
        classes = sorted(y.unique())
        probabilities = found[[f"probability_{c}" for c in classes]].to_numpy()
        probabilities /= probabilities.sum(axis=1, keepdims=True)  # they are rounded in the file
        return row | {"loss": log_loss(y, probabilities, labels=classes)}, text
    inside = (y >= found["low"]) & (y <= found["high"])
    return row | {"loss": rmse(found["mean"], y), "coverage": float(inside.mean())}, text


def rmse(predicted: Any, y: Any) -> float:
    return float(np.sqrt(np.mean((np.asarray(predicted) - np.asarray(y)) ** 2)))


def encoded(train: pd.DataFrame, new: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Numbers for scikit-learn: dates as days, categories as indicators, gaps as medians."""
    both = pd.concat([train, new], keys=["train", "new"])
    for column in both.select_dtypes(exclude="number"):
        dates = pd.to_datetime(both[column], format="%Y-%m-%d", errors="coerce")
        if dates.notna().any():
            both[column] = (dates - dates.min()).dt.days
    both = pd.get_dummies(both, dtype=float)
    both = both.fillna(both.loc["train"].median())
    return both.loc["train"].to_numpy(float), both.loc["new"].to_numpy(float)


def peers(name: str) -> dict[str, float]:
    """The losses of a Gaussian process and of gradient boosting."""
    train, new = (pd.read_csv(FOLDER / f"{name}{ending}.csv.gz") for ending in ("", "-new"))
    y, y_new = train.pop(TARGETS[name]), new.pop(TARGETS[name])
    X, X_new = encoded(train, new)
    some = np.random.default_rng(0).permutation(len(X))[:GP_ROWS]
    kernel = ConstantKernel() * RBF(np.ones(X.shape[1]))
    if name == "faults":
        gp: Any = GaussianProcessClassifier(kernel)
        models = {"gp": gp, "boosting": HistGradientBoostingClassifier(random_state=0)}
    else:
        gp = GaussianProcessRegressor(kernel + WhiteKernel(), normalize_y=True)
        models = {"gp": gp, "boosting": HistGradientBoostingRegressor(random_state=0)}
    found = {}
    for kind, model in models.items():
        rows = some if kind == "gp" else slice(None)
        fitted = make_pipeline(StandardScaler(), model).fit(X[rows], y.to_numpy()[rows])
        if name == "faults":
            found[kind] = log_loss(y_new, fitted.predict_proba(X_new), labels=fitted.classes_)
        else:
            found[kind] = rmse(fitted.predict(X_new), y_new)
    return found


def main() -> None:
    """Run the tables that are named, print and keep their rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=list(TARGETS))
    parser.add_argument("--transcript", type=Path, help="where the commands' words are written")
    options = parser.parse_args()
    rows = pd.read_csv(RESULTS).to_dict("records") if RESULTS.exists() else []
    words = []
    for name in options.tables:
        with tempfile.TemporaryDirectory() as folder:
            found, text = ours(name, Path(folder))
        words.append(text)
        rows = [row for row in rows if row["table"] != name]
        rows.append({"table": name, **found, **peers(name)})
        print(
            {k: v if isinstance(v, str) else round(v, 4) for k, v in rows[-1].items()}, flush=True
        )
        pd.DataFrame(rows).to_csv(RESULTS, index=False, float_format="%.5g")
    if options.transcript:
        options.transcript.write_text("\n".join(words))


if __name__ == "__main__":
    main()
