"""What the belief does to a classifier (section 5.2): figure 4."""

import warnings

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.protocols.method_names import START, matched_by

LENGTHS = {
    "paper": {"burn_in": 2000, "draws": 30, "thinning": 2000, **START},
    "quick": {"burn_in": 1000, "draws": 10, "thinning": 100, **START},
}


def grid(choice: Choice) -> list[Settings]:
    """One job per belief: rows and columns of the picture."""
    places = [(row, column) for row in range(3) for column in range(3)] + [(0, 3)]
    shared = {"seed": 0, **matched_by(choice.distance), **LENGTHS[choice.preset]}
    return [{"place_row": row, "place_column": column, **shared} for row, column in places]


def run(settings: Settings) -> Row:
    """The posterior under one belief, on a grid of 80 by 80 points."""
    import jax

    from goodprior.demos import banana as demo
    from goodprior.studies.protocols.problems import distance_of
    from goodprior.studies.protocols.start import StandardStart

    X, y, source = demo.points_and_labels()
    row, column = settings["place_row"], settings["place_column"]
    title, belief = demo.beliefs()[row][column]
    key = jax.random.fold_in(jax.random.key(settings["seed"]), 4 * row + column)
    lengths = (settings["burn_in"], settings["draws"], settings["thinning"])
    panel = demo.panel(X, y, title, belief, distance_of(settings), key, lengths, StandardStart.by)
    numbers = {k.replace(" ", "_"): v for k, v in panel.row.items() if k != "seconds"}
    return {**numbers, "data": source, "probability": panel.probability.round(3)}


def figures(rows: Frame) -> Figures:
    """The demo's picture, drawn from the stored numbers; none without the data of the jobs."""
    import numpy as np

    from goodprior.demos import banana as demo

    X, y, source = demo.points_and_labels()
    if set(rows["data"]) != {source}:
        jobs = ", ".join(sorted(set(rows["data"])))
        warnings.warn(
            f"banana: the jobs ran on {jobs} and here is only {source}: no picture "
            "(GOODPRIOR_DATA names the folder with data sets)",
            stacklevel=2,
        )
        return {}
    panels: list[list[demo.Panel]] = []
    for _, part in rows.sort_values(["place_row", "place_column"]).groupby("place_row"):
        panels.append(
            [
                demo.Panel(row["belief"], np.array(row["probability"]), {})
                for _, row in part.iterrows()
            ]
        )
    return {"banana": demo.picture(X, y, panels)}


STUDY = Study(
    name="banana",
    presets=presets(quick={}),
    grid=grid,
    run=run,
    figures=figures,
    columns=("distance_to_the_belief", "boundary_length", "mean_certainty"),
    keys=("belief",),
)
