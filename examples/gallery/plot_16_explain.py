"""
What a model says of each column
================================

Which columns matter, over which length functions vary in them, and what the function is like along
each: computed for every posterior draw, so that the answers have error bars too.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from goodprior import BNNRegressor

rng = np.random.default_rng(4)
rows = 150
X = pd.DataFrame(
    {
        "dose": rng.uniform(0, 8, rows),
        "age": rng.uniform(20, 80, rows),
        "bed": rng.uniform(1, 40, rows),
    }
)
pressure = 120 + 8 * np.sin(1.2 * X["dose"]) + 0.15 * (X["age"] - 50)
y = pressure + rng.normal(0, 2, rows)

model = BNNRegressor(likelihood="gaussian", draws=25, random_state=0).fit(X, y)
print(model.belief_)

# %%
# In the belief's words: how far one has to go along a column until functions have changed, and
# their share of the variance. The truth: the bed does nothing, and the wave of the dose has a
# lengthscale of 1 / 1.2, about 0.8.

for relevance in model.relevance(X):
    print(relevance)

# %%
# Along each column, averaged over the other columns of the rows, with the truth dashed. The band is
# that of the function, not of the next patient. `model.plot_partial_dependence(X)` draws all this
# but the truth.

truth = {
    "dose": lambda dose: 8 * np.sin(1.2 * dose),
    "age": lambda age: 0.15 * (age - 50),
    "bed": lambda bed: 0 * bed,
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for ax, (column, function) in zip(axes, truth.items(), strict=True):
    found = model.partial_dependence(X, column)
    ax.fill_between(found.grid, found.lower, found.upper, alpha=0.3, label="95 % of draws")
    ax.plot(found.grid, found.mean, label="mean")
    expected = function(found.grid)
    ax.plot(found.grid, expected - expected.mean() + found.mean.mean(), "k--", label="truth")
    ax.set_xlabel(column)
axes[0].set_ylabel("pressure")
axes[0].legend(fontsize="small")
plt.show()
