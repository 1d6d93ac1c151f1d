"""
Draws for ArviZ
===============

`to_datatree` gives an `xarray.DataTree` with groups that ArviZ knows, `posterior`,
`observed_data` and `log_likelihood`, and one of our own, `probe`. The numbers here come from
`arviz_stats`, which goodprior needs anyway; the pictures are Matplotlib's.
"""

import arviz_stats
import matplotlib.pyplot as plt
import numpy as np

from goodprior import BNNRegressor

rng = np.random.default_rng(7)
X = rng.uniform(-3, 3, (80, 1))
y = np.sin(2 * X[:, 0]) + rng.normal(0, 0.2, 80)
model = BNNRegressor(
    belief={"lengthscale": 1, "amplitude": 1},
    likelihood="gaussian",
    chains=4,
    draws=50,
    random_state=0,
)
tree = model.fit(X, y).to_datatree()
print({name: [*group.data_vars] for name, group in tree.children.items()})

# %%
# PSIS-LOO, from the log likelihood of each row under each draw.

print(arviz_stats.loo(tree))

# %%
# Weights of a network have symmetries, so chains need not agree on them. Function values should be
# looked at: the group `probe` has them at some training inputs, traced along the chains (and behind
# them the log variances of the noise).

print(arviz_stats.summary(tree, group="probe", coords={"function_dim_0": [0, 1, 2, 3]}))

# %%
# Traces and ranks of one function value. Ranks of chains that agree are uniform.

values = tree["probe"]["function"].values[..., 0]
ranks = values.ravel().argsort().argsort().reshape(values.shape)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
bins = np.linspace(0, values.size, 11)
for chain, colour in enumerate(("#009e73", "#0072b2", "#d55e00", "#7f7f7f")):
    left.plot(values[chain], color=colour, lw=0.7, label=f"chain {chain}")
    counts = np.histogram(ranks[chain], bins)[0]
    right.stairs(counts, bins, color=colour, lw=1.4)
right.axhline(values.shape[1] / 10, color="black", lw=0.8, ls="--")
left.set(xlabel="place in the trace", ylabel="function value (standard units)", title="trace")
right.set(xlabel="rank among all chains", ylabel="count", title="ranks", ylim=(0, None))
left.legend(ncols=4, fontsize="small", loc="upper center")
left.margins(y=0.2)
plt.show()

# %%
# And the posterior of the noise: its standard deviation, in the units of y (the true one is 0.2).

log_variance = tree["posterior"]["log_variance"].values.ravel()
print([*tree["posterior"].data_vars])
noise = np.sqrt(np.exp(log_variance) * model.posterior_.likelihood.typical_variance) * y.std()
figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
ax.hist(noise, bins=25, color="#009e73")
ax.axvline(0.2, color="black", lw=0.8, ls="--")
ax.set(xlabel="standard deviation of the noise", ylabel="draws")
plt.show()
