"""Mixtures: one of several beliefs, by chance."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior import Mixture
from goodprior.beliefs import GaussianProcess, rbf
from goodprior.beliefs.spec import amplitudes_of, parse_belief
from goodprior.data import Scaling
from goodprior.storage import read, write

SMALL, LARGE = GaussianProcess(rbf(1.0, 0.01)), GaussianProcess(rbf(1.0, 100.0))
SCALING = Scaling.fit(np.linspace(0, 10, 20)[:, None], np.linspace(0, 4, 20))


def test_draws_come_from_the_parts_in_proportion_to_the_weights():
    draws = Mixture((SMALL, LARGE), (3.0, 1.0)).sample(jax.random.key(0), jnp.zeros((1, 1)), 4000)
    share = float(np.mean(np.abs(draws) > 0.5))  # of LARGE, 96 % are that large
    expected = 0.25 * 0.96
    assert abs(share - expected) < 4 * (expected * (1 - expected) / 4000) ** 0.5


def test_without_weights_all_parts_are_alike():
    np.testing.assert_allclose(Mixture((SMALL, LARGE, SMALL)).shares, 1 / 3)


@pytest.mark.parametrize(
    ("parts", "weights"), [((), ()), ((SMALL,), (1.0, 2.0)), ((SMALL, LARGE), (1.0, -1.0))]
)
def test_parts_and_weights_must_fit(parts, weights):
    with pytest.raises(ValueError, match=r"mixture|weight"):
        Mixture(parts, weights)


def test_a_table_says_a_mixture():
    spec = {"mixture": [{"lengthscale": 2, "amplitude": 3}, {"amplitude": 4}], "weights": [1, 3]}
    found = parse_belief(spec, SCALING, ["age"], task="regression", outputs=1)
    assert isinstance(found.belief, Mixture)
    assert found.belief.weights == (1, 3)
    assert "(25%) Smooth functions that vary by about 3" in str(found)
    assert amplitudes_of(spec) == [pytest.approx(12.5**0.5)]


@pytest.mark.parametrize("spec", [{"mixture": "smooth"}, {"mixture": ["smooth"], "kernel": "rbf"}])
def test_a_table_that_is_no_mixture_is_refused(spec):
    with pytest.raises(ValueError, match="a mixture is a list of beliefs"):
        parse_belief(spec, SCALING, ["age"], task="regression", outputs=1)


def test_a_model_file_can_hold_a_mixture(tmp_path):
    write(tmp_path / "m.safetensors", Mixture((SMALL, LARGE), (2.0, 1.0)), kind="belief")
    again = read(tmp_path / "m.safetensors", kind="belief")
    assert again.weights == (2.0, 1.0)
    assert isinstance(again.parts[1], GaussianProcess)
