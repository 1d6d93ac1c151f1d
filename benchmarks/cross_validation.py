"""Matching against searching: quality and time of prior variances (paper, section 6.5).

    python -m benchmarks.cross_validation --per-parameter 5 --bo-trials 60
    python -m benchmarks.cross_validation --per-parameter 2 --bo-trials 6 --limit 4 --quick

One hidden layer, so four scales. Every configuration is a posterior of SGHMC on 80 % of the
training rows and its NLL on the rest; the matched prior is measured in the same way.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import jax
import matplotlib.pyplot as plt
import numpy as np

import goodprior as gp
from benchmarks.table import Table
from goodprior import baselines as bl
from goodprior.data import load
from goodprior.studies.protocol import NOISE_VARIANCE


def main() -> None:
    """Run what is missing and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="boston")
    parser.add_argument("--split", type=int, default=0)
    parser.add_argument("--per-parameter", type=int, default=5)
    parser.add_argument("--bo-trials", type=int, default=60)
    parser.add_argument("--limit", type=int, help="at most so many configurations of the grid")
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a few draws of each posterior")
    parser.add_argument("--out", type=Path, default=Path("results/cross_validation.csv"))
    args = parser.parse_args()
    X, y, _, _ = load(args.dataset).split(args.split)
    key = jax.random.key(args.seed)
    network = gp.MLP(X.shape[1], (args.width,), 1, key=key)
    fixed = gp.GaussianPrior(network)
    short = {"burn_in": 100, "draws": 3, "thinning": 100} if args.quick else {}

    def sample(prior: gp.Prior, X: np.ndarray, y: np.ndarray, key: jax.Array) -> gp.Posterior:
        return gp.sample_posterior(
            prior, gp.Gaussian(NOISE_VARIANCE[args.dataset]), X, y,
            scaling=gp.Scaling.fit(X, y), key=key, **short,
        )  # fmt: skip

    def searched(scales: dict, X: np.ndarray, y: np.ndarray, key: jax.Array) -> Any:
        return sample(gp.GaussianPrior(network, scales), X, y, key)

    def proposed(name: str, X: np.ndarray, y: np.ndarray, key: jax.Array) -> Any:
        prior = fixed
        if name == "gpi-g":
            points = gp.rows_and_box(gp.Scaling.fit(X, y).inputs(X))
            belief = gp.HierarchicalGP.default(X.shape[1])
            prior = gp.match(prior, belief, points, held_out=0, key=key).prior
        return sample(prior, X, y, key)

    table = Table(args.out, ("way", "number"))
    names = list(fixed.scales)

    def known(way: str) -> list[bl.Trial]:
        rows = [row for row in table.rows if row["way"] == way]
        return [bl.Trial({n: row[n] for n in names}, row["nll"], row["seconds"]) for row in rows]

    def keep(way: str, number: int, trial: bl.Trial) -> None:
        row = {"way": way, "number": number}
        if row not in table:
            scales = trial.candidate if isinstance(trial.candidate, dict) else {}
            table.add({**row, **scales, "nll": trial.nll, "seconds": trial.seconds})

    evaluate = bl.Validation(searched, X, y, key)
    evaluate(fixed.scales)  # compile, so that all are timed alike
    for way in ("fg", "gpi-g"):
        if {"way": way, "number": 0} not in table:
            _, timed = (bl.Validation(proposed, X, y, key)(way) for _ in range(2))
            keep(way, 0, timed)
    grid = bl.scale_grid(network, args.per_parameter)
    order = np.random.default_rng(args.seed).permutation(len(grid))[: args.limit]
    shuffled = [grid[i] for i in order]
    for number, trial in enumerate(bl.trials(evaluate, shuffled, known=known("grid"))):
        keep("grid", number, trial)
    search = bl.bayesian_search(evaluate, network, trials=args.bo_trials, known=known("bo"))
    started = time.perf_counter()
    for number, trial in enumerate(search):
        # The surrogate's own time counts as well.
        spent = time.perf_counter() - started
        keep("bo", number, trial._replace(seconds=max(spent, trial.seconds)))
        started = time.perf_counter()

    figure, axis = plt.subplots(figsize=(7, 5), layout="constrained")
    for way in ("grid", "bo"):
        found = known(way)
        spent = np.cumsum([trial.seconds for trial in found])
        dots = axis.scatter(spent, [trial.nll for trial in found], s=6, alpha=0.4)
        color = dots.get_facecolor()[0][:3]
        front = bl.progress_front(found)
        ends = np.append(front[0], spent[-1]), np.append(front[1], front[1][-1])
        axis.step(*ends, where="post", color=color, label=f"{way}: best so far")
    for way, marker in (("fg", "x"), ("gpi-g", "^")):
        (row,) = [row for row in table.rows if row["way"] == way]
        axis.scatter(row["seconds"], row["nll"], marker=marker, s=90, label=way)
    top = np.quantile([row["nll"] for row in table.rows], 0.8)  # the worst go out of sight
    axis.set_ylim(top=top + 0.5)
    axis.set(xscale="log", xlabel="seconds in all", ylabel="validation NLL", title=args.dataset)
    axis.legend()
    figure.savefig(args.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
