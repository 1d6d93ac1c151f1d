import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import jax
import numpy as np
import pytest

import goodprior
from goodprior import BNNClassifier, BNNRegressor
from goodprior.inference import SamplingError, sample_posterior
from goodprior.networks import MLP
from goodprior.pipeline import sampling
from tests.estimators.small import LABELS, SMALL, X, Y

BRIEF = {**SMALL, "prior": "fg"}


@pytest.mark.slow
def test_a_regressor_comes_back_from_its_file_as_it_was(tmp_path):
    model = BNNRegressor(**BRIEF, belief={"lengthscale": 2.0}).fit(X, Y)
    model.save(tmp_path / "model.safetensors")
    again = goodprior.load(tmp_path / "model.safetensors")
    assert type(again) is BNNRegressor
    assert again.get_params() == model.get_params()
    for one, other in zip(
        model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert repr(again.belief_) == repr(model.belief_)
    assert str(again.diagnostics_) == str(model.diagnostics_)
    with pytest.raises(ValueError, match="nothing to go on with"):
        again.sample_more(2)


@pytest.mark.slow
def test_a_classifier_keeps_its_labels(tmp_path):
    model = BNNClassifier(**BRIEF).fit(X, LABELS)
    model.save(tmp_path / "model.safetensors")
    again = goodprior.load(tmp_path / "model.safetensors")
    assert again.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.slow
def test_a_prior_and_a_network_of_ones_own(tmp_path):
    model = BNNRegressor(**SMALL).fit_prior(X)
    goodprior.save(model.prior_, tmp_path / "prior.safetensors")
    assert goodprior.load(tmp_path / "prior.safetensors").scales == model.prior_.scales
    with pytest.raises(ValueError, match="can be saved"):
        goodprior.save(MLP(1, (2,), 1, key=jax.random.key(0)), tmp_path / "no.safetensors")


def test_another_fit_does_not_take_up_a_checkpoint(tmp_path):
    BNNRegressor(**BRIEF).fit(X, Y, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="another fit"):
        BNNRegressor(**BRIEF).fit(X, Y + 1, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="another fit"):
        BNNRegressor(**{**BRIEF, "thinning": 60}).fit(X, Y, checkpoint=tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sghmc", "nuts"])
def test_a_longer_fit_takes_up_the_checkpoint_of_a_shorter_one(tmp_path, method):
    """Bit by bit the draws of a run that was as long from the start."""
    settings = {**BRIEF, "method": method, "burn_in": 100, "thinning": 10, "draws": 7}
    short = BNNRegressor(**settings, budget=1e6).fit(X, Y, checkpoint=tmp_path / "run")
    longer = BNNRegressor(**{**settings, "draws": 12}).fit(X, Y, checkpoint=tmp_path / "run")
    whole = BNNRegressor(**{**settings, "draws": 12}).fit(X, Y)
    assert short.posterior_.draws_per_chain == 7
    for one, other in zip(
        jax.tree.leaves((longer.posterior_.draws, longer.posterior_.probe)),
        jax.tree.leaves((whole.posterior_.draws, whole.posterior_.probe)),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    shorter = BNNRegressor(**{**settings, "draws": 3}).fit(X, Y, checkpoint=tmp_path / "run")
    assert shorter.posterior_.draws_per_chain == 12  # nothing that was paid for is thrown away
    np.testing.assert_array_equal(shorter.predict(X), whole.predict(X))


@pytest.mark.slow
def test_a_run_that_needed_a_shorter_step_goes_on_with_that_step(tmp_path, monkeypatch):
    """Whether it is taken up from a checkpoint or by `sample_more`."""
    tried = []

    def too_long(prior, likelihood, X, y, *, sampler, **rest):
        tried.append(sampler.step_size)
        if sampler.step_size > 0.006:
            raise SamplingError("too long", None)
        return sample_posterior(prior, likelihood, X, y, sampler=sampler, **rest)

    monkeypatch.setattr(sampling, "sample_posterior", too_long)
    settings = {**BRIEF, "burn_in": 50, "thinning": 10, "draws": 4}
    model = BNNRegressor(**settings).fit(X, Y, checkpoint=tmp_path / "run")
    assert tried == [0.02, 0.01, 0.005]
    BNNRegressor(**{**settings, "draws": 5}).fit(X, Y, checkpoint=tmp_path / "run")
    model.sample_more(1)
    assert tried[3:] == [0.005, 0.005]


def test_a_checkpoint_folder_that_cannot_be_made_is_said_at_once(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="checkpoint folder"):
        BNNRegressor(**BRIEF).fit(X, Y, checkpoint=tmp_path / "file" / "run")


SCRIPT = textwrap.dedent(
    """
    import sys
    import goodprior
    from goodprior import BNNRegressor
    from tests.estimators.small import SMALL, X, Y

    settings = {**SMALL, "hidden": (4,), "draws": 600, "thinning": 200}
    model = BNNRegressor(**settings).fit(X, Y, checkpoint=sys.argv[1])
    model.save(sys.argv[2])
    """
)


@pytest.mark.slow
def test_killed_at_random_moments_a_fit_ends_with_the_same_draws(tmp_path):
    def start(run, out):
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", SCRIPT, str(run), str(out)],
            env={**os.environ, "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "compiled")},
        )

    whole, broken = tmp_path / "whole.safetensors", tmp_path / "broken.safetensors"
    assert start(tmp_path / "compiling", whole).wait() == 0
    started = time.monotonic()
    assert start(tmp_path / "whole", whole).wait() == 0
    usual = time.monotonic() - started  # with everything compiled, as it is from here on
    moments, killed = random.Random(0), 0
    for _ in range(10):
        process = start(tmp_path / "broken", broken)
        try:
            process.wait(timeout=usual * moments.uniform(0.15, 0.45))
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
    assert killed >= 3
    assert start(tmp_path / "broken", broken).wait() == 0
    one, other = goodprior.load(whole), goodprior.load(broken)
    for a, b in zip(
        jax.tree.leaves(one.posterior_.draws), jax.tree.leaves(other.posterior_.draws), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.posterior_.probe, other.posterior_.probe)
