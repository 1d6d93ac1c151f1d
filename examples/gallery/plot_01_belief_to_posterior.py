"""
From a belief to a posterior
============================

The whole idea in one row of pictures: a belief about functions, a prior over a network's weights
whose functions are like the belief's, and the posterior after some data.
"""

import matplotlib.pyplot as plt
import numpy as np

from goodprior import BNNRegressor, plots

rng = np.random.default_rng(0)
x = np.concatenate([rng.uniform(0, 4, 20), rng.uniform(7, 10, 20)])
y = 20 + 5 * np.sin(x) + rng.normal(0, 0.5, len(x))

# %%
# What we believe is said in the units of the data: functions are smooth, vary over about 1.5 in x
# and by about 5 in y. The network is chosen for the belief; nothing is said about its weights.

model = BNNRegressor(
    belief={"lengthscale": 1.5, "amplitude": 5},
    likelihood="gaussian",
    chains=4,
    draws=25,
    random_state=0,
)
model.fit(x[:, None], y)
print(model.belief_)
print(model.match_report_)

# %%
# `sample_belief`, `sample_prior` and `predict_interval` speak in the same units, so that they can
# be drawn side by side. Where there are no data, between 4 and 7, the band of the function opens
# as wide as the belief says.

grid = np.linspace(-1, 11, 150)[:, None]
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
plots.plot_functions(axes[0], grid[:, 0], model.sample_belief(grid, 500), colour="black", n=6)
axes[0].set_title("belief")
plots.plot_functions(axes[1], grid[:, 0], model.sample_prior(grid, 500), colour="#009e73", n=6)
axes[1].set_title("prior of the network")
plots.plot_posterior(
    axes[2],
    grid[:, 0],
    model.predict(grid),
    np.stack(model.predict_interval(grid, 0.95, of="function")),
    (x, y),
    colour="#009e73",
    truth=20 + 5 * np.sin(grid[:, 0]),
)
axes[2].set_title("posterior, 95 % of the function")
for ax in axes:
    ax.set_xlabel("x")
axes[0].set_ylabel("y")
plt.show()

# %%
# The diagnostics say whether to trust the draws: R-hat near 1, and some hundred effective draws.

print(model.diagnostics_)
