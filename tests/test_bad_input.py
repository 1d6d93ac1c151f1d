"""Whatever is wrong with the arguments is said before anything long is compiled or run."""

import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import Box, GaussianProcess, Grid, rbf
from goodprior.data import Scaling
from goodprior.inference import (
    NUTS,
    SGHMC,
    Binary,
    Categorical,
    Gaussian,
    Heteroscedastic,
    Posterior,
    chains,
    sample_posterior,
)
from goodprior.matching import MatchSchedule, Sliced, Wasserstein, match
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior

KEY = jax.random.key(0)
X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0] ** 2
BELIEF, POINTS = GaussianProcess(rbf()), Grid([-1.0, -1.0], [1.0, 1.0], per_input=3)


def _prior(outputs=1, inputs=2):
    return GaussianPrior(MLP(inputs, (3,), outputs, key=KEY))


@pytest.fixture(autouse=True)
def nothing_is_run(monkeypatch):
    """The compiled loops of matching and sampling must not be reached."""

    def reached(*args, **kwargs):
        pytest.fail("a compiled loop was reached")

    monkeypatch.setattr(chains, "advance_chunk", reached)
    monkeypatch.setattr(sys.modules["goodprior.matching.match"], "_chunk", reached)


def _sample(prior=None, likelihood=None, X=X, y=Y, **settings):
    return sample_posterior(
        prior or _prior(), likelihood or Gaussian(0.1), X, y, key=KEY, **settings
    )


def _trained(chains):
    """A posterior that no sampler drew."""
    draws = jax.tree.map(lambda leaf: np.stack([leaf[None]] * chains), _prior().sample(KEY))
    return Posterior(_prior(), Gaussian(0.1), draws, np.zeros((chains, 0, 0), np.float32), {})


SAMPLING = {
    "X is a vector": (lambda: _sample(X=X[:, 0]), r"X must be a table .* its shape is \(40,\)"),
    "X is empty": (lambda: _sample(X=X[:0], y=Y[:0]), r"X must be a table .*\(0, 2\)"),
    "X has a NaN": (
        lambda: _sample(X=np.where(np.arange(40)[:, None] == 7, np.nan, X)),
        r"X must be finite; it has 2 NaN or infinite values, the first at index \(7, 0\)",
    ),
    "X is infinite": (lambda: _sample(X=X * np.inf), "X must be finite"),
    "X holds words": (lambda: _sample(X=[["a", "b"]] * 40), "X must hold numbers only"),
    "y has a NaN": (lambda: _sample(y=Y * np.nan), "y must be finite"),
    "y is empty": (lambda: _sample(y=[]), "y must be a table"),
    "y is shorter": (lambda: _sample(y=Y[:-1]), "X and y must have as many rows: 40 and 39"),
    "X has other columns": (
        lambda: _sample(X=X[:, :1]),
        "the network does not take rows of X, which has 1 columns",
    ),
    "too many targets": (
        lambda: _sample(y=np.stack([Y, Y], axis=1)),
        r"Gaussian needs a network with 2 outputs .* it returns \(1,\)",
    ),
    "too few outputs for the noise": (
        lambda: _sample(likelihood=Heteroscedastic()),
        "Heteroscedastic needs a network with 2 outputs",
    ),
    "too few outputs for the classes": (
        lambda: _sample(likelihood=Categorical(3), y=np.arange(40) % 3),
        "Categorical needs a network with 3 outputs",
    ),
    "unknown classes": (
        lambda: _sample(likelihood=Binary(), y=np.arange(40) % 3),
        "y must hold whole numbers from 0 to 1; found values from 0 to 2",
    ),
    "batch larger than the data": (
        lambda: _sample(sampler=SGHMC(batch_size=41)),
        "batch_size is 41, but there are only 40 rows; use a smaller one, or None for all rows",
    ),
    "empty batch": (lambda: SGHMC(batch_size=0), "batch_size must be a whole number"),
    "no chains": (lambda: _sample(chains=0), "chains must be a whole number of at least 1, got 0"),
    "no draws": (lambda: _sample(draws=0), "draws must be a whole number of at least 1"),
    "no thinning": (lambda: SGHMC(thinning=0), "thinning must be a whole number of at least 1"),
    "negative burn-in": (
        lambda: NUTS(burn_in=-1),
        "burn_in must be a whole number of at least 0",
    ),
    "too few row weights": (
        lambda: _sample(row_weights=np.ones(39)),
        "row_weights must have 40 entries, one for each row of X",
    ),
    "negative row weights": (
        lambda: _sample(row_weights=-np.ones(40)),
        "row_weights must not be negative",
    ),
    "other chains at the start": (
        lambda: _sample(start=_trained(chains=3)),
        "start has 3 chains, but 4 are asked for",
    ),
    "nothing to resume": (
        lambda: _sample(resume=_trained(chains=4)),
        "resume must be a posterior that a sampler drew",
    ),
    "no temperature": (
        lambda: _sample(temperature=0.0),
        "temperature must be a finite number above zero, got 0.0",
    ),
    "scaling of another table": (
        lambda: _sample(scaling=Scaling.fit(X[:, :1], Y)),
        "X must have 1 columns, as in training",
    ),
    "step size": (lambda: SGHMC(step_size=-0.1), "step_size must be a finite number above zero"),
    "noise variance": (lambda: Gaussian(-1.0), "noise_variance must be a finite number above zero"),
    "scale": (lambda: GaussianPrior(MLP(1, (), 1, key=KEY), 0.0), "above zero, got 0.0"),
    "activation": (
        lambda: MLP(1, (3,), 1, activation="thanh", key=KEY),
        "activation must be one of .*'tanh'.* got 'thanh'",
    ),
    "no hidden units": (lambda: MLP(1, (0,), 1, key=KEY), "at least one input and one output"),
}


