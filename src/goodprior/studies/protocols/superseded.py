"""Stored rows that a later protocol has replaced: they are kept, marked, and counted nowhere."""

from collections.abc import Mapping
from typing import Any

START = (
    "its chains start at draws of the prior; the paper's at weights N(0, 1) and biases 0 "
    "(appendix A, network architectures)"
)
GIBBS = "its Gibbs steps began while SGHMC adapted, which drives the variances up"
HIERARCHICAL = ("fh", "gpi-h")


def superseded(settings: Mapping[str, Any]) -> str | None:
    """Return why a row with these settings no longer counts, or None.

    >>> superseded({"method": "fg", "burn_in": 2000})[:38]
    'its chains start at draws of the prior'
    >>> superseded({"method": "fg", "burn_in": 2000, "start": "standard"}) is None
    True
    """
    if "burn_in" not in settings or "start" in settings:
        return None
    return f"{START}; {GIBBS}" if settings.get("method") in HIERARCHICAL else START
