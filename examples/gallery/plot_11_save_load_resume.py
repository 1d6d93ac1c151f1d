"""
Saving, loading, going on
=========================

A fit can be interrupted, resumed, prolonged, saved and loaded; the draws are the same as if nothing
had happened.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from goodprior import BNNRegressor, load

rng = np.random.default_rng(6)
X = rng.uniform(-3, 3, (80, 1))
y = np.sin(2 * X[:, 0]) + rng.normal(0, 0.1, 80)
folder = Path(tempfile.mkdtemp())

# %%
# Ten draws of each chain are few, and `fit` says so. With `checkpoint`, the same call with more
# draws goes on; `sample_more` does the same in one program. Here the effective sample size and
# R-hat are looked at after every ten draws.

warnings.simplefilter("ignore", ConvergenceWarning)
model = BNNRegressor(
    belief={"lengthscale": 1, "amplitude": 1},
    likelihood="gaussian",
    chains=4,
    draws=10,
    random_state=0,
)
model.fit(X, y, checkpoint=folder / "run")
history = [model.diagnostics_.summary]
for _ in range(4):
    model.sample_more(10)
    history.append(model.diagnostics_.summary)

# %%
# A second program takes up the checkpoint and asks for twenty draws: it has ten of them already,
# and ends with the same numbers as the first one did after twenty.

resumed = BNNRegressor(**{**model.get_params(), "draws": 20})
resumed.fit(X, y, checkpoint=folder / "run")
first = np.asarray(model.posterior_.functions(X)).reshape(4, 50, -1)[:, :20]
second = np.asarray(resumed.posterior_.functions(X)).reshape(4, 20, -1)
print("the same draws:", np.array_equal(first, second))

# %%
# A model file is a safetensors file with JSON: nothing in it is ever run. It holds the draws, not
# the data.

model.save(folder / "model.safetensors")
again = load(folder / "model.safetensors")
print("the same predictions:", np.array_equal(again.predict(X), model.predict(X)))
print(f"{(folder / 'model.safetensors').stat().st_size / 1e6:.1f} MB")

# %%
draws = 10 * np.arange(1, 6)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.plot(draws, [found["rhat_max"] for found in history], "o-", color="#009e73")
left.axhline(model.rhat, color="#d55e00", lw=0.8, label="warned above")
left.set(xlabel="draws of each chain", ylabel="highest R-hat")
left.legend()
right.plot(draws, [found["ess_min"] for found in history], "o-", color="#009e73")
right.axhline(model.ess, color="#d55e00", lw=0.8, label="warned below")
right.set(xlabel="draws of each chain", ylabel="lowest effective sample size", ylim=(0, None))
right.legend()
plt.show()
