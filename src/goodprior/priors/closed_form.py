"""Priors that are like a belief by construction: no matching is needed.

Each term of the belief becomes a block of a `Fourier` network. With frequencies w and read-out
weights v the block's covariance is that of the term, whatever the width (Bochner's theorem):

    RBF, lengthscale l       w ~ N(0, 1 / l^2), v ~ N(0, amplitude^2 / units)
    Matern, smoothness nu    w ~ N(0, c[m]^2 / l^2), v ~ N(0, amplitude^2 p[m]), see `matern_strata`
    period                   the column becomes the cosine and sine of its phase, then as the RBF
    products of kernels      one block over all their columns
    linear, constant         a feature of its own, v ~ N(0, amplitude^2)
    slopes                   each column a feature, v ~ N(0, amplitude^2)
    monotone                 the integral of the exponential of such a network, plus another
    uncertain lengthscale    w exp(-g), g ~ N(0, log_std^2); amplitudes likewise

The standard deviations are the `base` of the network's architecture, so that priors of all families
are about numbers of order one.
"""

from collections.abc import Callable
from functools import lru_cache
from math import inf, sqrt

import numpy as np
from jaxtyping import Float, PRNGKeyArray
from scipy import special, stats

from goodprior import checks
from goodprior.beliefs.monotone import Monotone
from goodprior.beliefs.terms import SumOfTerms, Term
from goodprior.networks import (
    Architecture,
    Fourier,
    Monomial,
    MonotoneNetwork,
    Slopes,
    Waves,
    zero_network,
)
from goodprior.priors.base import Prior
from goodprior.priors.flow import FlowPrior
from goodprior.priors.gaussian import GaussianPrior
from goodprior.priors.hierarchical import GibbsHierarchicalPrior
from goodprior.priors.named import is_matched

UNITS = 100  # frequencies, shared out among the terms
LEAST_UNITS = 20  # of a term
SHAPE = 100.0  # of hierarchical priors: scales are known within 5 %
HIGHEST = 3000.0  # squared frequency beyond which a Matern's curvature is not followed further
CERTAIN = 1e-6  # the deviation of a lengthscale that is known beside uncertain ones


def closed_form_prior(
    name: str,
    belief: SumOfTerms | Monotone,
    *,
    units: int = UNITS,
    flow_on_readout: bool = True,
    key: PRNGKeyArray,
) -> Prior:
    """The prior of this family whose functions are like the belief's.

    Parameters
    ----------
    name : str
        `gpi-g`, `gpi-h` or `gpi-nf`.
    belief : SumOfTerms or Monotone
        About standardised inputs; see `goodprior.beliefs.as_terms`.
    units : int
        Frequencies of the network; each has a sine and a cosine.
    flow_on_readout : bool
        Whether the flow of `gpi-nf` has the last layer, too.
    key : PRNGKeyArray
        Of a flow's first parameters, near the identity.

    Returns
    -------
    Prior
        Over a `Fourier` network, or one of two that is monotone.

    Examples
    --------
    >>> import jax
    >>> from goodprior.beliefs import About, Factor, SumOfTerms, Term
    >>> belief = SumOfTerms((Term(About(3.0), (Factor(0, About(0.3)), Factor(1, About(90.0)))),))
    >>> prior = closed_form_prior("gpi-g", belief, key=jax.random.key(0))
    >>> draws = prior.functions(jax.random.key(1), jax.numpy.zeros((1, 2)), 4000)
    >>> bool(abs(draws.std() - 3) < 0.15)
    True
    """
    if not is_matched(name):
        raise ValueError(f"the prior {name} is fixed, so it has no closed form for a belief")
    architecture = closed_form_network(belief, units)
    if name == "gpi-h":
        rate = float(np.exp(special.digamma(SHAPE)))  # the mean log variance is zero
        return GibbsHierarchicalPrior(architecture, SHAPE, rate)
    if name == "gpi-g":
        return GaussianPrior(architecture)
    return FlowPrior(architecture, on_readout=flow_on_readout, key=key)


def closed_form_network(belief: SumOfTerms | Monotone, units: int = UNITS) -> Architecture:
    """The network for a belief, with the scales of its weights as base.

    Parameters
    ----------
    belief : SumOfTerms or Monotone
        About standardised inputs.
    units : int
        Frequencies, shared out among the terms that are neither linear nor constant.
    """
    checks.whole("units", units)
    if isinstance(belief, Monotone):
        parts = belief.level, belief.log_slope
        level, log_slope = (zero_network(_builder(part, units)) for part in parts)
        network = MonotoneNetwork(level, log_slope, belief.column, belief.steepness)
        scales = _scales(belief.level, level, "level.")
        scales |= _scales(belief.log_slope, log_slope, "log_slope.")
    else:
        network = zero_network(_builder(belief, units))
        scales = _scales(belief, network)
    parameters = Architecture(network).parameters
    return Architecture(network, [scales[parameter.name] for parameter in parameters])


