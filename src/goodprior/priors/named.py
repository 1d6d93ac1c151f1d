"""The priors by the names the paper gives them."""

from jaxtyping import PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.priors.base import Prior
from goodprior.priors.flow import FlowPrior
from goodprior.priors.gaussian import GaussianPrior
from goodprior.priors.hierarchical import HierarchicalPrior

PAPER_NAMES = {"fg": "FG", "fh": "FH", "gpi-g": "GPi-G", "gpi-h": "GPi-H", "gpi-nf": "GPi-NF"}


def is_matched(name: str) -> bool:
    """Whether the prior of this name is meant to be matched to a belief (GPi: GP-induced)."""
    return checks.one_of("prior", name, PAPER_NAMES).startswith("gpi")


def named_prior(
    name: str, network: PyTree, *, key: PRNGKeyArray, refresh_every: int = 100
) -> Prior:
    """The prior of this name before any matching: N(0, 1) and InverseGamma(1, 1).

    >>> import jax
    >>> from goodprior.networks import MLP
    >>> named_prior("gpi-h", MLP(1, (5,), 1, key=jax.random.key(0)), key=jax.random.key(1)).form
    'gibbs'
    """
    checks.one_of("prior", name, PAPER_NAMES)
    if name in ("fg", "gpi-g"):
        return GaussianPrior(network)
    if name in ("fh", "gpi-h"):
        return HierarchicalPrior(network, refresh_every=refresh_every)
    return FlowPrior(network, key=key)
