"""How well SGHMC samples: its temperature on real data, and its predictions beside NUTS.

python -m benchmarks.samplers temperature
python -m benchmarks.samplers short-step
python -m benchmarks.samplers nuts
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pandas as pd

import goodprior as gp
from goodprior.data import load
from goodprior.devices import use_all_cores
from goodprior.studies.protocols.tables import NOISE_VARIANCE

SETTINGS = {
    "paper": gp.SGHMC(),
    "per-weight friction": gp.SGHMC(friction="per-weight"),
    "per-weight, estimated": gp.SGHMC(friction="per-weight", gradient_noise="estimated"),
    "half step": gp.SGHMC(step_size=0.005),
    "half step, per-weight, estimated": gp.SGHMC(
        step_size=0.005, friction="per-weight", gradient_noise="estimated"
    ),
}


def temperature(out: Path) -> None:
    """The estimated temperature over weights and the share of clamped noise."""
    rows = []
    for dataset, burn_in in (("boston", 2000), ("energy", 2000), ("naval", 5000)):
        X, y, X_test, y_test = load(dataset).split(0)
        scaling = gp.Scaling.fit(X, y)
        prior = gp.GaussianPrior(gp.MLP(X.shape[1], (100, 100), 1, key=jax.random.key(0)))
        for name, sampler in SETTINGS.items():
            posterior = gp.sample_posterior(
                prior, gp.Gaussian(NOISE_VARIANCE[dataset]), X, y, scaling=scaling,
                sampler=replace(sampler, burn_in=burn_in, thinning=1000), draws=10,
                key=jax.random.key(1),
            )  # fmt: skip
            report = posterior.report
            metrics = gp.regression_metrics(posterior.predict(X_test), y_test)
            rows.append({"dataset": dataset, "settings": name, **report.numbers, **metrics})
            print(
                f"{dataset:8} {name:34} T {report.temperature_5:.3f} "
                f"{report.temperature_50:.3f} {report.temperature_95:.3f} clamped "
                f"{report.clamped:.3f} rmse {metrics['rmse']:.4f} nll {metrics['nll']:.3f}",
                flush=True,
            )
            pd.DataFrame(rows).to_csv(out / "temperature.csv", index=False)


def short_step(out: Path) -> None:
    """Two stages: the paper's settings to get there, then a short step to sample at T = 1."""
    rows = []
    for dataset in ("naval", "energy", "boston"):
        X, y, X_test, y_test = load(dataset).split(0)
        prior = gp.GaussianPrior(gp.MLP(X.shape[1], (100, 100), 1, key=jax.random.key(0)))
        likelihood = gp.Gaussian(NOISE_VARIANCE[dataset])
        there, paper = None, gp.SGHMC(burn_in=5000, thinning=1000)
        for stage, sampler in (("paper", paper), ("short step", paper.with_short_step())):
            posterior = gp.sample_posterior(
                prior, likelihood, X, y, scaling=gp.Scaling.fit(X, y), sampler=sampler,
                start=there, draws=5, key=jax.random.key(1),
            )  # fmt: skip
            there = posterior
            metrics = gp.regression_metrics(posterior.predict(X_test), y_test)
            rows.append({"dataset": dataset, "stage": stage, **posterior.report.numbers, **metrics})
            print({k: round(v, 4) if isinstance(v, float) else v for k, v in rows[-1].items()})
            pd.DataFrame(rows).to_csv(out / "temperature_two_stages.csv", index=False)


def nuts(out: Path) -> None:
    """Boston's first split, two hidden layers of 50: SGHMC at the paper's settings, and NUTS."""
    X, y, X_test, y_test = load("boston").split(0)
    scaling = gp.Scaling.fit(X, y)
    prior = gp.GaussianPrior(gp.MLP(X.shape[1], (50, 50), 1, key=jax.random.key(0)))
    belief, points = gp.HierarchicalGP.default(X.shape[1]), gp.rows_and_box(scaling.inputs(X))
    matched, _ = gp.match(prior, belief, points, key=jax.random.key(1))
    rows = []
    for prior_name, used in (("gpi-g", matched), ("fg", prior)):
        for name, settings in {
            "SGHMC": {"sampler": gp.SGHMC()},
            "NUTS": {
                "sampler": gp.NUTS(max_doublings=8, burn_in=200, thinning=10),
                "draws": 20,
            },
        }.items():
            started = time.perf_counter()
            posterior = gp.sample_posterior(
                used, gp.Gaussian(0.1), X, y, scaling=scaling, key=jax.random.key(2), **settings
            )
            prediction = posterior.predict(X_test)
            quantiles = np.asarray(prediction.quantiles([0.05, 0.5, 0.95])).mean(axis=(1, 2))
            row = {
                "prior": prior_name,
                "sampler": name,
                **gp.regression_metrics(prediction, y_test),
                "mean_q05": quantiles[0],
                "mean_q50": quantiles[1],
                "mean_q95": quantiles[2],
                **gp.diagnose(posterior).summary,
                "seconds": time.perf_counter() - started,
            }
            rows.append(row)
            print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()})
            pd.DataFrame(rows).to_csv(out / "sghmc_vs_nuts.csv", index=False)


def main() -> None:
    """Run one of the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["temperature", "short-step", "nuts"])
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    use_all_cores()
    {"temperature": temperature, "short-step": short_step, "nuts": nuts}[args.what](args.out)


if __name__ == "__main__":
    main()
