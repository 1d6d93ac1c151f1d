"""
Digits that were never seen
===========================

A classifier of the digits 0 to 4 is shown 5 to 9. A single network is often sure of itself; draws
of a posterior disagree, and the entropy of their mean says so.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from goodprior import SGHMC, BNNClassifier

digits = load_digits()
images, labels = digits.data / 16, digits.target
known = labels < 5
train = np.flatnonzero(known)[:400]
test = np.flatnonzero(known)[400:]
foreign = np.flatnonzero(~known)[:500]

# %%
# One mode, and a posterior, under the same prior. With 400 images both rank foreign digits nearly
# alike (AUROC: how often a foreign digit has a higher entropy than a familiar one); the posterior
# is far less sure of them.

sampler = SGHMC(burn_in=1000, thinning=100, batch_size=None, gradient_noise="none")
models = {
    "one network (map)": BNNClassifier(hidden=(50,), method="map", random_state=0),
    "posterior (sghmc)": BNNClassifier(
        hidden=(50,), method=sampler, chains=4, draws=20, random_state=0
    ),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
entropies = {}
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(images[train], labels[train])
    inside = model.predict_uncertainty(images[test])["entropy"]
    outside = model.predict_uncertainty(images[foreign])["entropy"]
    entropies[name] = outside
    area = roc_auc_score(np.r_[0 * inside, 0 * outside + 1], np.r_[inside, outside])
    print(f"{name}: accuracy {model.score(images[test], labels[test]):.3f}, AUROC {area:.3f}")
    print(f"    mean entropy {inside.mean():.2f}, of foreign digits {outside.mean():.2f}")
    bins = np.linspace(0, np.log(5), 30)
    ax.hist(inside, bins, density=True, color="#009e73", alpha=0.6, label="digits 0 to 4, new")
    ax.hist(outside, bins, density=True, color="#d55e00", alpha=0.6, label="digits 5 to 9")
    ax.set(title=f"{name}: AUROC {area:.3f}", xlabel="entropy of the class probabilities (nats)")
axes[1].legend()
plt.show()

# %%
# The foreign digits that the posterior is most, and least, sure about.

order = np.argsort(entropies["posterior (sghmc)"])
posterior = models["posterior (sghmc)"]
figure, axes = plt.subplots(2, 6, figsize=(9, 3.6), layout="constrained")
for row, chosen in zip(axes, (order[:6], order[-6:]), strict=True):
    for ax, i in zip(row, chosen, strict=True):
        image = images[foreign[i]]
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        chances = posterior.predict_proba(image[None])[0]
        ax.set_title(f'"{chances.argmax()}": {chances.max():.0%}', fontsize="medium")
        ax.set_axis_off()
plt.show()
