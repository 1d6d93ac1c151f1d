"""
Four ways to the posterior
==========================

The same rows: sampled in two ways under the same belief, and what people use otherwise: the mode
alone, and an ensemble. Look at the gap.
"""

import matplotlib.pyplot as plt
import numpy as np

from goodprior import BNNRegressor

rng = np.random.default_rng(9)
x = np.concatenate([rng.uniform(-3, -1, 30), rng.uniform(1.2, 3, 30)])
y = np.sin(2 * x) + rng.normal(0, 0.15, 60)
grid = np.linspace(-3.5, 3.5, 120)[:, None]
belief = {"lengthscale": 0.8, "amplitude": 1}
methods = {
    "sghmc": {"belief": belief, "likelihood": "gaussian", "chains": 4, "draws": 25},
    "mclmc": {"belief": belief, "likelihood": "gaussian", "chains": 4, "draws": 25},
    "map": {"belief": belief, "likelihood": "gaussian"},
    "ensemble": {},
}

# %%
# A setting that a method has no use for is an error: an ensemble has no belief, and learns a noise
# that depends on the inputs.

figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
for ax, (name, settings) in zip(axes.flat, methods.items(), strict=True):
    model = BNNRegressor(method=name, random_state=0, **settings)
    model.fit(x[:, None], y)
    mean = model.predict(grid)
    low, high = model.predict_interval(grid, 0.95)
    ax.fill_between(grid[:, 0], low, high, color="#009e73", alpha=0.15, lw=0)
    low, high = model.predict_interval(grid, 0.95, of="function")
    ax.fill_between(grid[:, 0], low, high, color="#009e73", alpha=0.35, lw=0)
    ax.plot(grid[:, 0], mean, color="#009e73")
    ax.plot(grid[:, 0], np.sin(2 * grid[:, 0]), "k:", lw=0.8)
    ax.plot(x, y, "k.", ms=3)
    ax.set(title=name, ylim=(-3, 3))
axes[0, 0].text(-3.4, 1.6, "dark: 95 % of the function\nlight: 95 % of observations\ndotted: truth")
plt.show()
