"""What is said about functions reaches the prior, whatever else is in the problem."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import (
    About,
    Factor,
    GaussianProcess,
    HierarchicalGP,
    SumOfTerms,
    Term,
    rational_quadratic,
    rbf,
)
from goodprior.inference import Gaussian
from goodprior.matching import MatchSchedule
from goodprior.networks import MLP, Fourier
from goodprior.pipeline import NetworkSpec, ObservationModel, Problem, fit_prior
from goodprior.pipeline.observation import regression_model
from goodprior.pipeline.prior import unmatched_prior
from goodprior.priors import HierarchicalPrior, NoiseNetworkPrior
from goodprior.priors.learned_noise import NOISE_VARIANCE, NOISE_VARIATION

KEY = jax.random.key(0)
X = np.random.default_rng(0).normal(size=(40, 2))
KNOWN = ObservationModel(Gaussian(0.1), 1)
BRIEF = MatchSchedule(steps=20)


def problem(belief=None, observation=KNOWN, **settings):
    return Problem(X, None, observation, belief or GaussianProcess(rbf(0.5)), **settings)


def network_of(prior):
    return prior.weights(prior.sample(KEY))


def learned_noise(targets=1):
    return regression_model("heteroscedastic", "auto", targets=targets, inputs=2)


def test_a_belief_with_a_closed_form_needs_no_steps():
    prior, history = fit_prior(problem(held_out=256), key=KEY)
    assert isinstance(network_of(prior), Fourier)
    assert (history.how, len(history.distance)) == ("closed form", 0)
    assert history.after.energy_distance < 0.1 * history.before.energy_distance
    assert history.after.std_ratio == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    "settings",
    [
        {"network": NetworkSpec((4,))},
        {"network": MLP(2, (4,), 1, key=KEY)},
        {"prior": "fg"},
        {"prior": "fh"},
        {"belief": GaussianProcess(rational_quadratic())},
    ],
    ids=["widths", "a given network", "fg", "fh", "no closed form"],
)
def test_otherwise_the_network_is_an_mlp(settings):
    posed = problem(**settings)
    assert posed.closed_form is None
    assert isinstance(network_of(unmatched_prior(posed, KEY)), MLP)


def test_a_schedule_or_distance_that_is_asked_for_is_used():
    assert problem(distance="sliced").closed_form is None
    _, history = fit_prior(problem(schedule=BRIEF), key=KEY)
    assert (history.how, len(history.distance)) == ("steps", 20)


@pytest.mark.parametrize("name", ["gpi-g", "gpi-h", "gpi-nf"])
@pytest.mark.parametrize(
    "belief", [GaussianProcess(rbf(0.5, 25.0), outputs=2), HierarchicalGP.default(2, outputs=2)]
)
def test_noise_has_a_prior_of_its_own(name, belief):
    posed = problem(belief, learned_noise(2), prior=name)
    prior, _ = fit_prior(posed, key=KEY, form="marginal")
    assert isinstance(prior, NoiseNetworkPrior)
    assert prior.refresh_every == 0, "the form reaches the part that has one"
    x = jnp.asarray(X, jnp.float32)
    functions = np.asarray(prior.functions(KEY, x, 1000))
    assert functions.shape[-1] == 4
    believed = np.asarray(posed.function_belief.sample(KEY, x, 1000))
    ours, theirs = (np.median(np.abs(f), axis=(0, 1)) for f in (functions, believed))
    np.testing.assert_allclose(ours, theirs, rtol=0.15)


@pytest.mark.parametrize("amplitude", [0.1, 10.0])
def test_functions_of_an_mlp_keep_their_amplitude_beside_learned_noise(amplitude):
    belief = GaussianProcess(rbf(1.0, amplitude**2))
    posed = problem(belief, learned_noise(), network=NetworkSpec((30,)))
    prior, history = fit_prior(posed, key=KEY)
    assert history.how == "steps"
    functions = np.asarray(prior.functions(KEY, jnp.asarray(X, jnp.float32), 1000))
    assert functions[..., 0].std() == pytest.approx(amplitude, rel=0.1)
    of_noise = (NOISE_VARIANCE.variance + NOISE_VARIATION**2) ** 0.5
    assert functions[..., 1].std() == pytest.approx(of_noise, rel=0.1)


def test_hierarchical_priors_come_in_the_form_that_is_asked_for():
    prior, _ = fit_prior(problem(prior="gpi-h"), key=KEY, form="gibbs")
    assert isinstance(prior, HierarchicalPrior)
    assert prior.refresh_every > 0
    assert prior.architecture.base is not None


def test_outputs_of_an_mlp_have_amplitudes_of_their_own():
    term = Term(About(1.0), (Factor(0, About(1.0)), Factor(1, About(1.0))))
    belief = SumOfTerms((term,), (0.1, 1.0, 10.0))
    posed = problem(belief, ObservationModel(Gaussian(0.1), 3), network=NetworkSpec((30,)))
    prior, history = fit_prior(posed, key=KEY)
    assert history.how == "steps"
    functions = np.asarray(prior.functions(KEY, jnp.asarray(X, jnp.float32), 1000))
    np.testing.assert_allclose(functions.std(axis=(0, 1)), [0.1, 1.0, 10.0], rtol=0.12)
