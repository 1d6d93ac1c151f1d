import os
import pickle
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
from goodprior import MAP, NUTS, BNNClassifier, BNNRegressor, Laplace
from goodprior.inference import SamplingError, sample_posterior
from goodprior.networks import MLP
from goodprior.pipeline import Sampled
from goodprior.pipeline.methods import sampled
from goodprior.storage.tree import pack, unpack
from tests.estimators.small import LABELS, NETWORK, SMALL, X, Y, sghmc

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
    again = goodprior.load(tmp_path / "prior.safetensors")
    assert again.function.scales == model.prior_.function.scales
    with pytest.raises(ValueError, match="can be saved"):
        goodprior.save(MLP(1, (2,), 1, key=jax.random.key(0)), tmp_path / "no.safetensors")


@pytest.mark.slow
def test_another_fit_does_not_take_up_a_checkpoint(tmp_path):
    BNNRegressor(**BRIEF).fit(X, Y, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="another fit"):
        BNNRegressor(**BRIEF).fit(X, Y + 1, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="another fit"):
        BNNRegressor(**{**BRIEF, "method": sghmc(thinning=60)}).fit(
            X, Y, checkpoint=tmp_path / "run"
        )


class Steps:
    """A belief of somebody's own, no module of equinox: its repr has its address in memory."""

    def __init__(self, heights):
        self.heights = np.asarray(heights)

    def sample(self, key, x, n):
        heights = self.heights * jax.random.normal(key, (n, 1, len(self.heights)))
        return (heights * (x[:, :1] > 0)).sum(axis=-1)[..., None]


@pytest.mark.slow
@pytest.mark.parametrize(
    "belief",
    [
        lambda height: goodprior.GaussianProcess(goodprior.rbf(np.array([1.0, 1.0, height]))),
        lambda height: Steps([1.0, height]),
    ],
    ids=["process", "plain class"],
)
def test_a_checkpoint_is_taken_up_with_the_same_belief_only(tmp_path, belief, monkeypatch):
    """Beliefs that differ only in the values of an array are different beliefs."""
    settings = {**NETWORK, "method": MAP(epochs=5)}
    settings |= {"match_schedule": goodprior.MatchSchedule(steps=10), "noise_variance": 0.1}
    first = BNNRegressor(**settings, belief=belief(2.0)).fit(X, Y, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="another fit"):
        BNNRegressor(**settings, belief=belief(2.5)).fit(X, Y, checkpoint=tmp_path / "run")
    monkeypatch.setattr(sys.modules["goodprior.pipeline.prior"], "match", None)
    monkeypatch.setattr(MAP, "train", None)
    again = BNNRegressor(**settings, belief=belief(2.0)).fit(X, Y, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(again.predict(X), first.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("keep_rows", [False, True])
def test_a_pickle_holds_the_training_rows_only_if_asked(keep_rows):
    """A marked value of X is looked for in the bytes."""
    rows = X.copy()
    rows[7, 0] = mark = 1.2345678912345
    settings = {**BRIEF, "method": sghmc(burn_in=20, thinning=10), "draws": 4}
    model = BNNRegressor(**settings, keep_rows=keep_rows).fit(rows, Y)
    data = pickle.dumps(model)
    assert (np.float64(mark).tobytes() in data) == keep_rows
    again = pickle.loads(data)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if not keep_rows:
        with pytest.raises(ValueError, match=r"nothing to go on with.*keep_rows=True"):
            again.sample_more(2)
        return
    for one, other in zip(
        jax.tree.leaves(again.sample_more(2).posterior_.draws),
        jax.tree.leaves(model.sample_more(2).posterior_.draws),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        sghmc(burn_in=20, thinning=10),
        NUTS(burn_in=20),
        Sampled.by(sghmc(burn_in=20, thinning=10), start="prior"),
        Laplace(epochs=20, marginal_likelihood=goodprior.MarginalLikelihood(burn_in=3)),
        MAP(epochs=20, learning_rate=0.02),
    ],
    ids=lambda method: f"{type(method).__name__} {method.name}",
)
def test_settings_of_a_method_come_back_from_a_file(tmp_path, method):
    length = {"chains": 2, "draws": 3} if method.name in ("sghmc", "nuts") else {}
    settings = {**NETWORK, **length, "prior": "fg", "method": method}
    model = BNNRegressor(**settings).fit(X, Y)
    model.save(tmp_path / "model.safetensors")
    again = goodprior.load(tmp_path / "model.safetensors")
    assert again.method == method
    assert type(again.method) is type(method)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_method_with_nonsense_in_a_file_is_refused():
    spec, arrays = pack(MAP(epochs=20))
    spec["fields"]["epochs"] = -3
    with pytest.raises(ValueError, match="epochs must be a whole number"):
        unpack(spec, arrays)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [sghmc(burn_in=100, thinning=10), NUTS(burn_in=100, thinning=10)],
    ids=lambda method: method.name,
)
def test_a_longer_fit_takes_up_the_checkpoint_of_a_shorter_one(tmp_path, method):
    """Bit by bit the draws of a run that was as long from the start."""
    settings = {**BRIEF, "method": method, "draws": 7}
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


def _halved(rows):
    return tuple(sghmc(step_size=0.02 / by, burn_in=50, thinning=10) for by in (1, 2, 4, 8))


@pytest.mark.slow
def test_a_run_that_needed_a_shorter_step_goes_on_with_that_step(tmp_path, monkeypatch):
    """Whether it is taken up from a checkpoint or by `sample_more`."""
    tried = []

    def too_long(prior, likelihood, X, y, *, sampler, **rest):
        tried.append(sampler.step_size)
        if sampler.step_size > 0.006:
            raise SamplingError("too long", None)
        return sample_posterior(prior, likelihood, X, y, sampler=sampler, **rest)

    monkeypatch.setattr(sampled, "sample_posterior", too_long)
    settings = {**BRIEF, "method": Sampled(_halved), "draws": 4}
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
    from tests.estimators.small import SMALL, X, Y, sghmc

    settings = {**SMALL, "hidden": (4,), "draws": 600, "method": sghmc(thinning=200)}
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
