"""`BNNClassifier()` beside classifiers of scikit-learn: log loss, accuracy, calibration, seconds.

    GOODPRIOR_DATA=FOLDER python -m benchmarks.classification wine iris --divisions 5

Each division holds out a third of the rows at random, stratified; all methods see the same rows, so
differences are paired. Logistic regression is tuned by its own cross-validation. Of `--rows` rows,
drawn at random, the others are not used. Finished rows of `results/classification.csv` are kept.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from goodprior.data import load

SKLEARN = {"digits": "load_digits", "wine": "load_wine", "iris": "load_iris"}
SKLEARN |= {"breast_cancer": "load_breast_cancer"}
TABLES = ("eeg", "htru2", "magic", "letter")
RESULTS = Path("results/classification.csv")
HELD_OUT = 1 / 3
GP_ROWS = 1000  # of scikit-learn's Gaussian process, whose cost is cubic
OURS = "goodprior"


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A set of scikit-learn (`wine` is that with three cultivars), or a benchmark table."""
    if name in SKLEARN:
        found: Any = getattr(datasets, SKLEARN[name])()
        return found.data, found.target
    table = load(name)
    return np.asarray(table.X, np.float64), table.y


def division(name: str, number: int, rows: int | None) -> list[np.ndarray]:
    """Training and test rows, their labels: `X, X_test, y, y_test`."""
    X, y = rows_of(name)
    if rows is not None and rows < len(X):
        some = np.random.default_rng(number).permutation(len(X))[:rows]
        X, y = X[some], y[some]
    return train_test_split(X, y, test_size=HELD_OUT, random_state=number, stratify=y)


def classifiers() -> dict[str, Any]:
    """What is compared, cheap ones first."""
    from goodprior import BNNClassifier

    networks = [
        (f"member {i}", MLPClassifier(early_stopping=True, random_state=i)) for i in range(5)
    ]
    logistic = LogisticRegressionCV(
        Cs=np.logspace(-4, 4, 17).tolist(), cv=5, scoring="neg_log_loss", max_iter=2000
    )
    return {
        "logistic": make_pipeline(StandardScaler(), logistic),
        "boosting": HistGradientBoostingClassifier(random_state=0),
        "forest": RandomForestClassifier(500, random_state=0),
        "ensemble": make_pipeline(StandardScaler(), VotingClassifier(networks, voting="soft")),
        "gp": make_pipeline(StandardScaler(), GaussianProcessClassifier(ConstantKernel() * RBF())),
        OURS: BNNClassifier(random_state=0),
    }


def calibration_error(probabilities: np.ndarray, y: np.ndarray, bins: int = 15) -> float:
    """The mean gap between confidence and accuracy over bins of equal confidence (ECE).

    Parameters
    ----------
    probabilities
        A row for each label, a column for each class in order.
    y
        Labels 0, 1, ….
    bins
        Of the confidence.

    Examples
    --------
    >>> round(calibration_error(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1])), 3)
    0.15
    """
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == y
    number = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [abs((confidence - right)[number == i].sum()) for i in range(bins)]
    return float(np.sum(gaps) / len(y))


def run_one(data: str, number: int, method: str, rows: int | None) -> dict[str, Any]:
    """One fit and its scores on the rows held out."""
    X, X_test, y, y_test = division(data, number, rows)
    if method == "gp":
        X, y = X[:GP_ROWS], y[:GP_ROWS]
    model = classifiers()[method]
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probabilities = model.fit(X, y).predict_proba(X_test)
    seconds = time.perf_counter() - started
    row = {
        "data": data,
        "rows": len(X),
        "division": number,
        "method": method,
        "log_loss": log_loss(y_test, probabilities, labels=model.classes_),
        "accuracy": float((model.classes_[probabilities.argmax(axis=1)] == y_test).mean()),
        "ece": calibration_error(probabilities, np.searchsorted(model.classes_, y_test)),
        "seconds": seconds,
    }
    if method == OURS:
        row["rhat"] = model.diagnostics_.summary["rhat_max"]
    return row


def run(options: argparse.Namespace) -> pd.DataFrame:
    """What is missing; the file is written after each fit."""
    rows = pd.read_csv(options.out).to_dict("records") if options.out.exists() else []
    done = {(row["data"], row["division"], row["method"]) for row in rows}
    for data in options.sets:
        for number in range(options.first, options.first + options.divisions):
            for method in options.methods:
                if (data, number, method) in done:
                    continue
                rows.append(run_one(data, number, method, options.rows))
                print(rows[-1], flush=True)
                pd.DataFrame(rows).to_csv(options.out, index=False, float_format="%.6g")
    return pd.DataFrame(rows)


def differences(rows: pd.DataFrame) -> pd.DataFrame:
    """Ours minus each other's log loss and calibration error: paired means and standard errors.

    Parameters
    ----------
    rows
        As `run` returns them.
    """
    lines = []
    for (data, method), part in rows[rows.method != OURS].groupby(["data", "method"], sort=False):
        ours = rows[(rows.data == data) & (rows.method == OURS)].set_index("division")
        both = part.set_index("division").join(ours, rsuffix="_ours", how="inner")
        line: dict[str, Any] = {"data": data, "against": method, "divisions": len(both)}
        for what in ("log_loss", "ece"):
            gap = both[f"{what}_ours"] - both[what]
            error = gap.std() / max(len(gap), 1) ** 0.5
            line |= {f"{what} ours": both[f"{what}_ours"].mean(), what: both[what].mean()}
            line[f"{what} difference"] = f"{gap.mean():+.4f} ± {error:.4f}"
        lines.append(line)
    return pd.DataFrame(lines)


def main() -> None:
    """Run what is missing, then print the paired differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=(*SKLEARN, *TABLES))
    parser.add_argument("--divisions", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="number of the first division")
    parser.add_argument("--methods", nargs="*", default=[*classifiers()])
    parser.add_argument("--rows", type=int, help="random rows to use, at most")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = run(options)
    print(differences(rows).round(4).to_string(index=False))
    if OURS in set(rows.method):
        ours = rows[rows.method == OURS].groupby("data", sort=False)
        print(ours[["accuracy", "seconds", "rhat"]].mean().round(3).to_string())


if __name__ == "__main__":
    main()
