"""Small settings and a small table, so that what is compiled once serves many tests."""

from dataclasses import replace

import numpy as np

from goodprior import SGHMC

METHOD = SGHMC(
    step_size=0.02,
    momentum_decay=0.02,
    gradient_noise="none",
    burn_in=200,
    thinning=50,
    batch_size=None,
)
NETWORK = {"hidden": (8,), "random_state": 0}
SMALL = {**NETWORK, "method": METHOD, "chains": 2, "draws": 15}


def sghmc(**changes):
    """The small settings' sampler, but for these."""
    return replace(METHOD, **changes)


rng = np.random.default_rng(0)
X = np.column_stack([rng.uniform(-2, 2, 60), rng.uniform(0, 100, 60), np.full(60, 7.0)])
Y = 50 + 10 * np.sin(X[:, 0]) + 0.1 * X[:, 1] + rng.normal(size=60)
LABELS = np.where(Y > 55, "high", "low")
