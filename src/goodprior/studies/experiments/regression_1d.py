"""One input and a gap (section 5.1): figure 3."""

from dataclasses import replace
from typing import TYPE_CHECKING

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.protocols.method_names import LABELS, MATCHED, START, matched_by

if TYPE_CHECKING:
    from goodprior.inference import SGHMC
    from goodprior.pipeline import Sampled

METHODS = ("gp", "fg", "fh", "gpi-g", "gpi-h", "gpi-nf")
NUMBERS = {  # our columns, as the demo's table names them
    "distance_before": "distance before",
    "distance_to_the_belief": "distance",
    **{name: name for name in ("rmse", "nll", "rhat", "ess")},
}
LENGTHS = {
    "paper": {"burn_in": 2000, "draws": 40, "thinning": 500, **START},
    "quick": {"burn_in": 1000, "draws": 10, "thinning": 200, **START},
}


def grid(choice: Choice) -> list[Settings]:
    """One job per prior, and one for the exact process."""
    jobs = []
    for method in choice.methods:
        lengths = {} if method == "gp" else LENGTHS[choice.preset]
        critic = {"critic_rate": 0.01, "match_steps": 800}
        matching: Settings = {}
        if method in MATCHED:
            matching |= matched_by(choice.distance)
        if matching.get("distance") == "wasserstein":
            matching |= critic
        jobs.append({"method": method, "seed": 0, **lengths, **matching})
    return jobs


def run(settings: Settings) -> Row:
    """A column of the demo's picture, as numbers."""
    import jax
    import numpy as np

    from goodprior.demos import regression_1d as demo
    from goodprior.matching import MatchSchedule
    from goodprior.studies.protocols.problems import distance_of

    data, method = demo.gap_1d(), settings["method"]
    if method == "gp":
        panel = demo.exact_panel(data, settings["seed"])
    else:
        key = jax.random.fold_in(jax.random.key(settings["seed"]), METHODS.index(method))
        distance = distance_of(settings) if "distance" in settings else "energy"
        schedule = None
        if "critic_rate" in settings:
            steps, rate = settings["match_steps"], settings["critic_rate"]
            schedule = MatchSchedule.published(steps=steps, learning_rate=rate)
        lengths = (settings["burn_in"], settings["draws"], settings["thinning"])
        panel = demo.network_panel(
            *(data, method, distance, key, lengths), schedule=schedule, sampled=_paper_chains
        )
    levels = np.quantile(panel.prior_draws, [0.025, 0.975], axis=0)
    return {
        **{name: panel.row[theirs] for name, theirs in NUMBERS.items() if theirs in panel.row},
        "prior_draws": np.concatenate([panel.prior_draws[:8], levels]).round(3),
        "mean": panel.mean.round(3),
        "std": panel.std.round(3),
        "interval": panel.interval.round(3),
        "distances": None if panel.distances is None else panel.distances.round(4),
    }


def _paper_chains(sampler: "SGHMC") -> "Sampled":
    """The paper's step, and its start; the demo has a longer step for Gaussian priors."""
    from goodprior.studies.protocols.start import StandardStart

    return StandardStart.by(replace(sampler, step_size=0.01))


def figures(rows: Frame) -> Figures:
    """The demo's picture, drawn from the stored numbers."""
    import numpy as np

    from goodprior.demos import regression_1d as demo

    panels = []
    for method in METHODS:
        for _, row in rows[rows["method"] == method].iterrows():
            distances = row["distances"]
            panels.append(
                demo.Panel(
                    LABELS[method],
                    np.array(row["prior_draws"]),
                    np.array(row["mean"]),
                    np.array(row["std"]),
                    np.array(row["interval"]),
                    np.array(distances) if isinstance(distances, list) else None,
                    {},
                )
            )
    return {"regression-1d": demo.picture(demo.gap_1d(), panels)}


STUDY = Study(
    name="regression-1d",
    presets=presets(methods=METHODS, quick={}),
    grid=grid,
    run=run,
    figures=figures,
    columns=tuple(NUMBERS),
    keys=("method",),
    cost=lambda settings: 1 + METHODS.index(settings["method"]) + settings.get("match_steps", 0),
)
