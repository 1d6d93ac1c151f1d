"""The names of the methods that studies compare, and what they need."""

# As the paper writes them.
LABELS = {
    "fg": "FG",
    "fg+ts": "FG+TS",
    "gpi-g": "GPi-G",
    "fh": "FH",
    "gpi-h": "GPi-H",
    "gpi-nf": "GPi-NF",
    "ensemble": "Deep Ensemble",
    "fbnn": "fBNN",
    "la-ggn": "LA-GGN",
    "la-marglik": "LA-MargLik + SGHMC",
    "fg+la": "FG + LA-GGN",
    "gpi-g+la": "GPi-G + LA-GGN",
    "early-stopping": "Early Stopping",
    "map-fg": "MAP with FG",
    "map-gpi-g": "MAP with GPi-G",
    "gp": "GP",
}
MATCHED = ("gpi-g", "gpi-h", "gpi-nf", "gpi-g+la", "map-gpi-g")
START = {"start": "standard"}  # of chains: weights N(0, 1), biases 0 (appendix A)
# Of the critic: each step of the prior is on functions that it was not fitted to (algorithm 1).
FRESH = {"prior_draws": "fresh"}
HIERARCHICAL = ("fh", "gpi-h")
SAMPLED = ("fg", "fg+ts", "fh", "la-marglik", "gpi-g", "gpi-h", "gpi-nf")  # by chains


def matched_by(distance: str) -> dict[str, str]:
    """The settings that say how a prior is matched."""
    return {"distance": distance, **(FRESH if distance == "wasserstein" else {})}
