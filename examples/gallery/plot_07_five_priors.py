"""
Five priors
===========

The paper's five priors over the weights of one network, beside the belief that three of them are
matched to:

- **FG**, *fixed Gaussian*: N(0, 1) on every weight, whatever the belief;
- **FH**, *fixed hierarchical*: Gaussian weights with an unknown variance for each layer;
- **GPi-G**, *GP-induced Gaussian*: a variance for each layer, matched to the belief;
- **GPi-H**, *GP-induced hierarchical*: a distribution of variances for each layer, matched;
- **GPi-NF**, *GP-induced normalising flow*: a flexible distribution of all weights, matched.
"""

import matplotlib.pyplot as plt
import numpy as np

from goodprior import BNNRegressor, plots

x = np.linspace(-3, 3, 100)[:, None]
belief = {"lengthscale": 0.8, "amplitude": 1.0}
names = {"fg": "FG", "fh": "FH", "gpi-g": "GPi-G", "gpi-h": "GPi-H", "gpi-nf": "GPi-NF"}

# %%
# `fit_prior` needs no targets. The network is the same for all: two hidden layers of 30 tanh units.

models = {}
for name in names:
    model = BNNRegressor(name, belief=belief, hidden=(30, 30), random_state=0)
    models[name] = model.fit_prior(x)
    if name.startswith("gpi"):
        print(f"{names[name]}: {model.match_report_}")

# %%
# Functions of the fixed priors are far smoother than the belief says, and FH's are now and then
# far too large. The matched ones are of the right size, and as rough as two layers of tanh units
# can be.

figure, axes = plt.subplots(2, 3, figsize=(10, 5.2), sharex=True, layout="constrained")
panels = [("belief", models["gpi-g"].sample_belief(x, 500), "GP")]
panels += [(names[name], model.sample_prior(x, 500), names[name]) for name, model in models.items()]
for ax, (title, functions, colour) in zip(axes.flat, panels, strict=True):
    plots.plot_functions(ax, x[:, 0], functions, colour=plots.COLOURS[colour], n=6)
    ax.set(title=title, ylim=(-4.5, 4.5))
plt.show()

# %%
# The same thing in one curve: the correlation of function values at two points, by their distance.
# A tanh network that crosses its mean as often as the belief still remembers too long where it
# came from. Without `hidden`, the network is chosen for the belief, and has its correlations.

chosen = BNNRegressor(belief=belief, random_state=0).fit_prior(x)
panels.append(("GPi-G, network chosen", chosen.sample_prior(x, 500), "FG+TS"))
print(chosen.match_report_)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
lags = np.arange(0, 50, 2)
for title, functions, colour in panels:
    scaled = functions / np.sqrt((functions**2).mean())
    alike = [(scaled[:, : 100 - k] * scaled[:, k:]).mean() for k in lags]
    style = "--" if title == "belief" else "-"
    ax.plot(lags * (x[1, 0] - x[0, 0]), alike, style, color=plots.COLOURS[colour], label=title)
ax.set(xlabel="distance of two points", ylabel="correlation of function values")
ax.legend(fontsize="small")
plt.show()
