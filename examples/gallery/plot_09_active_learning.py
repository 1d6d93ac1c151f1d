"""
Active learning
===============

Where should the next rows be measured? Where the *function* is least known: its standard deviation,
not that of an observation, which noise dominates.
"""

import matplotlib.pyplot as plt
import numpy as np

from goodprior import BNNRegressor

rng = np.random.default_rng(5)
pool = np.linspace(0, 10, 200)
truth = np.where(pool > 5, np.sin(3 * pool), 0.2 * pool - 1)


def measure(chosen):
    return truth[chosen] + rng.normal(0, 0.1, len(chosen))


def fitted(chosen, y):
    model = BNNRegressor(
        belief={"lengthscale": 0.8, "amplitude": 1},
        likelihood="gaussian",
        chains=4,
        draws=25,
        random_state=0,
    )
    return model.fit(pool[chosen][:, None], y)


# %%
# Three rounds of six rows. In each, one row after another is taken where the standard deviation
# over posterior functions, given the rows chosen in this round, is largest: draws are conditioned
# on each choice as a Gaussian vector would be.

chosen = [0, 20, 40, 60, 80, 100]
y = measure(chosen)
rounds = []
for _ in range(3):
    model = fitted(chosen, y)
    functions = model.sample_functions(pool[:, None], 100)
    low, high = np.quantile(functions, [0.05, 0.95], axis=0)
    covariance, new = np.cov(functions.T), []
    for _ in range(6):
        new.append(int(np.argmax(np.diag(covariance))))
        column = covariance[:, new[-1]]
        covariance = covariance - np.outer(column, column) / (column[new[-1]] + 0.01)
    rounds.append((list(chosen), y, functions.mean(axis=0), low, high, new))
    y = np.concatenate([y, measure(new)])
    chosen += new

# %%
# All rows of the first round go to the right half, of which nothing was known.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
for ax, (rows, values, mean, low, high, new) in zip(axes, rounds, strict=True):
    ax.fill_between(pool, low, high, color="#009e73", alpha=0.25, lw=0)
    ax.plot(pool, mean, color="#009e73")
    ax.plot(pool, truth, "k:", lw=0.8)
    ax.plot(pool[rows], values, "k.", ms=5)
    for i, place in enumerate(pool[new]):
        ax.axvline(place, ymax=0.06, color="#d55e00", label="next" if i == 0 else None)
    error = np.sqrt(np.mean((mean - truth) ** 2))
    ax.set(title=f"{len(rows)} rows: RMSE {error:.2f}", xlabel="x")
axes[0].legend(loc="upper left", fontsize="small")
plt.show()
