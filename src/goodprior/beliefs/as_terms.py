"""Beliefs of other kinds as sums of terms, where they are such sums."""

from math import inf
from typing import Any

import numpy as np
from tinygp import kernels, transforms

from goodprior.beliefs.base import Belief
from goodprior.beliefs.gaussian_process import GaussianProcess
from goodprior.beliefs.hierarchical import HierarchicalGP
from goodprior.beliefs.kernels import PROFILES, Radial
from goodprior.beliefs.terms import SMOOTHNESS, About, Factor, SumOfTerms, Term
from goodprior.distributions import Distribution, Fixed, LogNormal

_SMOOTHNESS_OF = {PROFILES[name]: value for name, value in SMOOTHNESS.items()}


def as_terms(belief: Belief, inputs: int) -> SumOfTerms | None:
    """The sum of terms that is this belief, or None if there is none.

    Parameters
    ----------
    belief : Belief
        A `SumOfTerms`; a `GaussianProcess` without mean whose kernel is a sum or product of those
        of `goodprior.beliefs` (all but `rational_quadratic`), constants and tinygp's `DotProduct`,
        with `Subspace` for single columns; or a `HierarchicalGP` with log-normal or fixed
        hyper-parameters.
    inputs : int
        Columns of the inputs.

    Examples
    --------
    >>> from goodprior.beliefs import rbf
    >>> as_terms(GaussianProcess(rbf(0.5, variance=4.0)), 1).terms[0].amplitude
    About(median=2.0, log_std=0.0)
    """
    if isinstance(belief, SumOfTerms):
        used = [
            column
            for term in belief.terms
            for column in (*term.times, *term.slopes, *(f.column for f in term.factors))
        ]
        return belief if max(used, default=-1) < inputs else None
    if isinstance(belief, HierarchicalGP):
        return _hierarchical(belief, inputs)
    if isinstance(belief, GaussianProcess) and belief.mean is None:
        terms = _terms(belief.kernel, tuple(range(inputs)))
        return SumOfTerms(terms, (1.0,) * belief.outputs) if terms else None
    return None


def _terms(kernel: kernels.Kernel, columns: tuple[int, ...]) -> tuple[Term, ...] | None:
    if isinstance(kernel, Radial):
        return _radial(kernel, columns)
    if isinstance(kernel, kernels.Constant):
        value = np.asarray(kernel.value).item()
        return (Term(About(value**0.5)),) if value > 0 else None
    if isinstance(kernel, kernels.DotProduct):
        return tuple(Term(About(1.0), times=(column,)) for column in columns)
    if isinstance(kernel, kernels.ExpSineSquared) and len(columns) == 1:
        gamma: Any = kernel.gamma
        lengthscale = (2 / float(gamma)) ** 0.5
        factor = Factor(columns[0], About(lengthscale), inf, float(kernel.scale))
        return (Term(About(1.0), (factor,)),)
    if isinstance(kernel, transforms.Subspace):
        return _terms(kernel.kernel, tuple(np.atleast_1d(np.array(columns)[kernel.axis]).tolist()))
    if isinstance(kernel, kernels.Sum | kernels.Product):
        first, second = _terms(kernel.kernel1, columns), _terms(kernel.kernel2, columns)
        if first is None or second is None:
            return None
        if isinstance(kernel, kernels.Sum):
            return first + second
        products = [_product(a, b) for a in first for b in second]
        return None if None in products else tuple(products)  # type: ignore[arg-type]
    return None


def _radial(kernel: Radial, columns: tuple[int, ...]) -> tuple[Term, ...] | None:
    if np.ndim(kernel.lengthscale) and len(kernel.lengthscale) != len(columns):
        return None
    smoothness = _SMOOTHNESS_OF[kernel.profile]
    lengthscales = np.broadcast_to(kernel.lengthscale, len(columns))
    pairs = zip(columns, lengthscales.tolist(), strict=True)
    factors = tuple(Factor(column, About(value), smoothness) for column, value in pairs)
    return (Term(About(float(kernel.variance) ** 0.5), factors),)


def _product(a: Term, b: Term) -> Term | None:
    """The product of two terms; two Matern kernels are not one term."""
    rough = [any(f.smoothness != inf for f in term.factors) for term in (a, b)]
    if all(rough):
        return None
    amplitude = About(a.amplitude.median * b.amplitude.median)
    return Term(amplitude, a.factors + b.factors, a.times + b.times)


def _hierarchical(belief: HierarchicalGP, inputs: int) -> SumOfTerms | None:
    lengthscale, variance = _about(belief.lengthscale), _about(belief.variance)
    one_for_all = not belief.ard and inputs > 1  # its uncertainty is not one of single columns
    if lengthscale is None or variance is None or (one_for_all and lengthscale.log_std):
        return None
    if belief.kernel not in SMOOTHNESS:
        return None
    smoothness = SMOOTHNESS[str(belief.kernel)]
    factors = tuple(Factor(column, lengthscale, smoothness) for column in range(inputs))
    amplitude = About(variance.median**0.5, variance.log_std / 2)
    return SumOfTerms((Term(amplitude, factors),), (1.0,) * belief.outputs)


def _about(distribution: Distribution) -> About | None:
    if isinstance(distribution, Fixed):
        return About(float(distribution.value))
    if isinstance(distribution, LogNormal):
        return About(float(np.exp(distribution.location)), float(distribution.variance) ** 0.5)
    return None
