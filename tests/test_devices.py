"""Chains that are spread over several devices are the same chains."""

import os
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import sys
import jax, numpy as np
import goodprior as gp
from goodprior.devices import use_all_cores
from goodprior.estimators import BNNRegressor  # no import may start JAX and count its devices

assert use_all_cores(int(sys.argv[1])) == int(sys.argv[1])
X = np.linspace(-2, 2, 200)[:, None]
posterior = gp.sample_posterior(
    gp.HierarchicalPrior(gp.MLP(1, (20, 20), 1, key=jax.random.key(0)), refresh_every=10),
    gp.Gaussian(0.1), X, np.sin(X), chains=4, burn_in=50, draws=1, thinning=50,
    key=jax.random.key(1),
)
np.savez(sys.argv[2], *jax.tree.leaves(posterior.draws))
"""


def draws(devices: int, path) -> list[np.ndarray]:
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    command = [sys.executable, "-c", PROGRAM, str(devices), str(path)]
    subprocess.run(command, check=True, env=environment, timeout=300)
    with np.load(path) as saved:
        return [saved[name] for name in saved.files]


@pytest.mark.slow
def test_two_devices_and_one_give_the_same_draws_after_100_steps(tmp_path):
    for one, two in zip(draws(1, tmp_path / "1.npz"), draws(2, tmp_path / "2.npz"), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-5)
