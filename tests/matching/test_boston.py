"""The paper's setting on real inputs, where the data folder is at hand."""

import jax
import pytest

from goodprior.beliefs import GaussianProcess, rbf, rows_and_box
from goodprior.data import Scaling, data_folder, load
from goodprior.matching import Energy, MatchSchedule, Wasserstein, match
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior

pytestmark = pytest.mark.skipif(data_folder() is None, reason="GOODPRIOR_DATA is not set")

# The paper's critic takes 200 steps for each of 200 steps of the prior; here far fewer do.
WAYS = {
    "energy": (Energy(), MatchSchedule(steps=100), 10),
    "wasserstein": (Wasserstein(critic_steps=40), MatchSchedule.published(steps=60), 10),
}


@pytest.mark.slow
@pytest.mark.parametrize(("distance", "schedule", "times"), WAYS.values(), ids=WAYS.keys())
def test_matching_brings_the_prior_close_to_the_belief(distance, schedule, times):
    X, _, _, _ = load("boston").split(0)
    inputs = X.shape[1]
    lengthscales = jax.numpy.full(inputs, (2 * inputs) ** 0.5)
    prior = GaussianPrior(MLP(inputs, (100, 100), 1, key=jax.random.key(0)))
    _, history = match(
        prior,
        GaussianProcess(rbf(lengthscales)),
        rows_and_box(Scaling.fit(X).inputs(X)),
        distance=distance,
        schedule=schedule,
        held_out=1000,
        key=jax.random.key(1),
    )
    assert history.after.energy_distance < history.before.energy_distance / times
