"""
Noise that grows
================

By default the regressor learns a noise level that depends on the inputs, with tails for single rows
that are far off. `likelihood="gaussian"` learns one level for all, which is then too wide in one
place and too narrow in another.
"""

import matplotlib.pyplot as plt
import numpy as np

from goodprior import BNNRegressor

rng = np.random.default_rng(3)
x = np.sort(rng.uniform(0, 10, 150))
y = 2 * x + 3 * np.sin(x) + rng.normal(0, 0.2 + 0.3 * x)
x_new = np.sort(rng.uniform(0, 10, 2000))
y_new = 2 * x_new + 3 * np.sin(x_new) + rng.normal(0, 0.2 + 0.3 * x_new)

# %%
# How often is a new observation inside its 90 % interval, on the left and on the right?

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
for ax, likelihood in zip(axes, ("gaussian", "auto"), strict=True):
    model = BNNRegressor(
        belief={"lengthscale": 2, "amplitude": 8},
        likelihood=likelihood,
        chains=4,
        draws=25,
        random_state=0,
    )
    model.fit(x[:, None], y)
    low, high = model.predict_interval(x_new[:, None], 0.9)
    inside = (low <= y_new) & (y_new <= high)
    left, right = inside[x_new < 3].mean(), inside[x_new > 7].mean()
    print(f"{likelihood}: 90 % intervals hold {left:.0%} for x < 3 and {right:.0%} for x > 7")
    ax.fill_between(
        x_new, low, high, color="#009e73", alpha=0.2, lw=0, label="90 % of observations"
    )
    low, high = model.predict_interval(x_new[:, None], 0.9, of="function")
    ax.fill_between(
        x_new, low, high, color="#009e73", alpha=0.4, lw=0, label="90 % of the function"
    )
    ax.plot(x, y, "k.", ms=3)
    ax.set(title=f"{likelihood}: {left:.0%} and {right:.0%} inside", xlabel="x")
axes[0].set_ylabel("y")
axes[0].legend(loc="upper left", fontsize="small")
plt.show()
