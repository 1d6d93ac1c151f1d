"""`BNNRegressor()` and the peers on thirteen tables: one table, mean ranks and their picture.

    GOODPRIOR_DATA=FOLDER python -m benchmarks.scoreboard --splits 3

Every fit has a process of its own, so that seconds include all compilation; peers run in the
environment of `make bench`. Short tables come first. Finished rows of
`results/scoreboard.csv` are not run again, so a run that was stopped goes on where it was; a fit
that failed or took too long has a row that says so (`--again` tries it once more). Settings of ours
are methods as well (`goodprior-fitted`), outside the ranks: their paired differences to
`goodprior-short`, the default with fewer draws, are printed (those of `goodprior-once…`, with one
run of the chains, to `goodprior-once`).
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from benchmarks.ranks import METRICS, diagram, mean_ranks
from goodprior.data import load

TABLES = (
    *("servo", "autompg", "boston", "stock", "pendulum", "energy", "concrete", "airfoil", "wine"),
    *("kin8nm", "power", "naval", "bike"),
)
PEERS = ("catboost", "ngboost", "gp", "ensemble", "laplace", "bde", "bde-paper")
OURS = "goodprior"
SHORT = f"{OURS}-short"  # the default with fewer effective draws, which settings are compared with
ONCE = f"{OURS}-once"  # the default with one run of its chains, however it converges
CHOICES: dict[str, dict[str, Any]] = {
    SHORT: {"ess": 100},
    f"{OURS}-fitted": {"ess": 100, "belief": "fit"},
    f"{OURS}-smooth": {"ess": 100, "belief": "smooth"},
    f"{OURS}-sghmc": {"ess": 100, "method": "sghmc"},
    ONCE: {"draws": 100},
    f"{ONCE}-fitted": {"draws": 100, "belief": "fit"},
}
IN_HOUSE = {OURS: {}, "laplace": {"method": "laplace"}, **CHOICES}
TOLD = ("rhat_functions", "rhat_noise", "ess_min", "kinetic_temperature", "energy_error")
RESULTS = Path("results/scoreboard.csv")
CRPS_DRAWS = 200  # of a mixture, evenly spaced: the formula has a term for each pair


def fit(method: str, table: str, out: str) -> None:
    """`BNNRegressor` on one table: the predictive mixture, and one line of JSON."""
    from goodprior import BNNRegressor

    warnings.simplefilter("ignore")
    with np.load(table) as arrays:
        X, y, X_test = (arrays[name] for name in ("X", "y", "X_test"))
    started = time.perf_counter()
    model = BNNRegressor(random_state=0, **IN_HOUSE[method]).fit(X, y.ravel())
    found = model.posterior_.predict(X_test)
    mean = np.asarray(found.functions, np.float64)[..., 0]
    seconds = time.perf_counter() - started
    told: dict[str, Any] = {"seconds": seconds}
    if model.diagnostics_ is not None:  # Laplace has none
        known = model.diagnostics_.summary
        told |= {"rhat": known["rhat_max"], **{name: known.get(name) for name in TOLD}}
    np.savez(out, mean=mean, std=np.asarray(found.scale)[..., 0], degrees=found.degrees or np.inf)
    print(json.dumps(told))


def scores(
    mean: np.ndarray, std: np.ndarray, y: np.ndarray, degrees: float = np.inf
) -> dict[str, float]:
    """How good a mixture with a component per draw, (draws, points), is for the observations.

    Parameters
    ----------
    mean, std
        Location and scale of the noise around it, Gaussian unless `degrees` are finite.
    y
        An observation for each point.
    degrees
        Of freedom of Student-t noise.

    Returns
    -------
    dict
        `rmse`, `nll` of the mixture, `nll_moment` of one Gaussian with its moments, `crps`, and
        the share of observations within the central 95 %.

    Examples
    --------
    >>> found = scores(np.zeros((1, 2)), np.ones((1, 2)), np.array([0.0, 1.0]))
    >>> round(found["nll"], 3), round(found["crps"], 3), found["coverage_95"]
    (1.169, 0.418, 1.0)
    """
    from scipy import stats

    noise = stats.norm() if np.isinf(degrees) else stats.t(degrees)
    z = (y - mean) / std
    each = noise.logpdf(z) - np.log(std)
    below = noise.cdf(z).mean(axis=0)
    center, total = mean.mean(axis=0), mean.var(axis=0) + noise.var() * (std**2).mean(axis=0)
    moment = stats.norm.logpdf(y, center, np.sqrt(total))
    return {
        "rmse": float(np.sqrt(np.mean((center - y) ** 2))),
        "nll": float(-(special.logsumexp(each, axis=0) - np.log(len(each))).mean()),
        "nll_moment": float(-moment.mean()),
        "crps": _crps(mean, std * np.sqrt(noise.var()), y),
        "coverage_95": float(((below >= 0.025) & (below <= 0.975)).mean()),
    }


def _crps(mean: np.ndarray, std: np.ndarray, y: np.ndarray) -> float:
    """E|Y - y| - E|Y - Y'| / 2 of a Gaussian mixture (Student-t noise is taken by its variance)."""
    some = np.linspace(0, len(mean) - 1, min(len(mean), CRPS_DRAWS)).astype(int)
    mean, std = mean[some], std[some]
    to_observation = _absolute(y - mean, std**2).mean(axis=0)
    spread = np.mean(
        [_absolute(mean - m, std**2 + s**2).mean(axis=0) for m, s in zip(mean, std, strict=True)],
        axis=0,
    )
    return float((to_observation - 0.5 * spread).mean())


