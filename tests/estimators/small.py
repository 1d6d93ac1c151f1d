"""Small settings and a small table, so that what is compiled once serves many tests."""

import numpy as np

SMALL = {
    "hidden": (8,),
    "chains": 2,
    "burn_in": 200,
    "draws": 15,
    "thinning": 50,
    "random_state": 0,
}

rng = np.random.default_rng(0)
X = np.column_stack([rng.uniform(-2, 2, 60), rng.uniform(0, 100, 60), np.full(60, 7.0)])
Y = 50 + 10 * np.sin(X[:, 0]) + 0.1 * X[:, 1] + rng.normal(size=60)
LABELS = np.where(Y > 55, "high", "low")
