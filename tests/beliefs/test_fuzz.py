"""Thousands of belief files that are nearly right: each is refused in words, or understood."""

import json
import random

import numpy as np
import pytest

from goodprior.beliefs.base import Belief
from goodprior.beliefs.file import belief_from_json
from goodprior.beliefs.spec import amplitudes_of, parse_belief
from goodprior.data import Scaling
from tests.fuzz import mutated, scrambled

RNG = np.random.default_rng(0)
NAMES = ["age", "dose", "color=blue", "color=red"]
ROWS = np.column_stack([RNG.uniform(0, 90, 40), RNG.normal(size=40), np.eye(2)[np.arange(40) % 2]])
SCALING = Scaling.fit(ROWS, RNG.normal(100, 20, 40))
GOOD = {"goodprior": "belief", "version": 1, "name": "Ann", "noise": 2.5, "target": "y"}
SPECS = [
    "smooth",
    {"lengthscale": {"age": "10 x/ 2", "dose": 0.5}, "amplitude": 3, "ignore": ["color=red"]},
    {"lengthscale": [10, 1.0, 1.0, 2], "smoothness": 1.5, "column": ["age", "dose"]},
    ["trend", "rough", {"kernel": "periodic", "period": {"age": 12}, "decay": 30, "amplitude": 9}],
    {"mixture": ["smooth", {"lengthscale": 2, "kernel": "matern52"}], "weights": [2, 1]},
    {"monotone": {"age": "increasing"}, "amplitude": 20, "lengthscale": {"dose": 2}},
    {"levels": {"color": "similar"}, "amplitude": "20 x/ 3"},
    [{"kernel": "linear", "column": "age", "amplitude": 4}, {"levels": {"color": 0.5}}],
    {"kernel": "rational_quadratic", "amplitude": [20]},
]
FILES = [
    {**GOOD, "belief": spec, "columns": {"age": [0, 90]}, "sentence": "Smooth."} for spec in SPECS
]


def test_what_the_mutations_begin_with_is_understood():
    for file in FILES:
        understand(json.dumps(file).encode())


def understand(data):
    """Read a file and parse what it says, as the command line does."""
    spec = belief_from_json(data).spec
    found = parse_belief(spec, SCALING, NAMES, task="regression", outputs=1)
    assert isinstance(found.belief, Belief)
    assert str(found).strip()
    assert all(np.isfinite(value) and value > 0 for value in amplitudes_of(spec))


def fuzzed(count, seed):
    """Files with changes to what they say, and one in five with changes to their bytes."""
    chance = random.Random(seed)
    for i in range(count):
        file = chance.choice(FILES)
        if i % 5 == 0:
            yield scrambled(json.dumps(file).encode(), chance)
        elif i % 5 == 1:
            yield json.dumps(mutated(file, chance, chance.randint(1, 3))).encode()
        else:
            spec = mutated(file["belief"], chance, chance.randint(1, 3))
            yield json.dumps({**file, "belief": spec}).encode()


@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_a_file_that_is_nearly_right_is_refused_in_words_or_understood(count, as_users_run_it):
    refused = understood = 0
    for data in fuzzed(count, seed=count):
        try:
            understand(data)
            understood += 1
        except ValueError as error:
            refused += len(str(error)) > 10
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error}, for {data.decode(errors='replace')}")
    assert refused + understood == count
    assert understood > 0.03 * count
