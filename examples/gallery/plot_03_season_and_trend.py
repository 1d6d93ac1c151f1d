"""
A seasonal series, its trend and a forecast
===========================================

A sum of terms says what a series is made of: `trend + season + something smooth`. The network
that is chosen for it has sines of that period and a straight line among its units, so that its
forecast goes on as the belief says.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from goodprior import BNNRegressor

# %%
# Six years of monthly numbers, made here; the last two are held back.

rng = np.random.default_rng(2)
months = np.arange(72)
series = 100 + 0.8 * months + 15 * np.sin(2 * np.pi * months / 12) + rng.normal(0, 4, 72)
known = months < 48
X = pd.DataFrame({"month": months})

# %%
# The season repeats every 12 months; its shape is allowed to change over about 60.

belief = [
    {"kernel": "linear", "amplitude": 20},
    {"kernel": "periodic", "period": {"month": 12}, "decay": 60, "amplitude": 15},
]
settings = {"likelihood": "gaussian", "chains": 4, "draws": 25, "random_state": 0}
models = {
    "smooth": BNNRegressor(belief={"lengthscale": 6, "amplitude": 25}, **settings),
    "trend + season": BNNRegressor(belief=belief, **settings),
}
for model in models.values():
    model.fit(X[known], series[known])
    print(model.belief_)

# %%
# A belief that knows no season falls back to the mean as soon as the data end, and says so by a
# wide band. The sum goes on.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    low, high = model.predict_interval(X, 0.9)
    inside = np.mean((low <= series)[~known] & (series <= high)[~known])
    error = np.sqrt(np.mean((model.predict(X) - series)[~known] ** 2))
    ax.fill_between(months, low, high, color="#009e73", alpha=0.25, lw=0, label="90 %")
    ax.plot(months, model.predict(X), color="#009e73", label="mean")
    ax.plot(months[known], series[known], "k.", ms=4, label="known")
    ax.plot(months[~known], series[~known], "o", mfc="none", mec="black", ms=4, label="held back")
    ax.axvline(47.5, color="grey", lw=0.8)
    ax.set(title=f"{name}: RMSE {error:.1f}, {inside:.0%} in the band", xlabel="month")
axes[0].legend(loc="upper left", ncols=2, fontsize="small")
plt.show()
