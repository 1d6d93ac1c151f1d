"""KL against Wasserstein and energy matching, step by step (paper, section 5.3).

    python -m benchmarks.kl_matching --datasets concrete wine
    python -m benchmarks.kl_matching --datasets concrete --steps 10 --draws 200 --quick

Each row is a match stopped after so many steps: its squared MMD to the belief at test rows, and
RMSE and NLL of the posterior under the matched prior. The band has the belief against itself and
against one of doubled lengthscale.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import pandas as pd

import goodprior as gp
from benchmarks.table import Table
from goodprior.data import load
from goodprior.matching import KL, Distance, KLStein, squared_mmd
from goodprior.studies.protocol import NOISE_VARIANCE

DISTANCES: dict[str, Callable[[], Distance]] = {
    "energy": lambda: gp.Energy(settles=False),
    "wasserstein": gp.Wasserstein,
    "kl": lambda: KL(early_stopping=False),  # the whole course; `stop` says where it would stop
    "kl-ssge": KLStein,
}
_mmd = jax.jit(squared_mmd, static_argnums=2)


def run_one(dataset: str, split: int, name: str, steps: int, args: argparse.Namespace) -> dict:
    """One match of so many steps, measured, and its posterior."""
    X, y, X_test, y_test = load(dataset).split(split)
    scaling = gp.Scaling.fit(X, y)
    inputs = X.shape[1]
    width = (2 * inputs) ** 0.5
    key = jax.random.fold_in(jax.random.key(args.seed), split)
    key_network, key_match, key_belief, key_prior, key_other, key_sample = jax.random.split(key, 6)
    belief = gp.GaussianProcess(gp.rbf(width))
    x = scaling.inputs(X_test)[:500]
    target = belief.sample(key_belief, x, args.draws)
    if name in ("itself", "doubled"):
        other = gp.GaussianProcess(gp.rbf(width * (2.0 if name == "doubled" else 1.0)))
        return {"squared_mmd": float(_mmd(other.sample(key_other, x, args.draws), target, width))}
    prior = gp.GaussianPrior(gp.MLP(inputs, (args.width,) * args.depth, 1, key=key_network))
    started = time.perf_counter()
    found = {}
    if steps:
        points = gp.rows_and_box(scaling.inputs(X))
        distance = DISTANCES[name]()
        matched = gp.match(
            prior, belief, points, distance=distance, steps=steps, held_out=0, key=key_match
        )
        prior = matched.prior
        means = pd.Series(matched.history.distance).rolling(10).mean()
        below = means.index[means <= 0] if name == "kl" else []
        found["stop"] = int(below[0]) + 1 if len(below) else None
    functions = jax.jit(lambda key: prior.functions(key, x, args.draws))(key_prior)
    short = {"burn_in": 100, "draws": 3, "thinning": 100} if args.quick else {}
    posterior = gp.sample_posterior(
        prior, gp.Gaussian(NOISE_VARIANCE[dataset]), X, y, scaling=scaling, key=key_sample, **short
    )
    return {
        "squared_mmd": float(_mmd(functions, target, width)),
        "std_ratio": float(jnp.mean(functions.std(0) / target.std(0))),
        **gp.regression_metrics(posterior.predict(X_test), y_test),
        **found,
        "seconds": time.perf_counter() - started,
    }


def draw(table: Table, out: Path) -> None:
    """Squared MMD, NLL and RMSE against steps, a column a data set."""
    frame = table.frame
    datasets = list(dict.fromkeys(frame.dataset))
    shown = ("squared_mmd", "nll", "rmse")
    figure, axes = plt.subplots(
        3, len(datasets), figsize=(5 * len(datasets), 9), squeeze=False, layout="constrained"
    )
    for column, dataset in enumerate(datasets):
        for axis, value in zip(axes[:, column], shown, strict=True):
            rows = frame[(frame.dataset == dataset) & frame[value].notna()]
            for name in DISTANCES:
                each = rows[rows.distance == name].groupby("steps")[value].mean()
                axis.plot(each.index, each, marker="o", label=name)
            if value == "squared_mmd":
                band = rows[rows.distance.isin(["itself", "doubled"])]
                for name, level in band.groupby("distance")[value].mean().items():
                    axis.axhline(level, linestyle=":", color="gray")
                    axis.annotate(str(name), (1.0, level), xycoords=("axes fraction", "data"))
            axis.set(title=dataset, xlabel="steps", ylabel=value)
    axes[0, 0].legend()
    figure.savefig(out)


def main() -> None:
    """Run what is missing and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=["concrete", "wine"])
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--steps", nargs="+", type=int, default=[0, 10, 20, 50, 100, 200, 400])
    parser.add_argument("--distances", nargs="+", default=list(DISTANCES), choices=list(DISTANCES))
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--draws", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a few draws of the posterior")
    parser.add_argument("--out", type=Path, default=Path("results/kl_matching.csv"))
    args = parser.parse_args()
    table = Table(args.out, ("dataset", "split", "distance", "steps"))
    for dataset in args.datasets:
        for split in range(args.splits):
            jobs = [("itself", 0), ("doubled", 0)]
            jobs += [(name, steps) for name in args.distances for steps in args.steps]
            for name, steps in jobs:
                row = {"dataset": dataset, "split": split, "distance": name, "steps": steps}
                if row not in table:
                    table.add({**row, **run_one(dataset, split, name, steps, args)})
    draw(table, args.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
