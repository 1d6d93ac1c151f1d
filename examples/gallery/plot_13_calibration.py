"""
Calibration
===========

Do 90 % intervals hold 90 % of new observations, and is an event of probability 0.7 seen 7 times
out of 10? Both are looked at on rows that were not used. (Whether a sampler draws from the right
posterior needs no such rows: ``model.calibrate(X)`` simulates them.)
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

from goodprior import BNNClassifier, BNNRegressor

# %%
# Regression: the share of new rows inside central intervals of each level.

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
levels = np.linspace(0.05, 0.95, 19)
shares = {}
models = {
    "sghmc": BNNRegressor(method="sghmc", chains=4, draws=25, random_state=0),
    "map": BNNRegressor(method="map", random_state=0),
}
for method, model in models.items():
    model.fit(X_train, y_train)
    shares[method] = []
    for level in levels:
        low, high = model.predict_interval(X_test, level)
        shares[method].append(np.mean((low <= y_test) & (y_test <= high)))

# %%
# Classification: how often the class is "benign", among rows of which that was predicted about so
# often.

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
classifier = BNNClassifier(chains=4, draws=25, random_state=0).fit(X_train, y_train)
chance = classifier.predict_proba(X_test)[:, 1]
seen, said = calibration_curve(y_test, chance, n_bins=5, strategy="uniform")
print(f"accuracy {classifier.score(X_test, y_test):.3f}")

# %%
# Curves on the diagonal are calibrated. On the left, below it is too sure. On the right, a curve
# that is steeper than the diagonal is not sure enough; mind how few rows are in the middle.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
for ax in (left, right):
    ax.plot([0, 1], [0, 1], color="black", lw=0.8)
for (method, share), colour in zip(shares.items(), ("#009e73", "#7f7f7f"), strict=True):
    left.plot(levels, share, color=colour, label=method)
    print(f"{method}: 90 % intervals hold {share[-2]:.0%}")
left.set(xlabel="level of the interval", ylabel="share of new rows inside", title="regression")
left.legend()
right.plot(said, seen, "o-", color="#009e73")
right.set(xlabel="predicted probability", ylabel="how often it was so", title="classification")
right.set(xlim=(-0.05, 1.25), ylim=(-0.1, 1.1))
counts = np.histogram(chance, np.linspace(0, 1, 6))[0]
for x, share, count in zip(said, seen, counts[counts > 0], strict=True):
    right.annotate(
        f"{count} rows", (x, share), (6, -10), textcoords="offset points", fontsize="small"
    )
plt.show()
