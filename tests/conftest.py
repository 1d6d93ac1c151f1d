"""What all tests share."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Most of a test's time is compilation: programs this small need no optimising.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

# What a test has compiled serves the programs that it and others start. Each process that runs
# tests has a folder of its own: JAX does not lock it.
# A run of the same tests again and again (`benchmarks.mutation`) names one that it keeps.
os.environ["JAX_COMPILATION_CACHE_DIR"] = os.environ.get(
    "GOODPRIOR_TEST_CACHE"
) or tempfile.mkdtemp(prefix="goodprior-compiled-")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")

import jax
import pytest
from jaxtyping import config

if "GOODPRIOR_TEST_CACHE" not in os.environ:
    atexit.register(shutil.rmtree, os.environ["JAX_COMPILATION_CACHE_DIR"], ignore_errors=True)


SLOW_EXAMPLES = (
    "BNNClassifier",
    "BNNRegressor",
    "Collapsed",
    "Fit",
    "FlowPrior",
    "GibbsHierarchicalPrior",
    "LaplacePosterior",
    "LeNet5",
    "LearnedNoise",
    "PreResNet20",
    "VGG16",
    "calibrate",
    "fit_posterior",
    "fit_early_stopping",
    "fit_ensemble",
    "fit_fbnn",
    "fit_laplace",
    "fit_map",
    "kernel_network",
    "laplace_at",
    "match",
    "sample_posterior",
    "stein_score",
    "tune",
)


def pytest_collection_modifyitems(items):
    """Examples in docstrings cannot be marked where they stand."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.split(".")[-1] in SLOW_EXAMPLES:
            item.add_marker(pytest.mark.slow)


# Each compiled program keeps memory maps, of which Linux grants a process 65,530: the compiler
# crashes when a worker has used them up.
MAPS_TO_FORGET_AT = 20_000


def memory_maps() -> int:
    """How many this process has; none where the system does not tell."""
    try:
        return Path("/proc/self/maps").read_bytes().count(b"\n")
    except OSError:
        return 0


@pytest.fixture(scope="module", autouse=True)
def forget_compiled_programs():
    """After a file of tests, if that is much: files that share settings share their programs."""
    yield
    if memory_maps() > MAPS_TO_FORGET_AT:
        jax.clear_caches()


@pytest.fixture(autouse=True)
def forget_before_the_maps_run_out(request):
    """Also within a file, where its slow tests compile that many programs."""
    yield
    if request.node.get_closest_marker("slow") and memory_maps() > MAPS_TO_FORGET_AT:
        jax.clear_caches()


@pytest.fixture
def as_users_run_it():
    """Without the shape checks of the test set-up: what a wrong argument meets in normal use."""
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", before)
