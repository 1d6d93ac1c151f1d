"""Equal things have equal fingerprints, in every process; other arrays are another thing."""

import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import GaussianProcess, rbf
from goodprior.networks import MLP
from goodprior.priors import FlowPrior, GaussianPrior
from goodprior.storage import fingerprint


class PlainBelief:
    """A belief that is no module; its repr has its address in memory."""

    def __init__(self, scale, squash=jnp.tanh):
        self.scale, self.squash = scale, squash

    def sample(self, key, x, n):
        return self.squash(self.scale * jax.random.normal(key, (n, len(x), 1)))


class SlottedBelief:
    __slots__ = ("scale",)

    def __init__(self, scale):
        self.scale = scale


class Wave(eqx.Module):
    height: jax.Array
    period: float = eqx.field(static=True)
    squash: object = jnp.tanh

    def __call__(self, x):
        return self.squash(self.height * jnp.sin(x / self.period))


def _shifted(by):
    return lambda x: x + by


KEY = jax.random.key(0)
MAKERS = {  # a thing that depends on one number, made anew each time
    "belief": lambda v: GaussianProcess(rbf(jnp.array([1.0, v]))),
    "prior": lambda v: GaussianPrior(MLP(1, (3,), 1, key=KEY), v),
    "flow": lambda v: FlowPrior(MLP(1, (3,), 1, key=KEY), 2, key=jax.random.key(int(v))),
    "plain class": lambda v: PlainBelief(np.array([1.0, v])),
    "plain class with a number": lambda v: PlainBelief(v),
    "slots": lambda v: SlottedBelief(v),
    "its function": lambda v: PlainBelief(1.0, _shifted(v)),
    "its lambda": lambda v: PlainBelief(1.0, (lambda x: x + 1) if v > 1 else (lambda x: x + 2)),
    "partial": lambda v: partial(np.add, v),
    "compiled": lambda v: jax.jit(_shifted(v)),
    "own network": lambda v: Wave(jnp.array([v]), 2.0),
    "own network's static part": lambda v: Wave(jnp.ones(1), v),
    "own network's function": lambda v: Wave(jnp.ones(1), 2.0, jnp.sin if v > 1 else jnp.cos),
    "prior of an own network": lambda v: GaussianPrior(Wave(jnp.ones(1), v)),
    "settings": lambda v: {"belief": PlainBelief(v), "hidden": (3,), "network": None},
    "numbers as keys": lambda v: {1: v, (2, "x"): 3.0},
    "set": lambda v: {"a", "b", str(v)},
    "texts": lambda v: np.array(["a", str(v)], object),
    "shape": lambda v: np.zeros((2, 3) if v > 1 else (3, 2)),
    "type": lambda v: np.zeros(2, np.int32 if v > 1 else np.float32),
    "random generator": lambda v: np.random.RandomState(int(v)),
    "path": lambda v: Path(str(v)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_equal_things_agree_and_others_differ(name):
    make = MAKERS[name]
    assert fingerprint(make(2.0)) == fingerprint(make(2.0))
    assert fingerprint(make(2.0)) != fingerprint(make(1.0))


def test_the_order_of_settings_does_not_matter():
    assert fingerprint({"a": 1, "b": np.ones(2)}) == fingerprint({"b": np.ones(2), "a": 1})


def test_a_thing_that_holds_itself_has_a_fingerprint():
    def round_trip():
        belief = PlainBelief(1.0)
        belief.self = belief
        return fingerprint(belief)

    assert round_trip() == round_trip()


def test_a_table_on_disk_counts_by_its_values(tmp_path):
    def on_disk(value):
        table = np.memmap(tmp_path / "table", np.float32, "w+", shape=(4, 2))
        table[:] = value
        return table

    assert fingerprint(on_disk(1.0)) == fingerprint(on_disk(1.0)) != fingerprint(on_disk(2.0))


def test_what_has_no_state_to_describe_is_refused():
    with pytest.raises(ValueError, match=r"\['lock'\] has no fingerprint, .* a _thread\.lock"):
        fingerprint({"lock": threading.Lock()})


PROGRAM = """
from tests.storage.test_fingerprint import MAKERS, fingerprint
print(*(fingerprint(make(2.0)) for make in MAKERS.values()))
"""


@pytest.mark.slow
def test_another_process_finds_the_same():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [fingerprint(make(2.0)) for make in MAKERS.values()]
