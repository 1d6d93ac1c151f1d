import importlib.util

import jax
import numpy as np
import pytest

from goodprior.baselines import fit_map
from goodprior.baselines.tuning import (
    Trial,
    Validation,
    bayesian_search,
    best,
    tune,
)
from goodprior.inference import Gaussian, Prediction, SamplingError
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = X @ [1.0, -0.5] + np.sqrt(0.05) * RNG.normal(size=300)
LINEAR = MLP(2, (), 1, key=jax.random.key(0))
NETWORK = MLP(1, (5,), 1, key=jax.random.key(0))


class Constant:
    """Predicts the mean of its rows, with a given variance."""

    def __init__(self, variance, y):
        self.variance, self.mean = variance, y.mean()

    def predict(self, X):
        shape = (1, len(X), 1)
        return Prediction(
            jax.numpy.full(shape, self.mean), jax.numpy.full(shape, self.variance**0.5)
        )


SEEN: list[tuple] = []


def _fit_constant(variance, X, y, key):
    SEEN.append((len(X), len(y), tuple(jax.random.key_data(key).tolist())))
    return Constant(variance, y)


@pytest.mark.slow
def test_the_noise_variance_that_made_the_data_is_chosen():
    def fit(variance, X, y, key):
        prior = GaussianPrior(LINEAR)
        return fit_map(
            prior,
            Gaussian(variance),
            X,
            y,
            epochs=200,
            learning_rate=0.05,
            batch_size=None,
            key=key,
        )

    told = []
    choice, found = tune(
        fit, (0.005, 0.05, 0.5), X, Y, key=jax.random.key(0),
        on_progress=lambda *news: told.append(news[:2]),
    )  # fmt: skip
    assert choice == 0.05
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert best(found).candidate == 0.05
    assert all(trial.seconds > 0 for trial in found)


def test_the_nll_is_that_of_rows_the_candidate_has_not_seen():
    SEEN.clear()
    _, (first, second) = tune(
        _fit_constant, [1.0, 4.0], X, Y, validation=0.4, key=jax.random.key(0)
    )
    assert SEEN[0] == SEEN[1]  # the same rows and random numbers for all candidates
    assert SEEN[0][:2] == (180, 180)
    # NLLs of one Gaussian with two variances determine the mean square: it must be that of both.
    square = 2 * (first.nll - 0.5 * np.log(2 * np.pi))
    assert second.nll == pytest.approx(0.5 * square / 4 + 0.5 * np.log(2 * np.pi * 4), rel=1e-4)
    assert square == pytest.approx(Y.var(), rel=0.2)


def test_failed_trials_are_never_the_best():
    assert best([Trial("a", float("nan"), 1.0), Trial("b", 2.0, 1.0)]).candidate == "b"
    with pytest.raises(ValueError, match="no trial with a finite NLL"):
        best([Trial("a", float("nan"), 1.0)])


def test_a_candidate_whose_chain_leaves_the_finite_numbers_is_not_chosen():
    def fit(variance, X, y, key):
        if variance == 0.1:
            raise SamplingError("a chain left the finite numbers", None)
        return Constant(variance, y)

    chosen, (first, second) = tune(fit, [0.1, 1.0], X, Y, key=jax.random.key(0))
    assert chosen == 1.0
    assert np.isnan(first.nll)
    assert np.isfinite(second.nll)


def test_validation_scores_classes_as_well():
    class Sure:
        def predict(self, X):
            from goodprior.inference import ClassPrediction

            return ClassPrediction(jax.numpy.log(jax.numpy.full((1, len(X), 2), 0.5)))

    trial = Validation(lambda *_: Sure(), X, (Y > 0).astype(int), jax.random.key(0))(None)
    assert trial.nll == pytest.approx(np.log(2), rel=1e-4)


def _bowl(candidate):
    """Best where all scales are 2."""
    return Trial(candidate, sum(np.log(scale / 2) ** 2 for scale in candidate.values()), 1.0)


@pytest.mark.skipif(importlib.util.find_spec("bayes_opt") is None, reason="needs the extra `bo`")
def test_bayesian_optimisation_beats_chance():
    found = list(bayesian_search(_bowl, LINEAR, trials=15, seed=1))
    assert len(found) == 15
    assert best(found).nll < 0.2 < best(found[:5]).nll


@pytest.mark.skipif(importlib.util.find_spec("bayes_opt") is not None, reason="`bo` is there")
def test_without_the_extra_it_says_what_to_install():
    with pytest.raises(ImportError, match=r"pip install 'goodprior\[bo\]'"):
        next(bayesian_search(_bowl, NETWORK))


def test_there_must_be_candidates_and_targets_for_all_rows():
    with pytest.raises(ValueError, match="no candidates"):
        tune(_fit_constant, [], X, Y, key=jax.random.key(0))
    with pytest.raises(ValueError, match="as many rows: 300 and 299"):
        tune(_fit_constant, [1.0], X, Y[1:], key=jax.random.key(0))
