"""Every baseline beside the fixed and the matched Gaussian prior, on the UCI regression sets.

    python -m benchmarks.baselines --datasets boston concrete energy wine --splits 5 --depths 1 2
    python -m benchmarks.baselines --datasets boston --splits 1 --quick   # does it run?

FG, FH, GPi-G and GPi-H with SGHMC are `goodprior study run uci-regression`.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import goodprior as gp
from benchmarks.table import Table
from goodprior import baselines as bl
from goodprior.data import load
from goodprior.studies.protocol import NOISE_VARIANCE


class Job(NamedTuple):
    """One data set, split and depth; what the methods need of it."""

    X: np.ndarray
    y: np.ndarray
    hidden: tuple[int, ...]
    noise_variance: float
    key: jax.Array
    quick: bool

    @property
    def given(self) -> dict[str, Any]:
        return {"scaling": gp.Scaling.fit(self.X, self.y), "key": jax.random.fold_in(self.key, 1)}

    @property
    def likelihood(self) -> gp.Gaussian:
        return gp.Gaussian(self.noise_variance)

    def epochs(self, full: int) -> int:
        return 3 if self.quick else full

    def network(self, outputs: int = 1) -> gp.MLP:
        return gp.MLP(self.X.shape[1], self.hidden, outputs, key=self.key)

    def fixed(self) -> gp.GaussianPrior:
        return gp.GaussianPrior(self.network())

    def matched(self) -> gp.GaussianPrior:
        inputs = self.X.shape[1]
        points = gp.rows_and_box(self.given["scaling"].inputs(self.X))
        belief = gp.HierarchicalGP.default(inputs)
        steps = 20 if self.quick else None
        key = jax.random.fold_in(self.key, 2)
        return gp.match(self.fixed(), belief, points, steps=steps, held_out=0, key=key).prior  # type: ignore[return-value]

    def sghmc(self, prior: gp.Prior, likelihood: gp.Gaussian, **changes: Any) -> gp.Posterior:
        short = {"burn_in": 100, "draws": 3, "thinning": 100} if self.quick else {}
        given = self.given | short | changes
        X, y = given.pop("X", self.X), given.pop("y", self.y)
        return gp.sample_posterior(prior, likelihood, X, y, **given)

    def marglik(self) -> bl.Laplace:
        schedule = bl.MarginalLikelihood(steps=10, learn_noise=False)
        return bl.fit_laplace(
            self.fixed(), self.likelihood, self.X, self.y,
            marginal_likelihood=schedule, epochs=self.epochs(500), **self.given,
        )  # fmt: skip


def tempered(job: Job) -> Any:
    """FG+TS: the temperature is chosen on a fifth of the rows."""

    def fit(temperature: float, X: np.ndarray, y: np.ndarray, key: jax.Array) -> gp.Posterior:
        given = {"X": X, "y": y, "key": key, "scaling": gp.Scaling.fit(X, y)}
        return job.sghmc(job.fixed(), job.likelihood, temperature=temperature, **given)

    choice, _ = bl.tune(fit, bl.TEMPERATURES, job.X, job.y, key=jax.random.fold_in(job.key, 3))
    return job.sghmc(job.fixed(), job.likelihood, temperature=choice)


METHODS: dict[str, Callable[[Job], Any]] = {
    "ensemble": lambda j: bl.fit_ensemble(
        j.network(2), gp.Heteroscedastic(), j.X, j.y, epochs=j.epochs(50), **j.given
    ),
    "early stopping": lambda j: bl.fit_early_stopping(
        j.network(), j.likelihood, j.X, j.y, epochs=j.epochs(150), **j.given
    ),
    "map fg": lambda j: bl.fit_map(
        j.fixed(), j.likelihood, j.X, j.y, epochs=j.epochs(150), **j.given
    ),
    "map gpi-g": lambda j: bl.fit_map(
        j.matched(), j.likelihood, j.X, j.y, epochs=j.epochs(150), **j.given
    ),
    "laplace fg": lambda j: bl.fit_laplace(
        j.fixed(), j.likelihood, j.X, j.y, epochs=j.epochs(150), **j.given
    ),
    "laplace gpi-g": lambda j: bl.fit_laplace(
        j.matched(), j.likelihood, j.X, j.y, epochs=j.epochs(150), **j.given
    ),
    "la-marglik": lambda j: j.marglik(),
    "la-marglik sghmc": lambda j: j.sghmc(j.marglik().prior, j.likelihood),
    "fbnn": lambda j: bl.fit_fbnn(
        j.network(), j.likelihood, j.X, j.y, epochs=j.epochs(1000), **j.given
    ),
    "fg tempered": tempered,
}


def main() -> None:
    """Run what is missing and print the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=["boston", "concrete", "energy", "wine"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--depths", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a few steps of everything")
    parser.add_argument("--out", type=Path, default=Path("results/baselines.csv"))
    args = parser.parse_args()
    table = Table(args.out, ("dataset", "split", "depth", "method"))
    for dataset in args.datasets:
        for split in range(args.splits):
            X, y, X_test, y_test = load(dataset).split(split)
            for depth in args.depths:
                key = jax.random.fold_in(jax.random.key(args.seed), split)
                hidden = (args.width,) * depth
                job = Job(X, y, hidden, NOISE_VARIANCE[dataset], key, args.quick)
                for method in args.methods:
                    row = {"dataset": dataset, "split": split, "depth": depth, "method": method}
                    if row in table:
                        continue
                    started = time.perf_counter()
                    fitted = METHODS[method](job)
                    seconds = time.perf_counter() - started
                    metrics = gp.regression_metrics(fitted.predict(X_test), y_test)
                    table.add({**row, **metrics, "seconds": seconds})
    by = ["dataset", "depth", "method"]
    print(table.frame.groupby(by)[["rmse", "nll", "nll_moment", "seconds"]].agg(["mean", "std"]))


if __name__ == "__main__":
    main()
