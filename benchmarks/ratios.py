"""Belief and closed-form priors, column by column: python -m benchmarks.ratios.

Lengthscales from 0.3 to 0.3 times a ratio over two or eight columns, and kernels of one column.
Along each column ([-2, 2], the others at 0): crossings of a draw's own mean, its standard deviation
and the mean squared first and second differences of the median draw; and the held-out energy
distance, as a share of that between two of the belief's draws. Writes `results/ratios.csv` and
`results/ratios.png`; finished rows are kept.
"""

from math import inf
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from goodprior import plots
from goodprior.beliefs import About, Factor, SumOfTerms, Term
from goodprior.matching.distances import energy_distance, mean_distance
from goodprior.priors import closed_form_prior

RESULTS = Path("results/ratios.csv")
FAMILIES = ("gpi-g", "gpi-h", "gpi-nf")
RATIOS, COLUMNS = (3, 30, 300), (2, 8)
GRID = np.linspace(-2, 2, 200)
DRAWS = 1500
JITTER = 5e-9  # second differences below it are those of the factorisation of the belief's matrix
WHO = {"belief": "black", "gpi-g": "GPi-G", "gpi-h": "GPi-H", "gpi-nf": "GPi-NF"}


def beliefs() -> dict[str, tuple[SumOfTerms, int]]:
    """By name, with the number of columns."""
    found = {}
    for columns in COLUMNS:
        for ratio in RATIOS:
            lengths = np.geomspace(0.3, 0.3 * ratio, columns)
            factors = tuple(Factor(i, About(float(v))) for i, v in enumerate(lengths))
            name = f"{columns} columns, ratio {ratio}"
            found[name] = SumOfTerms((Term(About(1.0), factors),)), columns
    season = Term(About(1.0), (Factor(0, About(1.0), period=0.8),))
    alone = {f"matern {nu}": (_one(nu),) for nu in (0.5, 1.5, 2.5)}
    alone |= {"rbf": (_one(inf),), "season": (season,)}
    alone["trend + season"] = (Term(About(0.5), times=(0,)), season)
    return found | {name: (SumOfTerms(terms), 1) for name, terms in alone.items()}


def _one(smoothness: float) -> Term:
    return Term(About(1.0), (Factor(0, About(0.6), smoothness),))


def along(functions: np.ndarray) -> dict[str, float]:
    """What draws are like along a line."""
    centred = functions - functions.mean(axis=1, keepdims=True)
    above = centred > 0
    return {
        "crossings": float(np.mean(np.sum(above[:, 1:] != above[:, :-1], axis=1))),
        "sd": float(np.sqrt(np.mean(centred**2))),
        "amplitude": float(functions.std()),
        "d1": float(np.median(np.mean(np.diff(functions) ** 2, axis=1))),
        "d2": float(np.median(np.mean(np.diff(functions, 2) ** 2, axis=1))),
    }


def measure(name: str, belief: SumOfTerms, columns: int) -> list[dict[str, Any]]:
    """A row for each column of the belief and of each family."""
    key = jax.random.key(0)
    draw = {"belief": belief.sample}
    for family in FAMILIES:
        draw[family] = closed_form_prior(family, belief, key=key).functions
    at = jax.random.uniform(jax.random.key(1), (100, columns), minval=-2, maxval=2)
    target = jnp.asarray(belief.sample(jax.random.key(2), at, DRAWS))
    rows = []
    for who, sample in draw.items():
        away = energy_distance(jnp.asarray(sample(jax.random.key(3), at, DRAWS)), target)
        share = float(away / mean_distance(target))
        for column in range(columns):
            line = np.zeros((len(GRID), columns), np.float32)
            line[:, column] = GRID
            functions = np.asarray(sample(jax.random.key(4 + column), jnp.asarray(line), DRAWS))
            found = along(functions[..., 0].astype(np.float64))
            rows.append({"case": name, "who": who, "column": column, **found, "distance": share})
    return rows


def errors(frame: pd.DataFrame) -> pd.DataFrame:
    """The worst relative difference from the belief, by case and family."""
    what = ["crossings", "sd", "amplitude", "d1", "d2"]
    frame = frame.assign(d2=frame["d2"].where(frame["d2"] > JITTER))
    wide = frame.set_index(["case", "column", "who"])[what].unstack("who")
    lines = []
    for case, part in wide.groupby(level="case", sort=False):
        for who in FAMILIES:
            worst = {w: (part[w, who] / part[w, "belief"] - 1).abs().max() for w in what}
            lines.append({"case": case, "who": who, **worst})
    away = frame.groupby(["case", "who"], sort=False)["distance"].first().reset_index()
    return pd.DataFrame(lines).merge(away, on=["case", "who"])


def picture(frame: pd.DataFrame) -> Figure:
    """Crossings and standard deviations along every column, belief and families side by side."""
    figure = Figure(figsize=(14, 6), layout="constrained")
    cases = [f"{columns} columns, ratio {ratio}" for columns in COLUMNS for ratio in RATIOS]
    axes = figure.subplots(2, len(cases), sharey="row", width_ratios=[1, 1, 1, 2, 2, 2])
    for i, case in enumerate(cases):
        part = frame[frame["case"] == case]
        for ax, what in zip(axes[:, i], ("crossings", "sd"), strict=True):
            for j, (who, name) in enumerate(WHO.items()):
                own = part[part["who"] == who]
                style = {"marker": "_", "s": 250, "color": "black", "zorder": 0}
                if who != "belief":
                    style = {"s": 22, "color": plots.COLOURS[name]}
                label = "belief" if who == "belief" else name
                shift = 0 if who == "belief" else 0.22 * (j - 2)
                ax.scatter(own["column"] + 1 + shift, own[what], label=label, **style)
            ax.set_yscale("log")
            ax.set_xticks(range(1, part["column"].max() + 2))
            ax.margins(x=0.15)
        axes[0, i].set_title(case.replace(", ", "\n"))
        axes[1, i].set_xlabel("column")
    for ax, ticks in zip(axes[:, 0], ((1, 2, 3, 4, 5), (0.01, 0.03, 0.1, 0.3, 1)), strict=True):
        ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
    axes[0, 0].set_ylabel("crossings of a draw's mean")
    axes[1, 0].set_ylabel("standard deviation along it")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def main() -> None:
    """Measure what is missing, then print the worst differences and draw the picture."""
    rows: list[Any] = pd.read_csv(RESULTS).to_dict("records") if RESULTS.exists() else []
    done = {row["case"] for row in rows}
    for name, (belief, columns) in beliefs().items():
        if name not in done:
            rows += measure(name, belief, columns)
            pd.DataFrame(rows).to_csv(RESULTS, index=False, float_format="%.4g")
            print(name, flush=True)
    frame = pd.DataFrame(rows)
    print(errors(frame).round(3).to_string(index=False))
    picture(frame).savefig(RESULTS.with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
