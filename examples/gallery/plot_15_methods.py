"""
Four ways to the posterior
==========================

The same rows: sampled in two ways under the same belief, and what people use otherwise: the mode
alone, and an ensemble. Look at the gap.
"""

import matplotlib.pyplot as plt
import numpy as np

from goodprior import BNNRegressor, Ensemble

rng = np.random.default_rng(9)
x = np.concatenate([rng.uniform(-3, -1, 30), rng.uniform(1.2, 3, 30)])
y = np.sin(2 * x) + rng.normal(0, 0.15, 60)
grid = np.linspace(-3.5, 3.5, 120)[:, None]
belief = {"lengthscale": 0.8, "amplitude": 1}
sampled = {"belief": belief, "likelihood": "gaussian", "chains": 4, "draws": 25}
models = {
    "sghmc": BNNRegressor(method="sghmc", random_state=0, **sampled),
    "mclmc": BNNRegressor(method="mclmc", random_state=0, **sampled),
    "map": BNNRegressor(method="map", belief=belief, likelihood="gaussian", random_state=0),
    "ensemble": BNNRegressor(method=Ensemble(members=5, weight_decay=1e-3), random_state=0),
}

# %%
# A setting that a method has no use for is an error: an ensemble has no belief, and learns a noise
# that depends on the inputs. How far its members agree depends on the weight decay; without one it
# is chosen by validation, which takes longer.

figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
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
