"""Does the critic in fewer, longer steps give the prior that the published one gives?

GOODPRIOR_DATA=FOLDER python -m benchmarks.short_critic boston --schedules 20 200 --seeds 0 1 2

GPi-G, split 0 unless said otherwise, as in the UCI studies: matched by the published critic (200
steps for each of the prior's) and by shorter schedules, with steps longer by the root of the
ratio; `20 as long` keeps the published rate, as a control. Held-out distances are of 8,000 draws at
16 measurement sets, the same for all; posteriors (`--posteriors`) are by the paper's SGHMC with
4 chains. Seeds differ in all of the match; held-out draws and chains have the same ones. Seconds
are of the processor. `as in the study` is the distance of 512 draws that the study's rows have,
`stored` the one there of the published schedule. Finished rows of `results/short_critic.csv` are
kept. The table compares with the published schedule by pairs of the same data set, split and seed,
beside the spread of the short one over its own seeds; `log_stored` compares with the stored rows,
with an interval over splits.
"""

import argparse
import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from goodprior.evaluation import regression_metrics
from goodprior.inference import SGHMC
from goodprior.matching import Wasserstein, compare
from goodprior.pipeline import Problem, fit_posterior, fit_prior
from goodprior.pipeline.fit import unmatched_prior
from goodprior.pipeline.keys import stage_key
from goodprior.priors import GaussianPrior
from goodprior.studies.engine.store import Store
from goodprior.studies.engine.study import Choice
from goodprior.studies.protocols import tables
from goodprior.studies.protocols.data import problem_and_test
from goodprior.studies.protocols.start import StandardStart
from goodprior.studies.reports.compare import t_interval


def short_critic(steps: int) -> Wasserstein:
    """The published critic, its 200 steps per step of the prior taken as fewer, longer ones.

    Adagrad divides a rate r by the root of the sum of squared gradients. While a gradient g hardly
    changes, k steps move a weight by k r g / sqrt(S) and add k g^2 to S. One step that moves it as
    far adds g^2 to a sum that is k times smaller, so its rate is sqrt(k) r.
    """
    published = Wasserstein(restart=True)
    ratio = published.critic_steps / steps
    rate = published.critic_learning_rate * ratio**0.5
    return replace(published, critic_steps=steps, critic_learning_rate=rate)


SETS = ("boston", "concrete", "energy", "wine", "kin8nm")
SCHEDULES = {
    "200": short_critic(200),  # as published
    "40": short_critic(40),
    "20": short_critic(20),
    "10": short_critic(10),
    "20 as long": Wasserstein(restart=True, critic_steps=20),
}
RESULTS = Path("results/short_critic.csv")
PLACE = ("data", "schedule", "split", "seed")
SCALE = "scale "
HELD_OUT = 4  # comparisons of 2,000 functions at four measurement sets each
MEASURES = ("log_distance", "std_ratio", "log_inner", "log_last", "nll_moment", "rmse")


def matched(name: str, schedule: str, split: int, seed: int) -> dict[str, float]:
    """Match; return seconds, held-out distances and the prior's scales."""
    problem, *_ = _problem(name, split)
    problem = replace(problem, distance=SCHEDULES[schedule])
    started = time.process_time()
    prior, history = fit_prior(problem, key=jax.random.fold_in(jax.random.key(seed), split))
    assert isinstance(prior, GaussianPrior)
    assert history is not None
    assert history.after is not None
    row = {"seconds": time.process_time() - started}
    row |= {"as in the study": history.after.energy_distance, "stored": stored(name, split)}
    found = [
        compare(
            prior,
            problem.belief,
            problem.measurement_set(),
            key=stage_key(jax.random.key(i), "held out"),
        )
        for i in range(HELD_OUT)
    ]
    row |= dict(zip(found[0]._fields, np.mean(found, axis=0), strict=True))
    return row | {f"{SCALE}{k}": float(v) for k, v in prior.scales.items()}


def stored(name: str, split: int) -> float:
    """The held-out energy distance that the study has of the published schedule, or NaN."""
    wanted = {**_settings(name, split), "distance": "wasserstein"}
    wanted = {k: wanted[k] for k in ("dataset", "method", "depth", "split", "distance")}
    for result in Store("results/uci-regression").results().values():
        if wanted.items() <= result.settings.items():
            return result.row["match_energy_distance"]
    return float("nan")