def _scales(belief: SumOfTerms, network: Fourier, prefix: str = "") -> dict[str, np.ndarray]:
    """Scales of all weights by name."""
    scales, readout = {}, []
    for i, (term, block) in enumerate(zip(belief.terms, network.blocks, strict=True)):
        found, shares = _block_scales(term, block)
        scales |= {f"{prefix}blocks.{i}.{name}": value for name, value in found.items()}
        readout.append(term.amplitude.median * np.sqrt(shares))
    rows = np.outer(belief.output_scales, np.concatenate(readout))
    return scales | {f"{prefix}readout.weight": rows * sqrt(rows.shape[1])}


def _builder(belief: SumOfTerms, units: int) -> Callable[[PRNGKeyArray], Fourier]:
    curved = sum(bool(term.factors) for term in belief.terms)
    each = max(units // max(curved, 1), min(units, LEAST_UNITS))
    return lambda key: _network(belief, each, key)


def _network(belief: SumOfTerms, units: int, key: PRNGKeyArray) -> Fourier:
    blocks: list[Waves | Monomial | Slopes] = []
    for term in belief.terms:
        vary = bool(term.amplitude.log_std)
        if term.slopes:
            blocks.append(Slopes(term.slopes, amplitude_varies=vary))
            continue
        if not term.factors:
            blocks.append(Monomial(term.times, amplitude_varies=vary))
            continue
        blocks.append(
            Waves(
                [factor.column for factor in term.factors],
                units,
                periods=[factor.period for factor in term.factors],
                times=term.times,
                lengthscales_vary=any(factor.lengthscale.log_std for factor in term.factors),
                amplitude_varies=vary,
                key=key,
            )
        )
    return Fourier(blocks, belief.outputs, key=key)


def _block_scales(
    term: Term, block: Waves | Monomial | Slopes
) -> tuple[dict[str, np.ndarray], Float[np.ndarray, " features"]]:
    """Scales of the block's own weights by name, and each feature's share of its variance."""
    scales: dict[str, np.ndarray] = {}
    if block.log_amplitude is not None:
        scales["log_amplitude"] = np.array(term.amplitude.log_std)
    if isinstance(block, Monomial | Slopes):
        return scales, np.ones(block.width)
    units = block.width // 2
    rough = {f.smoothness for f in term.factors} - {inf}
    if len(rough) > 1:
        raise ValueError("a term can have one Matern kernel, not a product of two")
    stretch, shares = matern_strata(rough.pop() if rough else inf, units)
    columns = []
    for i in block.column_of:
        factor = term.factors[i]
        each = np.ones(units) if factor.smoothness == inf else stretch
        columns.append(each / factor.lengthscale.median)
    scales["frequencies.weight"] = np.stack(columns, axis=1) * sqrt(len(columns))
    if block.log_lengthscales is not None:
        log_stds = [factor.lengthscale.log_std for factor in term.factors]
        scales["log_lengthscales"] = np.maximum(log_stds, CERTAIN)
    return scales, np.concatenate([shares, shares])


@lru_cache(maxsize=32)
def matern_strata(
    smoothness: float, units: int
) -> tuple[Float[np.ndarray, " units"], Float[np.ndarray, " units"]]:
    """Frequency scales, and shares of the variance, that together are a Matern kernel's spectrum.

    Squared frequencies of a Matern kernel are those of an RBF times an InverseGamma(nu, nu). The
    units divide that distribution into strata: a third of them by variance, by squared frequency
    and by its square each, so that many units with little weight carry the rare high frequencies
    and gradients and curvatures are those of the belief in every draw, not on average only. A
    stratum has the mean square of its part of the distribution, so the mean squared gradient is
    exact for nu > 1.

    Parameters
    ----------
    smoothness : float
        nu; infinite for an RBF.
    units : int
        How many strata.
    """
    if smoothness == inf:
        return np.ones(units), np.full(units, 1 / units)
    nu = smoothness
    edges = np.geomspace(1e-7, 60, 40_001) / nu
    share = np.diff(stats.gamma(nu, scale=1 / nu).cdf(edges))
    middle = 1 / np.sqrt(edges[1:] * edges[:-1])
    if nu > 1:
        square = nu / (nu - 1) * np.diff(stats.gamma(nu - 1, scale=1 / nu).cdf(edges))
    else:
        square = share * middle
    fourth = share * (middle / (1 + middle / HIGHEST)) ** 2
    parts = [share, square, fourth]
    density = sum(part / part.sum() for part in parts) / len(parts)
    stratum = np.minimum((np.cumsum(density) - density / 2) * units, units - 1e-9).astype(int)
    total = np.bincount(stratum, share, units)
    squares = np.bincount(stratum, square, units) / np.maximum(total, 1e-300)
    return np.sqrt(np.maximum(squares, 1e-12)), np.maximum(total / share.sum(), 1e-12)
