"""Priors in closed form have the belief's covariance, without any matching."""

from math import inf

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import About, Factor, HierarchicalGP, Monotone, SumOfTerms, Term, as_terms
from goodprior.beliefs.terms import TermsKernel
from goodprior.matching.distances import energy_distance, mean_distance
from goodprior.priors import closed_form_prior
from goodprior.priors.closed_form import matern_strata
from tests.monte_carlo import assert_covariance, assert_mean

X = jnp.asarray(np.random.default_rng(0).uniform(-2, 2, (5, 2)), jnp.float32)
KEY = jax.random.key(0)


def of_columns(lengthscales, amplitude=1.0, smoothness=inf):
    factors = [Factor(i, About(value), smoothness) for i, value in enumerate(lengthscales)]
    return Term(About(amplitude), tuple(factors))


SEASON = Term(About(1.0), (Factor(0, About(0.8), period=0.7),))
BELIEFS = {
    "unequal columns": (of_columns([0.3, 90.0], 2.0),),
    "matern32": (of_columns([0.5, 2.0], 1.0, 1.5),),
    "matern52": (of_columns([0.5, 2.0], 2.0, 2.5),),
    "matern12": (of_columns([0.5, 2.0], 1.0, 0.5),),
    "season that changes": (Term(About(1.0), (*SEASON.factors, Factor(1, About(1.0)))),),
    "linear times smooth": (Term(About(1.0), (Factor(1, About(0.7)),), (0,)),),
    "trend, season, level": (Term(About(0.5), (), (0,)), SEASON, Term(About(0.7))),
    "slopes with one amplitude": (Term(About(0.8), slopes=(0, 1)), of_columns([0.5, 2.0])),
    "bilinear": (Term(About(1.0), (), (0, 1)),),
    "two of them": (of_columns([0.3, 3.0]), of_columns([2.0, 0.4], 0.5, 2.5)),
}


@pytest.mark.parametrize("terms", BELIEFS.values(), ids=BELIEFS)
def test_the_covariance_is_the_beliefs(terms):
    prior = closed_form_prior("gpi-g", SumOfTerms(terms), units=24, key=KEY)
    draws = np.asarray(prior.functions(KEY, X, 20_000))[..., 0]
    assert_covariance(draws, TermsKernel(terms)(X, X))


def test_frequencies_of_matern_kernels_have_the_mean_square_of_its_spectrum():
    for nu in (1.5, 2.5):
        scales, shares = matern_strata(nu, 30)
        assert shares.sum() == pytest.approx(1)
        assert shares @ scales**2 == pytest.approx(nu / (nu - 1), rel=2e-3)


@pytest.mark.parametrize("name", ["gpi-g", "gpi-h", "gpi-nf"])
def test_outputs_have_amplitudes_of_their_own_in_every_family(name):
    belief = SumOfTerms((of_columns([0.5, 2.0]),), (0.1, 1.0, 10.0))
    prior = closed_form_prior(name, belief, key=KEY)
    draws = np.asarray(prior.functions(KEY, X[:1], 4000))[:, 0]
    np.testing.assert_allclose(draws.std(axis=0), [0.1, 1.0, 10.0], rtol=0.06)
    assert_mean(draws[:, 0] * draws[:, 1], 0.0)


@pytest.mark.parametrize("name", ["gpi-g", "gpi-h", "gpi-nf"])
def test_uncertain_lengthscales_and_amplitudes_are_as_uncertain(name):
    """Quantiles of the squared gradient and the square of single draws, as logarithms."""
    belief = as_terms(HierarchicalGP.default(2), 2)
    prior = closed_form_prior(name, belief, key=KEY)
    line = jnp.stack([jnp.linspace(-2, 2, 30), jnp.zeros(30)], axis=1)
    pair = [
        np.asarray(p(KEY, line, 1500), np.float64)[..., 0] for p in (belief.sample, prior.functions)
    ]
    for measure in (lambda f: (np.diff(f) ** 2).mean(1), lambda f: (f**2).mean(1)):
        ours, theirs = (np.quantile(np.log(measure(f)), [0.1, 0.5, 0.9]) for f in pair)
        np.testing.assert_allclose(ours, theirs, atol=0.3)
    assert abs(float(energy_distance(*(jnp.asarray(f[:, :, None]) for f in pair)))) < 0.03


def test_a_fixed_prior_has_no_closed_form():
    with pytest.raises(ValueError, match="the prior fg is fixed"):
        closed_form_prior("fg", SumOfTerms((SEASON,)), key=KEY)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpi-g", "gpi-h", "gpi-nf"])
def test_a_monotone_belief_is_carried_by_its_network(name):
    belief = Monotone(of_columns([0.8, 1.5], 2.0), 0, falling=True, output_scales=(1.0, 3.0))
    prior = closed_form_prior(name, belief, key=KEY)
    line = jnp.stack([jnp.linspace(-2, 2, 40), jnp.zeros(40)], axis=1)
    draws = [np.asarray(p(KEY, line, 800)) for p in (belief.sample, prior.functions)]
    for functions in draws:
        assert (np.diff(functions, axis=1) < 0).all()
    spreads = [np.median(np.abs(functions), axis=(0, 1)) for functions in draws]
    np.testing.assert_allclose(spreads[1], spreads[0], rtol=0.1)
    np.testing.assert_allclose(spreads[0][1], 3 * spreads[0][0], rtol=0.1)
    theirs, ours = map(jnp.asarray, draws)
    assert float(energy_distance(ours, theirs)) < 0.01 * float(mean_distance(theirs))


@pytest.mark.parametrize("lengthscale", [0.6, 1.5])
@pytest.mark.parametrize("smoothness", [0.5, 1.5, 2.5, inf])
def test_single_draws_are_as_rough_as_the_beliefs(smoothness, lengthscale):
    """The median draw's mean squared first and second differences, not those of all on average."""
    belief = SumOfTerms((of_columns([lengthscale], 1.0, smoothness),))
    prior = closed_form_prior("gpi-g", belief, key=KEY)
    line = jnp.linspace(-2, 2, 200)[:, None]
    draws = [
        np.asarray(p(KEY, line, 1500), float)[..., 0] for p in (belief.sample, prior.functions)
    ]
    for order in (1, 2):
        theirs, ours = (np.median(np.mean(np.diff(d, order) ** 2, axis=1)) for d in draws)
        assert ours == pytest.approx(theirs, rel=0.2)
