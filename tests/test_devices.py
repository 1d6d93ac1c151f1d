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
    gp.GibbsHierarchicalPrior(gp.MLP(1, (20, 20), 1, key=jax.random.key(0)), refresh_every=10),
    gp.Gaussian(0.1), X, np.sin(X), sampler=gp.SGHMC(burn_in=50, thinning=50), chains=4, draws=1,
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


ALL_CORES = """
import jax, joblib, numpy as np
from goodprior import BNNRegressor
X = np.linspace(0, 1, 20)[:, None]
BNNRegressor(belief="smooth", method="map").fit(X, X[:, 0])
print(jax.local_device_count(), joblib.cpu_count())
"""


@pytest.mark.slow
def test_estimators_use_all_cores():
    env = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS" and not k.startswith("JAX_NUM")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALL_CORES],
        env=env, check=True, capture_output=True, text=True,
    )  # fmt: skip
    devices, cores = done.stdout.split()
    assert devices == cores


FIT = """
import numpy as np
from goodprior import BNNRegressor, SGHMC
X = np.linspace(0, 1, 40)[:, None]
method = SGHMC(burn_in=20, thinning=10)
BNNRegressor(hidden=(5,), method=method, chains=2, draws=2).fit(X, X[:, 0])
"""


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True], ids=["the user's cache", "a folder of one's own"])
def test_estimators_keep_compiled_programs_where_the_user_wants_them(tmp_path, own):
    env = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    env["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    if own:
        env["JAX_COMPILATION_CACHE_DIR"] = str(tmp_path / "own")
    subprocess.run([sys.executable, "-c", FIT], env=env, check=True)
    kept = tmp_path / "cache" / "goodprior" / "compiled"
    assert kept.exists() != own
    assert list((tmp_path / "own" if own else kept).iterdir())
