import equinox as eqx
import jax
import numpy as np
import pytest

from goodprior.evaluation import diagnose
from goodprior.inference import Gaussian, Heteroscedastic, Posterior, SamplerReport
from goodprior.networks import Dense
from goodprior.priors import GaussianPrior
from tests.monte_carlo import LIMIT

NETWORK = Dense(1, 1, key=jax.random.key(0))
RIGHT = SamplerReport("sghmc", steps=500, temperature=1.0, step_size=0.01, temperature_50=1.0)


def _posterior(probe, **report):
    prior = GaussianPrior(NETWORK)
    draws = jax.tree.map(lambda leaf: leaf[None, None], prior.sample(jax.random.key(0)))
    probe, said = np.asarray(probe, np.float32), RIGHT._replace(**report)
    return Posterior(prior, Gaussian(1.0), draws, probe, said)


def _independent(chains=4, times=500, values=6):
    return np.random.default_rng(0).normal(size=(chains, times, values))


def _autoregressive(memory, chains=4, times=4000, values=6):
    noise = np.random.default_rng(1).normal(size=(chains, times, values))
    trace = noise.copy()
    for t in range(1, times):
        trace[:, t] = memory * trace[:, t - 1] + np.sqrt(1 - memory**2) * noise[:, t]
    return trace


def test_independent_traces_are_trusted():
    found = diagnose(_posterior(_independent()))
    assert found.rhat.shape == found.ess.shape == found.mcse.shape == (6,)
    assert np.abs(found.rhat - 1).max() < 0.01
    assert np.abs(found.ess / 2000 - 1).max() < 0.25
    assert found.warnings == []


def test_chains_that_stay_apart_are_seen():
    apart = _independent() + 2 * np.arange(4)[:, None, None]
    found = diagnose(_posterior(apart))
    assert found.rhat.min() > 1.1
    assert any("R-hat is up to" in text and "100%" in text for text in found.warnings)


def test_only_the_values_in_which_chains_differ_are_counted():
    apart = _independent()
    apart[0, :, :3] += 5
    found = diagnose(_posterior(apart))
    assert (found.rhat[:3] > 1.1).all()
    assert (found.rhat[3:] < 1.02).all()
    assert any("50%" in text for text in found.warnings)


def test_functions_and_noise_are_told_apart():
    apart = _independent()
    apart[0, :, 3:] += 5
    posterior = eqx.tree_at(lambda p: p.likelihood, _posterior(apart), Heteroscedastic())
    found = diagnose(posterior)
    assert found.summary["rhat_functions"] < 1.02
    assert found.summary["rhat_noise"] == found.summary["rhat_max"] > 1.1
    assert any(
        "0% of the probed function values and 100% of the noise" in t for t in found.warnings
    )
    assert not found.converged


def test_limits_can_be_set():
    posterior = _posterior(_autoregressive(0.9, times=1000))
    found = diagnose(posterior)
    assert found.converged
    assert not diagnose(posterior, min_ess=1e4).converged
    assert not diagnose(posterior, max_rhat=1 + 1e-6).converged
    assert any("expected at least 10000" in t for t in diagnose(posterior, min_ess=1e4).warnings)


def test_a_spread_that_changes_slowly_is_seen_in_the_tails():
    spread = np.exp(_autoregressive(0.99))
    found = diagnose(_posterior(spread * _independent(times=4000)))
    assert (found.ess_tail < found.ess / 2).all()
    assert found.summary["ess_tail_min"] == found.ess_tail.min()


def test_effective_sample_size_of_an_autoregression_has_its_closed_form():
    found = diagnose(_posterior(_autoregressive(0.8)))
    expected = 4 * 4000 * (1 - 0.8) / (1 + 0.8)
    assert abs(found.ess.mean() / expected - 1) < 0.1
    # The error of the mean, in standard deviations of the trace.
    np.testing.assert_allclose(found.mcse, 1 / np.sqrt(found.ess), rtol=0.1)
    trace = _autoregressive(0.8)
    z = trace.mean(axis=(0, 1)) / (found.mcse * trace.std(axis=(0, 1)))
    assert np.abs(z).max() < LIMIT


