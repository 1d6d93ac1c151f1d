"""Stored rows that a later protocol has replaced: they are kept, marked, and counted nowhere."""

from collections.abc import Mapping
from typing import Any

from goodprior.studies.protocols.method_names import FRESH, HIERARCHICAL, START

CHAINS = (
    "its chains start at draws of the prior; the paper's at weights N(0, 1) and biases 0 "
    "(appendix A, network architectures)"
)
GIBBS = "its Gibbs steps began while SGHMC adapted, which drives the variances up"
CRITIC = (
    "its prior moved on the functions that the critic was fitted to; the paper's moves on others "
    "(algorithm 1)"
)
MCLMC = "its sampler does not converge under hierarchical priors: many steps are refused"


def superseded(settings: Mapping[str, Any]) -> str | None:
    """Return why a row with these settings no longer counts, or None.

    >>> superseded({"method": "fg", "burn_in": 2000})[:38]
    'its chains start at draws of the prior'
    >>> superseded({"method": "fg", "burn_in": 2000, "start": "standard"}) is None
    True
    """
    reasons = []
    if _by_chains(settings) and "start" not in settings:
        reasons.append(CHAINS)
        if settings.get("method") in HIERARCHICAL:
            reasons.append(GIBBS)
    if _by_critic(settings) and "prior_draws" not in settings:
        reasons.append(CRITIC)
    if _by_mclmc(settings):
        reasons.append(MCLMC)
    return "; ".join(reasons) or None


def renewed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that this job would have now."""
    return {
        **settings,
        **(START if _by_chains(settings) else {}),
        **(FRESH if _by_critic(settings) else {}),
    }


def _by_chains(settings: Mapping[str, Any]) -> bool:
    return "burn_in" in settings


def _by_mclmc(settings: Mapping[str, Any]) -> bool:
    return settings.get("sampler") == "mclmc" and settings.get("method") in HIERARCHICAL


def _by_critic(settings: Mapping[str, Any]) -> bool:
    """By the critic as published; where methods are ways of matching, one of them is."""
    method = settings.get("method")
    return settings.get("distance") == "wasserstein" or method in ("wasserstein", "separate")