class Flat:
    """A belief that forgot its outputs."""

    def sample(self, key, x, n):
        return jnp.zeros((n, len(x)))


def _match(prior=None, belief=BELIEF, points=POINTS, **settings):
    return match(prior or _prior(), belief, points, key=KEY, **settings)


MATCHING = {
    "unknown distance": (
        lambda: _match(distance="total variation"),
        "distance must be one of energy, .*wasserstein; got 'total variation'",
    ),
    "other inputs": (
        lambda: _match(points=Box([0.0], [1.0], size=5)),
        "the network does not take the points, which have 1 inputs",
    ),
    "other outputs": (lambda: _match(_prior(2)), "the network has 2 outputs, the belief 1"),
    "a belief of the wrong shape": (
        lambda: _match(belief=Flat()),
        r"shape \(n, points, outputs\); for n=64 and 9 points it gave \(64, 9\)",
    ),
    "no steps": (lambda: MatchSchedule(steps=0), "steps must be a whole .* at least 1, got 0"),
    "one draw": (lambda: MatchSchedule(draws=1), "draws must be a whole .* at least 2, got 1"),
    "no points": (lambda: MatchSchedule(points=0), "points must be a whole .* at least 1, got 0"),
    "cache": (lambda: MatchSchedule(belief_cache=15), "belief_cache must be a multiple of 10, got"),
    "optimiser": (
        lambda: MatchSchedule(optimiser="sgd"),
        "optimiser must be one of adam, rmsprop; got 'sgd'",
    ),
    "no learning": (lambda: MatchSchedule(learning_rate=0.0), "learning_rate must be a finite"),
    "penalty of scales": (lambda: MatchSchedule(scale_penalty=-1.0), "scale_penalty must be"),
    "no directions": (lambda: Sliced(directions=0), "directions must be a whole number"),
    "one draw held out": (lambda: _match(held_out=1), "held_out must be .* got 1"),
    "negative held out": (lambda: _match(held_out=-5), "held_out must be .* got -5"),
    "a kernel that is none": (
        lambda: _match(belief=GaussianProcess(rbf(1.0, -1.0))),
        "it is no covariance",
    ),
    "critic steps": (lambda: Wasserstein(critic_steps=0), "critic_steps must be a whole number"),
    "penalty": (lambda: Wasserstein(penalty=0.0), "penalty must be a finite number above zero"),
    "outputs": (lambda: GaussianProcess(rbf(), outputs=0), "outputs must be a whole number"),
    "points": (
        lambda: BELIEF.sample(KEY, jnp.zeros(3), 2),
        r"x must be a table .* its shape is \(3,\)",
    ),
    "infinite points": (
        lambda: BELIEF.sample(KEY, jnp.full((3, 1), jnp.inf), 2),
        "x must be finite",
    ),
    "functions": (lambda: BELIEF.sample(KEY, jnp.zeros((3, 1)), 0), "n must be a whole number"),
    "noise of the exact posterior": (
        lambda: BELIEF.posterior(jnp.zeros((3, 1)), jnp.zeros((3, 1)), 0.0, jnp.zeros((2, 1))),
        "noise_variance must be a finite number above zero",
    ),
    "rows of the exact posterior": (
        lambda: BELIEF.posterior(jnp.zeros((3, 1)), jnp.zeros((2, 1)), 0.1, jnp.zeros((2, 1))),
        "x and y must have as many rows: 3 and 2",
    ),
    "a network without weights": (
        lambda: GaussianPrior(eqx.nn.Identity()),
        "no floating-point arrays",
    ),
}


@pytest.mark.parametrize(
    ("use", "message"),
    [*SAMPLING.values(), *MATCHING.values()],
    ids=[*SAMPLING.keys(), *MATCHING.keys()],
)
def test_a_wrong_argument_is_named_with_its_rule(use, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        use()


def test_the_functions_that_must_not_be_reached_are_the_ones_that_run(as_users_run_it):
    """Guards the guard: with good arguments the compiled loops are reached."""
    for use in (_sample, _match):
        with pytest.raises(pytest.fail.Exception, match="a compiled loop was reached"):
            use()
