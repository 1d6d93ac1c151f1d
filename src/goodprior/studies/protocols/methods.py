"""The methods that studies compare, in one table: a name, and a function that fits it.

A new method is one line of `METHODS`, its names in `method_names` and its lengths in `tables` or
`images`.
"""

from functools import partial
from typing import Any

from goodprior.studies.protocols import sampled, trained
from goodprior.studies.protocols.problems import Fit, Method, Problem

METHODS: dict[str, Method] = {
    **{name: partial(sampled.by_chains, name) for name in ("fg", "fh", "gpi-g", "gpi-h", "gpi-nf")},
    "fg+ts": sampled.tempered,
    "la-marglik": sampled.under_evidence,
    "la-ggn": trained.laplace_with_evidence,
    "fg+la": partial(trained.laplace, "fg"),
    "gpi-g+la": partial(trained.laplace, "gpi-g"),
    "ensemble": trained.ensemble,
    "fbnn": trained.fbnn,
    "early-stopping": trained.early_stopping,
    "map-fg": partial(trained.mode, "fg"),
    "map-gpi-g": partial(trained.mode, "gpi-g"),
}


def fit(problem: Problem, settings: dict[str, Any]) -> Fit:
    """The job's method on the problem; random numbers come from its seed and split."""
    import jax

    key = jax.random.fold_in(jax.random.key(settings["seed"]), settings["split"])
    return METHODS[settings["method"]](problem, settings, key)
