"""The priors by the names the paper gives them."""

from jaxtyping import PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.priors.base import Prior
from goodprior.priors.flow import FlowPrior
from goodprior.priors.gaussian import GaussianPrior
from goodprior.priors.hierarchical import REFRESH_EVERY, GibbsHierarchicalPrior

PAPER_NAMES = {"fg": "FG", "fh": "FH", "gpi-g": "GPi-G", "gpi-h": "GPi-H", "gpi-nf": "GPi-NF"}


def is_matched(name: str) -> bool:
    """Whether the prior of this name is meant to be matched to a belief (GPi: GP-induced).

    Examples
    --------
    >>> is_matched("gpi-g"), is_matched("fg")
    (True, False)
    """
    return checks.one_of("prior", name, PAPER_NAMES).startswith("gpi")


def named_prior(
    name: str,
    network: PyTree,
    *,
    key: PRNGKeyArray,
    refresh_every: int = REFRESH_EVERY,
    flow_on_readout: bool = True,
) -> Prior:
    """The prior of this name before any matching: N(0, 1) and InverseGamma(1, 1).

    Parameters
    ----------
    name : str
        `fg` or `gpi-g` (Gaussian), `fh` or `gpi-h` (hierarchical, in its Gibbs form), or `gpi-nf`
        (a normalizing flow).
    network : PyTree
        The network, or its architecture.
    key : PRNGKeyArray
        Of the flow's first parameters; the others need none.
    refresh_every : int
        Steps of a sampler between two draws of a hierarchical prior's variances.
    flow_on_readout : bool
        Whether the flow of `gpi-nf` has the last layer, too.

    Returns
    -------
    Prior
        What `match` is to tune, if `is_matched(name)`.

    Examples
    --------
    >>> import jax
    >>> from goodprior.networks import MLP
    >>> prior = named_prior("gpi-h", MLP(1, (5,), 1, key=jax.random.key(0)), key=jax.random.key(1))
    >>> type(prior).__name__
    'GibbsHierarchicalPrior'
    """
    checks.one_of("prior", name, PAPER_NAMES)
    if name in ("fg", "gpi-g"):
        return GaussianPrior(network)
    if name in ("fh", "gpi-h"):
        return GibbsHierarchicalPrior(network, refresh_every=refresh_every)
    return FlowPrior(network, on_readout=flow_on_readout, key=key)
