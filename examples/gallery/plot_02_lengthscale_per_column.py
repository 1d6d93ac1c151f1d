"""
A lengthscale for each column
=============================

A clinician knows that blood pressure changes slowly with age, quickly with dose, and not at all
with the number of the bed. Said as a belief, that is worth many rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from goodprior import BNNRegressor

rng = np.random.default_rng(1)


def table(rows):
    frame = pd.DataFrame(
        {
            "age": rng.uniform(20, 80, rows),
            "dose": rng.uniform(0, 8, rows),
            "bed": rng.uniform(1, 40, rows),
        }
    )
    pressure = 120 + 0.2 * (frame["age"] - 50) + 8 * np.sin(1.2 * frame["dose"])
    return frame, pressure + rng.normal(0, 2, rows)


X, y = table(60)
X_new, y_new = table(500)

# %%
# The same network and the same rows, with and without the knowledge about columns.

stated = {"lengthscale": {"age": 60, "dose": 1.5}, "ignore": ["bed"], "amplitude": 10}
settings = {"likelihood": "gaussian", "chains": 4, "draws": 25, "random_state": 0}
models = {
    "one length for all columns": BNNRegressor(belief={"amplitude": 10}, **settings),
    "a length for each": BNNRegressor(belief=stated, **settings),
}
errors = {}
for name, model in models.items():
    model.fit(X, y)
    errors[name] = np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2))
    print(f"{name}: RMSE on 500 new rows {errors[name]:.2f}")
    print("   ", model.belief_)

# %%
# Along each column, the others at their means; dots are rows with all values of the others, so
# that a curve need not go through their middle. The belief that knows about columns was told
# that the bed has no effect, and finds the waves of the dose.

figure, axes = plt.subplots(2, 3, figsize=(10, 5.4), sharey=True, layout="constrained")
for row, (name, model) in zip(axes, models.items(), strict=True):
    for ax, column in zip(row, X.columns, strict=True):
        along = pd.DataFrame([X.mean()] * 80)
        along[column] = np.linspace(X[column].min(), X[column].max(), 80)
        low, high = model.predict_interval(along, 0.95, of="function")
        ax.fill_between(along[column], low, high, color="#009e73", alpha=0.25, lw=0)
        ax.plot(along[column], model.predict(along), color="#009e73")
        ax.plot(X[column], y, ".", color="black", ms=3, alpha=0.5)
        ax.set_xlabel(column)
    row[0].set_ylabel("pressure")
    row[1].set_title(f"{name}: RMSE {errors[name]:.2f}")
plt.show()
