"""
Class boundaries
================

For classes a belief is about the logits. Its lengthscale says how crooked the boundary may be, its
amplitude how sure the classifier may be.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from goodprior import BNNClassifier, plots

X, y = make_moons(120, noise=0.25, random_state=0)
axis = np.linspace(-2.5, 3.5, 60)
grid = np.stack(np.meshgrid(axis, axis), axis=-1)

# %%
# Four beliefs. With a long lengthscale the boundary is straight; with a small amplitude the
# classifier is never sure. Away from the data all of them should come back to even odds, and they
# do so within a lengthscale or two.

figure, axes = plt.subplots(2, 2, figsize=(8.5, 7.2), layout="constrained")
for row, amplitude in zip(axes, (1.0, 5.0), strict=True):
    for ax, length in zip(row, (0.5, 2.0), strict=True):
        model = BNNClassifier(
            belief={"lengthscale": length, "amplitude": amplitude},
            chains=4,
            draws=25,
            random_state=0,
        )
        model.fit(X, y)
        chance = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(grid.shape[:2])
        image = ax.pcolormesh(axis, axis, chance, cmap="PuOr", vmin=0, vmax=1)
        ax.contour(
            axis, axis, chance, levels=[0.1, 0.5, 0.9], colors="black", linewidths=[0.8, 2, 0.8]
        )
        for label, (colour, marker) in enumerate(plots.CLASS_STYLES):
            ax.scatter(
                *X[y == label].T,
                s=22,
                color=colour,
                marker=marker,
                edgecolors="white",
                linewidths=0.5,
            )
        ax.set(title=f"lengthscale {length:g}, amplitude {amplitude:g}", xticks=[], yticks=[])
figure.colorbar(image, ax=axes, label="probability of class 1", shrink=0.6)
plt.show()
