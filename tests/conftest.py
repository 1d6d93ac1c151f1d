"""What all tests share."""

import os

# Most of a test's time is compilation: programs this small need no optimising.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

import pytest
from jaxtyping import config


@pytest.fixture
def as_users_run_it():
    """Without the shape checks of the test set-up: what a wrong argument meets in normal use."""
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", before)
