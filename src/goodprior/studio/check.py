"""The belief held against the table: where its rows fall among the draws, and the evidence."""

from typing import Any

import numpy as np

from goodprior.beliefs import Belief, fit_belief
from goodprior.studio import draws
from goodprior.studio.space import Space

ROWS = 300  # random rows that are used, at most
DRAWS = 400
NOISES = np.geomspace(0.03, 1.0, 12)  # standard deviations that are tried where none is given
BINS = 10


def check_against_rows(space: Space, belief: Belief, noise: float | None) -> dict[str, Any]:
    """Prior predictive ranks of the rows, and the evidence beside that of a fitted belief.

    Parameters
    ----------
    space
        With rows and targets.
    belief
        In standard units.
    noise
        In the target's units (None: the one with the largest evidence).
    """
    if space.y is None:
        raise ValueError("there is no table to check the belief against")
    picked = np.random.default_rng(0).permutation(len(space.X))[:ROWS]
    x = space.standard(space.X[picked])
    y = (space.y[picked] - space.scaling.y_mean[0]) / space.scaling.y_std[0]
    tried = NOISES if noise is None else [noise / float(space.scaling.y_std[0])]
    evidence, level = max((float(draws.log_density(belief, x, y[None], s)[0]), s) for s in tried)
    functions = draws.sample(belief, x, DRAWS)
    observed = functions + level * np.random.default_rng(1).standard_normal(functions.shape)
    below = (observed < y).mean(axis=0)
    fitted = fit_belief(x, y)
    counts, _ = np.histogram(below, BINS, (0, 1))
    found = {
        "inside": float(np.mean((below > 0.025) & (below < 0.975))),
        "middle": float(np.mean((below > 0.25) & (below < 0.75))),
        "evidence": evidence / len(picked),
        "fitted_evidence": fitted.log_marginal_likelihood / len(picked),
    }
    return {
        "rows": len(picked),
        "ranks": counts.tolist(),
        **found,
        "noise_given": noise is not None,
        "noise": float(level * space.scaling.y_std[0]),
        "words": _sentences(**found),
    }


def _sentences(inside: float, middle: float, evidence: float, fitted_evidence: float) -> list[str]:
    found = [f"{inside:.0%} of the rows lie within the belief's 95 % range."]
    if inside < 0.85:
        found.append("That is fewer than expected: the belief is too narrow, or centred elsewhere.")
    elif middle > 0.75:
        found.append(
            f"{middle:.0%} lie in its middle half, where 50 % would: it is wider than these rows."
        )
    else:
        found.append("That is about what the belief expects.")
    gap = fitted_evidence - evidence
    found.append(
        f"Log evidence per row {evidence:.2f}; a belief fitted to these rows has "
        f"{fitted_evidence:.2f}, " + ("hardly more." if gap < 0.1 else f"{gap:.2f} more.")
    )
    return found
