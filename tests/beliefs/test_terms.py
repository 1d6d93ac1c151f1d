"""Sums of terms draw functions with the covariance that they say."""

from math import inf

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tinygp import kernels, transforms

from goodprior.beliefs import (
    KERNELS,
    About,
    Factor,
    GaussianProcess,
    HierarchicalGP,
    SumOfTerms,
    Term,
    as_terms,
    matern32,
    matern52,
    periodic,
    rational_quadratic,
    rbf,
)
from goodprior.beliefs.terms import TermsKernel
from goodprior.distributions import Fixed, LogNormal
from tests.monte_carlo import assert_covariance, assert_mean

X = jnp.asarray(np.random.default_rng(0).uniform(-2, 2, (5, 2)), jnp.float32)
KEY = jax.random.key(0)


def column(axis, kernel):
    return transforms.Subspace(axis, kernel)


SAME = {
    **{name: KERNELS[name](jnp.array([0.5, 2.0]), 1.7) for name in ("rbf", "matern12", "matern52")},
    "one lengthscale": matern32(0.8, 2.0),
    "sum": rbf(0.5) + matern32(2.0, 0.3),
    "season and trend": column((0,), periodic(0.8, 2.0, 0.7))
    + 0.5 * column((1,), kernels.DotProduct()),
    "season that changes": column((0,), periodic(0.8, 1.0, 0.7)) * column((1,), matern52(0.6, 2.0)),
    "product of sums": (column((0,), rbf(0.5)) + 0.3) * (column((1,), rbf(0.9)) + 0.2),
}


@pytest.mark.parametrize("kernel", SAME.values(), ids=SAME)
def test_a_kernel_and_its_terms_have_the_same_covariance(kernel):
    belief = as_terms(GaussianProcess(kernel, outputs=2), 2)
    assert belief is not None
    assert belief.outputs == 2
    np.testing.assert_allclose(TermsKernel(belief.terms)(X, X), kernel(X, X), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize(
    "belief",
    [
        GaussianProcess(rational_quadratic()),
        GaussianProcess(rbf(), mean=lambda x: x[0]),
        GaussianProcess(matern32(1.0) * matern52(1.0)),
        GaussianProcess(periodic()),  # in the distance between points of two columns
        HierarchicalGP(LogNormal(0.0, 1.0), Fixed(1.0), ard=False),
        HierarchicalGP(LogNormal(0.0, 1.0), Fixed(1.0), rbf),
        SumOfTerms((Term(About(1.0), times=(2,)),)),
    ],
    ids=lambda belief: type(belief).__name__,
)
def test_what_is_no_sum_of_terms_is_none(belief):
    assert as_terms(belief, 2) is None


def test_the_papers_default_has_uncertain_lengthscales_and_amplitude():
    (term,) = as_terms(HierarchicalGP.default(2), 2).terms
    assert term.amplitude == pytest.approx((np.exp(0.05), 0.5))
    assert [f.lengthscale for f in term.factors] == [pytest.approx((2.0, 1.0))] * 2
    assert {f.smoothness for f in term.factors} == {inf}


TERMS = (
    Term(About(0.5), times=(1,)),
    Term(About(1.5), (Factor(0, About(0.8), period=0.7), Factor(1, About(0.6), 2.5))),
)


def test_draws_have_the_covariance_of_the_terms():
    belief = SumOfTerms(TERMS, (1.0, 3.0))
    draws = np.asarray(belief.sample(KEY, X, 5000))
    covariance = np.asarray(TermsKernel(TERMS)(X, X))
    assert_covariance(draws[..., 0], covariance)
    assert_covariance(draws[..., 1], 9 * covariance)
    assert_mean(draws[..., 0] * draws[..., 1], 0.0)
    assert belief.gaussian_process() is None
    one = SumOfTerms(TERMS)
    process = one.gaussian_process()
    np.testing.assert_allclose(process.sample(KEY, X, 2), one.sample(KEY, X, 2), atol=1e-5)


def test_uncertain_amplitudes_and_lengthscales_differ_from_draw_to_draw():
    """Moments of LogNormal variables: E a^2 = median^2 exp(2 s^2)."""
    belief = SumOfTerms((Term(About(1.5, 0.3), (Factor(0, About(0.5, 0.6)),)),))
    assert not belief.is_certain
    close = jnp.array([[0.0, 0.0], [0.01, 0.0]])
    draws = np.asarray(belief.sample(KEY, close, 20_000), np.float64)[..., 0]
    variance = 1.5**2 * np.exp(2 * 0.3**2)
    assert_mean(draws[:, 0] ** 2, variance)
    squared_gradient = ((draws[:, 1] - draws[:, 0]) / 0.01) ** 2
    assert_mean(squared_gradient, variance / 0.5**2 * np.exp(2 * 0.6**2))


def test_slopes_share_an_uncertain_amplitude():
    """Squared slopes of one draw go together: E a^4 = median^4 exp(8 s^2)."""
    belief = SumOfTerms((Term(About(1.5, 0.3), slopes=(0, 1)),))
    draws = np.asarray(belief.sample(KEY, jnp.eye(2), 20_000), np.float64)[..., 0]
    assert_mean(draws[:, 0] * draws[:, 1], 0.0)
    assert_mean(draws[:, 0] ** 2 * draws[:, 1] ** 2, 1.5**4 * np.exp(8 * 0.3**2))
    assert as_terms(belief, 2) is belief
    assert as_terms(belief, 1) is None


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ((), "at least one term"),
        ((Term(About(1.0), (Factor(0),), slopes=(0,)),), "neither factors nor times"),
        ((Term(About(-1.0)),), "an amplitude or lengthscale"),
        ((Term(About(1.0, -0.5)),), "log_std must be"),
        ((Term(About(1.0), (Factor(0, smoothness=3.0),)),), "smoothness must be one of"),
        ((Term(About(1.0), (Factor(0, period=0.0),)),), "period"),
        ((Term(About(1.0), (Factor(0, smoothness=1.5, period=1.0),)),), "infinite smoothness"),
    ],
)
def test_terms_that_make_no_sense_are_refused(terms, message):
    with pytest.raises(ValueError, match=message):
        SumOfTerms(terms)
