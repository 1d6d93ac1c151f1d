"""Draws with NumPy are those of the beliefs themselves, and of the networks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from goodprior.beliefs import About, Factor, GaussianProcess, Mixture, SumOfTerms, Term, rbf
from goodprior.beliefs.terms import TermsKernel
from goodprior.networks import outputs
from goodprior.pipeline import NetworkSpec
from goodprior.priors import GaussianPrior, closed_form_prior
from goodprior.studio import draws, network
from goodprior.studio.channels import Channels

X = np.random.default_rng(0).normal(size=(7, 2))
CERTAIN = SumOfTerms(
    (
        Term(About(1.5), (Factor(0, About(0.7), 2.5), Factor(1, About(2.0), 2.5))),
        Term(About(0.5), (Factor(0, About(1.0), period=0.8), Factor(1, About(3.0)))),
        Term(About(0.3), times=(1,)),
        Term(About(0.4), (Factor(1, About(0.9), 0.5),)),
        Term(About(0.4), (Factor(0, About(0.9), 1.5),)),
    )
)
UNCERTAIN = SumOfTerms((Term(About(1.0, 0.5), (Factor(0, About(0.7, 0.5)), Factor(1))),))


def test_the_covariance_is_that_of_the_belief():
    hyper = draws.draw_hyper(CERTAIN, 3, np.random.default_rng(0))
    found = draws.covariance(CERTAIN.terms, hyper, X, X)
    expected = TermsKernel(CERTAIN.terms)(jnp.asarray(X), jnp.asarray(X))
    np.testing.assert_allclose(found[0], expected, atol=2e-6)


@pytest.mark.parametrize("belief", [CERTAIN, UNCERTAIN, Mixture((CERTAIN, UNCERTAIN))])
def test_draws_have_the_spread_of_the_beliefs_own(belief):
    ours = draws.sample(belief, X, 4000)
    theirs = np.asarray(belief.sample(jax.random.key(0), jnp.asarray(X), 4000))[..., 0]
    error = np.std(ours**2, axis=0) / 4000**0.5 + np.std(theirs**2, axis=0) / 4000**0.5
    assert (np.abs((ours**2).mean(axis=0) - (theirs**2).mean(axis=0)) < 4 * error).all()


def test_densities_are_those_of_a_normal_distribution():
    values = np.random.default_rng(1).normal(size=(3, len(X)))
    covariance = draws.covariance(
        CERTAIN.terms, draws.draw_hyper(CERTAIN, 1, np.random.default_rng(0)), X, X
    )[0]
    expected = stats.multivariate_normal(cov=covariance + 0.04 * np.eye(len(X))).logpdf(values)
    found = draws.log_density(CERTAIN, X, values, 0.2)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    both = draws.log_density(Mixture((CERTAIN, CERTAIN), (3.0, 1.0)), X, values, 0.2)
    np.testing.assert_allclose(both, expected, rtol=1e-6)


def test_a_belief_of_any_other_kind_is_sampled_by_itself():
    belief = GaussianProcess(rbf(1.0), mean=lambda x: jnp.asarray(5.0))
    assert draws.sample(belief, X, 3).mean() > 3


@pytest.mark.parametrize("belief", [CERTAIN, UNCERTAIN])
def test_functions_of_a_network_of_sines_are_those_that_the_network_computes(belief):
    prior = closed_form_prior("gpi-g", belief, key=jax.random.key(0))
    assert isinstance(prior, GaussianPrior)
    latent = prior.sample(jax.random.key(1))
    expected = np.asarray(outputs(prior.weights(latent), jnp.asarray(X, jnp.float32)))[:, 0]
    units = jax.tree.map(lambda a, b: np.asarray(a / b), latent, prior.deviations())
    order = []
    for block in units.blocks:
        parts = [block.log_amplitude]
        if hasattr(block, "frequencies"):
            parts += [block.log_lengthscales, block.frequencies.weight]
        order += [part for part in parts if part is not None]
    order.append(units.readout.weight)
    scales = prior.architecture.network(prior.deviations())
    found = network._fourier_functions(scales, X, 1, lambda shape: order.pop(0).reshape(shape))[0]
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_functions_of_an_mlp_are_those_that_the_network_computes():
    network_ = NetworkSpec((9, 7)).build((2,), 1)
    scale = {"layers.1.weight": 1.4, "layers.0.bias": 0.3}
    prior = GaussianPrior(network_, scale)
    latent = prior.sample(jax.random.key(1))
    expected = np.asarray(outputs(prior.weights(latent), jnp.asarray(X, jnp.float32)))[:, 0]
    units = jax.tree.map(lambda a, b: np.asarray(a / b), latent, prior.deviations())
    order = [part for layer in units.layers for part in (layer.weight, layer.bias)]
    scales = prior.architecture.network(prior.deviations())
    found = network._mlp_functions(scales, X, 1, lambda shape: order.pop(0).reshape(shape))[0]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_an_overtaken_request_is_not_worked_on():
    channels, done = Channels(), []

    def work(request):
        done.append(request["seq"])
        return "answer"

    assert channels.newest("draws", {"seq": 5}, work) == "answer"
    assert channels.newest("draws", {"seq": 4}, work) == {"stale": True}
    assert channels.newest("network", {"seq": 4}, work) == "answer"
    assert channels.newest("draws", {"seq": 4, "page": "other"}, work) == "answer"
    assert done == [5, 4, 4]
