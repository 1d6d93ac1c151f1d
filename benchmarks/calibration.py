"""Simulation-based calibration of the samplers under each prior, at three noise variances.

python -m benchmarks.calibration
python -m benchmarks.calibration --simulations 200 --priors gpi-g --samplers mclmc

A small network, so that every fit takes about a second: one hidden layer of ten tanh units, twenty
rows of one input, a Gaussian process of lengthscale 1 as the belief. Each fit is that of the method
as it is by default. Simulations are kept in blocks (`--work`), so that the same command goes on
where it was stopped, and more simulations add to those that are there. Writes `calibration.csv`,
with a row for each cell and test quantity, and `calibration.png`.
"""

import argparse
import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import goodprior as gp
from goodprior import plots
from goodprior.evaluation.calibration import Calibration, calibration_of
from goodprior.pipeline import ObservationModel, Target, fit_prior, parse_method
from goodprior.pipeline.calibrate import run_simulations
from goodprior.pipeline.simulator import Simulator

PRIORS = ("fg", "gpi-g", "gpi-h", "gpi-nf")
NOISES = (0.1, 0.01, 0.001)
SAMPLERS = ("sghmc", "mclmc")
ROWS, POINTS = 20, 3
BLOCK = 25  # simulations in a file
TARGET = Target(1.05, 400.0)  # what estimators ask for
BINS = 10
KEY = jax.random.key(0)


class Cell(NamedTuple):
    """A prior, a noise variance and a sampler."""

    prior: str
    noise: float
    sampler: str

    @property
    def name(self) -> str:
        return f"{self.prior}-{self.noise:g}-{self.sampler}"


def problem(cell: Cell) -> gp.Problem:
    """Twenty rows, with the prior still to be matched."""
    X = np.sort(np.random.default_rng(0).uniform(-2, 2, (ROWS, 1)), axis=0)
    return gp.Problem(
        X,
        None,
        ObservationModel(gp.Gaussian(cell.noise), 1),
        gp.GaussianProcess(gp.rbf()),
        network=gp.NetworkSpec((10,)),
        prior=cell.prior,
    )


def run_block(cell: Cell, prior: gp.Prior, number: int, path: Path) -> None:
    """One file of simulations, with the seconds that they took."""
    started = time.perf_counter()
    simulator = Simulator(problem(cell), prior, rows=ROWS, points=POINTS, around=None)
    method = parse_method(cell.sampler)

    def sample(problem: gp.Problem, key: Any, hooks: Any) -> Any:
        return gp.fit_posterior(problem, method, key=key, target=TARGET, hooks=hooks).posterior

    numbers = range(number * BLOCK, (number + 1) * BLOCK)
    found = run_simulations(simulator, sample, numbers, key=KEY)
    np.savez(
        path,
        names=np.array(simulator.quantities.names),
        truth=np.stack(found.truth),
        draws=np.stack(found.draws),
        failed=found.failed,
        seconds=time.perf_counter() - started,
    )


def gather(cell: Cell, work: Path) -> tuple[Calibration, float] | None:
    """The calibration of all blocks there are, and the seconds that a simulation took."""
    files = [np.load(path) for path in sorted(work.glob(f"{cell.name}-*.npz"))]
    if not files:
        return None
    truth, draws = (np.concatenate([f[name] for f in files]) for name in ("truth", "draws"))
    failed = sum(int(f["failed"]) for f in files)
    seconds = sum(float(f["seconds"]) for f in files) / (len(truth) + failed)
    found = calibration_of(files[0]["names"].tolist(), truth, draws, failed=failed)
    return replace(found, about=cell.name), seconds


def rows_of(cell: Cell, found: Calibration, seconds: float) -> list[dict[str, Any]]:
    """One row for each test quantity."""
    return [
        {
            **cell._asdict(),
            "simulations": found.simulations,
            "failed": found.failed,
            "quantity": each.name,
            "p_value": each.p_value,
            "p_value_all": found.p_value,
            "draws_ranked": each.draws,
            "leaning": each.leaning,
            "ranks": " ".join(map(str, each.histogram(BINS))),
            "seconds_each": round(seconds, 2),
        }
        for each in found.quantities
    ]


def picture(found: dict[Cell, Calibration]) -> Figure:
    """A row for each cell, a column for each test quantity."""
    columns = max(len(each.quantities) for each in found.values())
    figure = plots.new_figure(len(found), columns, panel=(2.4, 1.7))
    panels = figure.subplots(len(found), columns, squeeze=False, sharex=True)
    for line, (cell, each) in zip(panels, found.items(), strict=True):
        for axes, ranks in zip(line, each.quantities, strict=False):
            right = ranks.p_value > 0.01
            plots.plot_ranks(axes, ranks, colour=plots.COLOURS["GPi-G" if right else "GPi-H"])
            axes.tick_params(labelsize=6)
        line[0].set_ylabel(f"{cell.prior}, {cell.noise:g}\n{cell.sampler}", fontsize=7)
    return figure


def write(cells: list[Cell], work: Path, out: Path) -> None:
    """The table and the picture of all cells of which something has been run."""
    there = {cell: found for cell in cells if (found := gather(cell, work)) is not None}
    lines = [row for cell, found in there.items() for row in rows_of(cell, *found)]
    pd.DataFrame(lines).to_csv(out / "calibration.csv", index=False)
    picture({cell: found for cell, (found, _) in there.items()}).savefig(out / "calibration.png")


def main() -> None:
    """Run what is missing, a block of each cell in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--priors", nargs="+", default=PRIORS, choices=PRIORS)
    parser.add_argument("--noises", nargs="+", type=float, default=NOISES)
    parser.add_argument("--samplers", nargs="+", default=SAMPLERS)
    parser.add_argument("--work", type=Path, default=Path("build/calibration"))
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    cells = [Cell(*c) for c in itertools.product(args.priors, args.noises, args.samplers)]
    every = [Cell(*c) for c in itertools.product(PRIORS, NOISES, SAMPLERS)]
    priors: dict[str, gp.Prior] = {}
    for number, cell in itertools.product(range(-(-args.simulations // BLOCK)), cells):
        path = args.work / f"{cell.name}-{number:03d}.npz"
        if path.exists():
            continue
        if cell.prior not in priors:
            priors[cell.prior] = fit_prior(problem(cell), key=KEY)[0]
        run_block(cell, priors[cell.prior], number, path)
        found, seconds = gather(cell, args.work) or (None, 0.0)
        print(f"{cell.name} ({seconds:.1f} s each)\n{found}", flush=True)
        write(every, args.work, args.out)
    write(every, args.work, args.out)


if __name__ == "__main__":
    main()