def sampled(row: dict[str, Any]) -> dict[str, float]:
    """Sample the posterior under a row's prior; return its scores."""
    problem, X_test, y_test = _problem(row["data"], row["split"])
    scales = [value for k, value in row.items() if k.startswith(SCALE)]
    first = unmatched_prior(problem, jax.random.key(0))
    assert isinstance(first, GaussianPrior)
    problem = replace(problem, prior=first.with_scales(jnp.asarray(scales)))
    settings = _settings(row["data"], row["split"])
    lengths = {k: settings[k] for k in ("burn_in", "thinning", "batch_size")}
    started = time.process_time()
    posterior = fit_posterior(
        problem,
        StandardStart.by(SGHMC(**lengths)),
        key=jax.random.key(0),
        chains=settings["chains"],
        draws=settings["draws"],
    ).posterior
    scores = regression_metrics(posterior.predict(X_test), y_test)
    seconds = time.process_time() - started
    return {**{k: scores[k] for k in ("nll_moment", "rmse")}, "sampling_seconds": seconds}


def _settings(name: str, split: int) -> dict[str, Any]:
    return tables.table_settings(name, "gpi-g", 2, split, Choice("paper"))


def _problem(name: str, split: int) -> tuple[Problem, np.ndarray, np.ndarray]:
    problem, X_test, y_test = problem_and_test(_settings(name, split))
    return replace(problem, prior="gpi-g"), X_test, y_test


def measures(rows: pd.DataFrame) -> pd.DataFrame:
    """What is compared: logarithms of what is a scale."""
    scales = np.log(rows[[c for c in rows if str(c).startswith(SCALE)]])
    return rows.assign(
        log_distance=np.log(rows["energy_distance"]),
        log_inner=scales.iloc[:, :-2].mean(axis=1),
        log_last=scales.iloc[:, -2:].mean(axis=1),
    )


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """By schedule and measure: the mean difference over data sets, with its interval."""
    rows, lines = measures(rows), []
    published = rows[rows["schedule"] == "200"]
    for schedule, part in rows[rows["schedule"] != "200"].groupby("schedule", sort=False):
        both = part.merge(published, on=["data", "split", "seed"], suffixes=("", "_published"))
        ratio = np.log(part["as in the study"] / part["stored"]).dropna()
        low, high = t_interval(ratio)
        line = {"schedule": schedule, "measure": "log_stored", "matches": len(ratio)}
        lines.append({**line, "difference": ratio.mean(), "low": low, "high": high})
        for measure in (m for m in MEASURES if m in rows):
            each = (both[measure] - both[f"{measure}_published"]).groupby(both["data"]).mean()
            low, high = t_interval(each.dropna())
            over_seeds = part.groupby("data")[measure].std()
            lines.append(
                {
                    "schedule": schedule,
                    "measure": measure,
                    "sets": int(each.notna().sum()),
                    "matches": len(both),
                    "difference": each.mean(),
                    "low": low,
                    "high": high,
                    "its sd over seeds": float((over_seeds**2).mean() ** 0.5),
                    "seconds": both["seconds"].mean(),
                    "published seconds": both["seconds_published"].mean(),
                }
            )
    return pd.DataFrame(lines)


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--schedules", nargs="+", choices=SCHEDULES, default=("20", "200"))
    parser.add_argument("--splits", nargs="+", type=int, default=(0,))
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1))
    parser.add_argument("--posteriors", action="store_true", help="sample those that are missing")
    options = parser.parse_args()
    rows = pd.read_csv(RESULTS, dtype={"schedule": str}) if RESULTS.exists() else pd.DataFrame()
    found = {tuple(r[k] for k in PLACE): r for r in rows.to_dict("records")}
    places = (options.seeds, options.splits, options.sets, options.schedules)
    for seed, split, name, schedule in itertools.product(*places):
        row = found.setdefault((name, schedule, split, seed), {})
        row |= dict(zip(PLACE, (name, schedule, split, seed), strict=True))
        before = len(row)
        if "seconds" not in row:
            row |= matched(name, schedule, split, seed)
        if options.posteriors and not row.get("nll_moment", np.nan) > -np.inf:
            row |= sampled(row)
        if len(row) != before or options.posteriors:
            print(
                {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True
            )
        pd.DataFrame(found.values()).to_csv(RESULTS, index=False, float_format="%.6g")
    print(summary(pd.DataFrame(found.values())).round(4).to_string(index=False))


if __name__ == "__main__":
    main()
