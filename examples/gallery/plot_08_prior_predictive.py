"""
Prior predictive checks
=======================

Before any target is seen: are functions of the prior things that could happen? `fit_prior` needs
the inputs only, and `sample_prior` gives functions in the units of the target.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from goodprior import BNNRegressor

# %%
# Temperature in a room over a day. We know that it stays between 5 and 35 degrees, and that it does
# not go up and down more than a few times.

hours = pd.DataFrame({"hour": np.linspace(0, 24, 100)})
beliefs = {
    "amplitude 20, over 1 hour": {"lengthscale": 1, "amplitude": 20},
    "amplitude 4, over 1 hour": {"lengthscale": 1, "amplitude": 4},
    "amplitude 4, over 5 hours": {"lengthscale": 5, "amplitude": 4},
}
figure, axes = plt.subplots(2, 3, figsize=(11, 5.6), layout="constrained")
for column, (name, belief) in zip(axes.T, beliefs.items(), strict=True):
    model = BNNRegressor(belief=belief, random_state=0)
    model.fit_prior(hours, target_mean=20)
    functions = model.sample_prior(hours, 400)
    possible = np.mean((functions > 5).all(axis=1) & (functions < 35).all(axis=1))
    turns = (np.diff(np.sign(np.diff(functions, axis=1)), axis=1) != 0).sum(axis=1)
    print(f"{name}: {possible:.0%} stay within 5 to 35 degrees, {np.median(turns):.0f} turns")
    column[0].axhspan(5, 35, color="grey", alpha=0.15, lw=0)
    column[0].plot(hours["hour"], functions[:8].T, color="#009e73", lw=0.9)
    column[0].set(title=name, ylim=(-30, 70), xlabel="hour")
    column[1].hist(turns, bins=np.arange(0, 41, 2), color="#009e73")
    column[1].set(xlabel="turns in a day", title=f"{possible:.0%} possible")
axes[0, 0].set_ylabel("temperature")
axes[1, 0].set_ylabel("functions")
plt.show()

# %%
# Only the last one is a belief that we hold. Its `prior_` can be given to any estimator of the same
# columns, which then does not match it again.

print(model.belief_)
