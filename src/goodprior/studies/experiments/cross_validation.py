"""Matching beside a search for the prior's variances (section 6.5): figure 13."""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.protocols import tables

if TYPE_CHECKING:
    import equinox as eqx
    import numpy as np
    from jaxtyping import PRNGKeyArray

    from goodprior.baselines import Trial, Validation
    from goodprior.inference import Posterior

# Of one hidden layer, in the order of the network's parameters.
SCALES = ("hidden_weight", "hidden_bias", "output_weight", "output_bias")
TRIALS = {"paper": 100, "quick": 50}  # of Bayesian optimisation
LABELS = {"grid": "grid search", "bo": "Bayesian optimisation", "fg": "N(0, 1)", "gpi-g": "GPi-G"}
STYLES = (("grid", "#e69f00", ""), ("bo", "#0072b2", ""), ("fg", "#000000", "X"),
          ("gpi-g", "#009e73", "^"))  # fmt: skip
_COMPILED: set[tuple[object, ...]] = set()  # what this worker has run once


def grid(choice: Choice) -> list[Settings]:
    """Every combination of scales in a random order, a search, and the two priors beside them."""
    import numpy as np

    jobs: list[Settings] = []
    for dataset in choice.datasets:
        one = {**tables.table_settings(dataset, "fg", 1, 0, choice), "validation": 0.2}
        for method in choice.methods:
            if method == "grid":
                values = _scales(choice.per_parameter or 9)
                points = list(product(values, repeat=len(SCALES)))
                for i in np.random.default_rng(0).permutation(len(points)):
                    jobs.append(
                        {**one, "method": "grid", **dict(zip(SCALES, points[i], strict=True))}
                    )
            elif method == "bo":
                jobs.append({**one, "method": "bo", "trials": TRIALS[choice.preset]})
            else:
                matched = tables.matching(choice.distance) if method == "gpi-g" else {}
                jobs.append({**one, "method": method, **matched})
    return jobs


def _scales(per_parameter: int) -> list[float]:
    """Standard deviations, evenly spaced in their logarithm: those of 5 are among those of 9."""
    import numpy as np

    return [float(f"{value:.6g}") for value in np.geomspace(0.05, 20.0, per_parameter)]


def run(settings: Settings) -> Row:
    """The validation NLL on a fifth of the training rows, and the seconds, of each trial."""
    import jax
    import numpy as np

    from goodprior.baselines import bayesian_search
    from goodprior.priors import GaussianPrior
    from goodprior.studies.protocols.data import problem_and_test

    problem, _, _ = problem_and_test(settings)
    key = jax.random.key(settings["seed"])
    network, method = problem.build_network(), settings["method"]
    evaluate = _validation(problem, network, settings, key)
    shape = (settings["dataset"], *(settings[k] for k in ("width", "burn_in", "draws", "thinning")))
    if shape not in _COMPILED:  # so that all trials are timed alike
        evaluate("fg")
        _COMPILED.add(shape)
    if method == "bo":
        trials = list(_timed(bayesian_search(evaluate, network, trials=settings["trials"])))
    elif method == "grid":
        names = GaussianPrior(network).scales
        scales = {name: settings[s] for name, s in zip(names, SCALES, strict=True)}
        trials = [evaluate(scales)]
    else:
        if method == "gpi-g":
            evaluate(method)  # compiles the matching as well
        trials = [evaluate(method)]
    nlls = [trial.nll for trial in trials]
    return {
        "nll": np.nanmin(nlls),
        "trial_nll": nlls,
        "trial_seconds": [trial.seconds for trial in trials],
    }


def _validation(
    problem: Any, network: "eqx.Module", settings: Settings, key: "PRNGKeyArray"
) -> "Validation":
    """A trial of scales by parameter, or of a prior by its name."""
    from goodprior.baselines import Validation
    from goodprior.priors import GaussianPrior
    from goodprior.studies.protocols.methods import sample
    from goodprior.studies.protocols.problems import part

    def fit(
        candidate: dict[str, float] | str, X: "np.ndarray", y: "np.ndarray", key: "PRNGKeyArray"
    ) -> "Posterior":
        prior = candidate if isinstance(candidate, str) else GaussianPrior(network, candidate)
        some = replace(part(problem, X, y), prior=prior, held_out=0)
        return sample(some, settings, key)

    return Validation(fit, problem.X, problem.y, key, settings["validation"])


def _timed(trials: Iterator["Trial"]) -> Iterator["Trial"]:
    """The same trials; their seconds include the search's own."""
    started = time.perf_counter()
    for trial in trials:
        yield trial._replace(seconds=time.perf_counter() - started)
        started = time.perf_counter()


def table(rows: Frame) -> Frame:
    """How many priors each way has tried, the best NLL, and the hours of one core."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "dataset": dataset,
                "way": LABELS[str(method)],
                "priors tried": sum(map(len, part["trial_nll"])),
                "best validation NLL": part["nll"].min(),
                "hours in all": sum(map(sum, part["trial_seconds"])) / 3600,
            }
            for (dataset, method), part in rows.groupby(["dataset", "method"], sort=False)
        ]
    )


def figures(rows: Frame) -> Figures:
    """Validation NLL against the time spent: single trials, and the best so far."""
    import numpy as np

    from goodprior import plots
    from goodprior.baselines import Trial, progress_front
    from goodprior.studies.reports.figures import common_legend

    datasets = list(dict.fromkeys(rows["dataset"]))
    figure = plots.new_figure(1, len(datasets), panel=(4.2, 3.4))
    axes = figure.subplots(1, len(datasets), squeeze=False)[0]
    for ax, dataset in zip(axes, datasets, strict=True):
        for method, colour, mark in STYLES:
            part = rows[(rows["dataset"] == dataset) & (rows["method"] == method)]
            if part.empty:
                continue
            nll = np.concatenate(part["trial_nll"].tolist()).astype(float)
            spent = np.cumsum(np.concatenate(part["trial_seconds"].tolist())) / 60
            alone = len(nll) == 1 or method in ("fg", "gpi-g")
            label = LABELS[method] + ("" if alone else ": best so far")
            if alone:
                ax.plot(spent, nll, mark, color=colour, markersize=9, linestyle="", label=label)
                continue
            ax.plot(spent, nll, ".", color=colour, alpha=0.35, markersize=4, linestyle="")
            trials = [Trial(None, *one) for one in zip(nll, np.diff(spent, prepend=0), strict=True)]
            at, best = progress_front(trials)
            ends = np.append(at, spent[-1]), np.append(best, best[-1])
            ax.step(*ends, where="post", color=colour, linewidth=1.8, label=label)
        shown = np.concatenate(rows.loc[rows["dataset"] == dataset, "trial_nll"].tolist())
        low, high = np.nanquantile(shown.astype(float), [0.0, 0.8])
        room = 0.08 * (high - low)
        ax.set_ylim(low - room, high + room)  # the worst go out of sight
        ax.set_xscale("log")
        ax.set_title(dataset, fontsize="small")
        ax.set_xlabel("minutes of one worker")
    axes[0].set_ylabel("validation NLL (nats)")
    common_legend(figure, *axes)
    return {"cross-validation": figure}


STUDY = Study(
    name="cross-validation",
    presets=presets(
        ("boston", "concrete"),
        tuple(LABELS),
        (1,),
        per_parameter=9,
        quick={"datasets": ("boston",), "per_parameter": 2},
    ),
    grid=grid,
    run=run,
    figures=figures,
    table=table,
    keys=("dataset", "method"),
    cost=lambda s: s.get("trials", 1) * tables.table_cost(s),
)