def test_the_error_of_the_mean_has_no_unit():
    plain = diagnose(_posterior(_autoregressive(0.5, times=500)))
    scaled = diagnose(_posterior(100 * _autoregressive(0.5, times=500)))
    np.testing.assert_allclose(plain.mcse, scaled.mcse, rtol=1e-3)


def test_few_effective_draws_are_warned_of():
    found = diagnose(_posterior(_autoregressive(0.9, times=100)))
    assert any("effective sample size is as low as" in text for text in found.warnings)


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ({"temperature_50": 5.0}, "sampled temperature is 5 (expected 1): reduce step_size"),
        ({"temperature": 0.5, "temperature_50": 0.4}, "is 0.4 (expected 0.5)"),
        ({"divergences": 3}, "3 NUTS transitions diverged"),
        (
            {"kinetic_temperature": 71.8},
            "reached 71.8 (expected 1): reduce step_size",
        ),
    ],
)
def test_what_the_sampler_reports_is_put_in_words(report, words):
    found = diagnose(_posterior(_independent(), **report))
    assert len(found.warnings) == 1
    assert words in found.warnings[0]
    assert words in str(found)


def test_a_temperature_as_asked_is_no_warning():
    report = {"temperature": 0.5, "temperature_50": 0.52, "kinetic_temperature": 1.3}
    assert diagnose(_posterior(_independent(), **report)).warnings == []


def test_the_summary_has_the_worst_values_and_the_samplers():
    found = diagnose(_posterior(_independent(), clamped=0.25))
    assert found.summary["rhat_max"] == found.rhat.max()
    assert found.summary["ess_min"] == found.ess.min()
    assert found.summary["clamped"] == 0.25
    assert found.summary["steps"] == 500
    assert "divergences" not in found.summary  # what a sampler does not have is left out
    assert "rhat_max" in str(found)


def test_one_chain_is_not_said_to_disagree():
    found = diagnose(_posterior(_independent(chains=1)))
    assert found.warnings == [
        "R-hat needs at least two chains and there is one, so convergence is unknown: "
        "increase chains"
    ]
    assert (found.ess > 100).all()


def test_a_short_trace_is_refused():
    with pytest.raises(ValueError, match=r"at least 4 entries .* there are 3: increase draws"):
        diagnose(_posterior(_independent(times=3)))


@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_chains_that_do_not_move_are_not_trusted(apart):
    places = 3.0 + apart * np.arange(4.0)
    found = diagnose(_posterior(np.broadcast_to(places[:, None, None], (4, 50, 6))))
    text = next(text for text in found.warnings if "R-hat is" in text)
    assert "100%" in text
    assert "nan" not in text


@pytest.mark.parametrize(
    ("error", "words"),
    [(3e-3, "so draws are biased"), (2e-5, "the step is shorter than it need be"), (7e-4, None)],
)
def test_an_energy_error_outside_its_band_is_a_warning(error, words):
    energy = {"energy_error": error, "energy_error_asked": 5e-4}
    found = diagnose(_posterior(_independent(), **energy)).warnings
    assert found == [] if words is None else words in found[0]


def _drifting(length, seed=0):
    """Four chains that come together slowly: a random walk pulled to the middle."""
    rng = np.random.default_rng(seed)
    x, trace = 3 * rng.normal(size=(4, 3)), []
    for _ in range(length):
        x = 0.97 * x + rng.normal(size=x.shape)
        trace.append(x)
    return np.stack(trace, axis=1)


def test_longer_chains_are_advised_where_they_help():
    found = diagnose(_posterior(_drifting(120)), max_rhat=1.01)
    assert found.rhat.max() > 1.01
    assert found.is_improving
    assert found.warnings[0].endswith("sample longer")


def test_and_something_else_where_chains_stay_in_different_modes():
    rng = np.random.default_rng(0)
    trace = rng.normal(size=(4, 400, 3)) + 3 * np.arange(4)[:, None, None]
    found = diagnose(_posterior(trace))
    assert not found.is_improving
    assert all("sample longer" not in text for text in found.warnings)
    assert "after half of the run, so longer chains may not help" in found.warnings[0]