def _absolute(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The mean absolute value of a Gaussian."""
    std = np.sqrt(variance)
    ratio = mean / std
    density = np.exp(-0.5 * ratio**2) / np.sqrt(2 * np.pi)
    return mean * (2 * special.ndtr(ratio) - 1) + 2 * std * density


def command_of(method: str, peers: str) -> list[str]:
    """The program of a method, to which the files are appended."""
    if method in IN_HOUSE:
        return [sys.executable, "-m", "benchmarks.scoreboard", "--fit", method]
    return [peers, "-m", "benchmarks.peers.regressors", method]


def run_one(data: str, split: int, method: str, options: argparse.Namespace) -> dict[str, Any]:
    """One row: a fit in a process of its own, and its scores."""
    X, y, X_test, y_test = load(data).split(split)
    row: dict[str, Any] = {"data": data, "split": split, "method": method}
    row["integer_target"] = bool((y == np.round(y)).all())
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "table.npz", Path(folder) / "predicted.npz"
        np.savez(table, X=X, y=y.ravel(), X_test=X_test)
        command = [*shlex.split(options.through), *command_of(method, options.peers)]
        try:
            done = subprocess.run(
                [*command, str(table), str(out)],
                capture_output=True, text=True, timeout=options.most_seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return row | {"failed": f"took more than {options.most_seconds} s"}
        if done.returncode:
            return row | {"failed": " ".join(done.stderr.split())[-200:] or "no message"}
        with np.load(out) as found:
            degrees = float(found["degrees"]) if "degrees" in found else np.inf
            row |= scores(found["mean"], found["std"], y_test.ravel(), degrees)
    return row | json.loads(done.stdout.splitlines()[-1])


def jobs(options: argparse.Namespace) -> Iterator[tuple[str, int, str]]:
    """Methods of one split after each other: what slows the machine slows all of them."""
    for split in range(options.splits):
        for data in options.tables:
            for method in options.methods:
                yield data, split, method


def run(options: argparse.Namespace) -> pd.DataFrame:
    """What is missing, one after another; the file is written after each."""
    rows = pd.read_csv(options.out).to_dict("records") if options.out.exists() else []
    if options.again:
        rows = [row for row in rows if not isinstance(row.get("failed"), str)]
    done = {(row["data"], row["split"], row["method"]) for row in rows}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for job in jobs(options):
        if job in done:
            continue
        row = run_one(*job, options)
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
        rows.append(row)
        pd.DataFrame(rows).to_csv(options.out, index=False, float_format="%.6g")
    return pd.DataFrame(rows)


def summary(rows: pd.DataFrame) -> str:
    """Means over splits, a line for each table and method; integer-valued targets have a star."""
    rows = rows.assign(data=rows.data + rows.integer_target.map({True: " *", False: ""}))
    columns = [name for name in (*METRICS, "coverage_95", "seconds", "rhat") if name in rows]
    table = rows.groupby(["data", "method"], sort=False)[columns].mean()
    table.insert(0, "splits", rows.groupby(["data", "method"], sort=False)["nll"].count())
    text = table.to_string(float_format=lambda value: f"{value:.4g}", na_rep="")
    return f"{text}\n* the target is a whole number: densities mean little"


def choices(rows: pd.DataFrame) -> pd.DataFrame:
    """Settings of ours minus the default: paired means and standard errors over splits.

    Parameters
    ----------
    rows
        With the columns `data`, `split`, `method`, `rmse`, `nll` and `nll_moment`.
    """
    lines = []
    others = rows["method"].isin(set(CHOICES) - {SHORT, ONCE})
    for (data, method), part in rows[others].groupby(["data", "method"], sort=False):
        default = rows[rows["method"] == (ONCE if method.startswith(ONCE) else SHORT)]
        both = part.merge(default, on=["data", "split"], suffixes=("", "_default"))
        line = {"data": data, "method": method, "splits": len(both)}
        for score in ("rmse", "nll", "nll_moment"):
            difference = both[score] - both[f"{score}_default"]
            line[score] = f"{difference.mean():+.4g} ± {difference.sem():.2g}"
        rhats = both[["rhat_default", "rhat"]].max().round(2).tolist()
        lines.append(line | {"worst R-hat": f"{rhats[0]} / {rhats[1]}"})
    return pd.DataFrame(lines)


def main() -> None:
    """Run what is missing, then print the table and the ranks and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--methods", nargs="*", default=(*PEERS, OURS), choices=(*PEERS, *IN_HOUSE))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--most-seconds", type=float, default=3600, help="of one fit")
    parser.add_argument("--again", action="store_true", help="repeat what failed")
    parser.add_argument("--through", default="", help="a command to start each fit with")
    parser.add_argument("--peers", default=".venv-peers/bin/python", help="the peers' Python")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--report", action="store_true", help="run nothing, read what there is")
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        fit(*options.fit)
        return
    rows = pd.read_csv(options.out) if options.report else run(options)
    print(summary(rows))
    if {SHORT, ONCE} & set(rows["method"]):
        print(f"\nMinus the default\n{choices(rows).to_string(index=False)}")
    rows = rows[~rows["method"].isin(set(CHOICES) - {SHORT})]
    ranks = mean_ranks(rows)
    print(f"\nMean ranks over {ranks.attrs['tables']} tables\n{ranks.round(2).to_string()}")
    figure = diagram(rows)
    figure.savefig(options.out.with_suffix(".png"), dpi=150)


if __name__ == "__main__":
    main()
