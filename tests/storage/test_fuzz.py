"""Thousands of model files that are nearly right: each is refused in words, or read."""

import json
import random
import warnings

import numpy as np
import pytest

import goodprior
from goodprior import SGHMC, BNNRegressor
from tests.fuzz import mutated, scrambled
from tests.storage.test_hostile_files import _bytes_of, _parts, _posterior, _read, _sealed


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> bytes:
    """The bytes of a fitted model's file."""
    X = np.linspace(-1, 1, 12)[:, None]
    method = SGHMC(burn_in=20, thinning=5, batch_size=None)
    fitted = BNNRegressor("fh", hidden=(3,), method=method, chains=2, draws=3, random_state=0)
    path = tmp_path_factory.mktemp("model") / "good.safetensors"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(X, X[:, 0]).save(path)
    return path.read_bytes()


def fuzzed(data: bytes, count: int, seed: int):
    """Files with other bytes, other descriptions or other arrays, most under a seal that fits."""
    chance, (header, payload) = random.Random(seed), _parts(data)
    about = json.loads(header["__metadata__"]["goodprior"][64:])
    arrays = {name: value for name, value in header.items() if name != "__metadata__"}
    for i in range(count):
        what = i % 5
        if what == 0:
            yield scrambled(data, chance)
        elif what == 1:
            changed = mutated(arrays, chance, 1)
            yield _sealed(changed if isinstance(changed, dict) else {}, payload, about)
        elif what == 2:
            yield _sealed(arrays, scrambled(payload, chance), about)
        else:
            yield _sealed(arrays, payload, mutated(about, chance, chance.randint(1, 3)))


def outcomes(files, read) -> tuple[int, int]:
    """How many are refused and how many are read; anything else fails."""
    refused = understood = 0
    for data in files:
        try:
            read(data)
            understood += 1
        except ValueError as error:
            refused += len(str(error)) > 10
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error}, for {data[:3000]!r}")
    return refused, understood


@pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_posterior_that_is_nearly_right_is_refused_in_words_or_read(count, as_users_run_it):
    refused, read = outcomes(fuzzed(_bytes_of(_posterior()), count, seed=count), _read)
    assert refused + read == count
    assert read > 0.01 * count


@pytest.mark.slow
def test_a_model_that_is_nearly_right_is_refused_in_words_or_loaded(
    model, tmp_path, as_users_run_it
):
    path = tmp_path / "bad.safetensors"

    def load(data):
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            repr(goodprior.load(path))

    load(model)
    assert sum(outcomes(fuzzed(model, 2000, seed=1), load)) == 2000
