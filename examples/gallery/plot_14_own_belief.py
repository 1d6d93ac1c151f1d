"""
A belief of one's own
=====================

"It never falls" is nothing that a Gaussian process can say. (For smooth functions there is a word
for it, `monotone`; these have steps.) A belief is any object with `sample(key, x, n)`; a network is
any equinox module. Here both are written for the purpose: a growth curve measured twelve times.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import goodprior as gp
from goodprior import plots


class NeverFalls:
    """Positive steps on top of an uncertain start, joined by straight lines."""

    def sample(self, key, x, n):
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        knots = np.linspace(-2, 2, 13)
        steps = rng.gamma(shape=0.5, scale=0.6, size=(n, len(knots)))
        curves = rng.normal(-2, 0.5, size=(n, 1)) + steps.cumsum(axis=1)
        return np.stack([np.interp(np.asarray(x)[:, 0], knots, c) for c in curves])[..., None]


class RisingSteps(eqx.Module):
    """Soft steps of positive height: whatever its arrays are, this network cannot fall."""

    log_steepness: jax.Array
    place: jax.Array
    log_height: jax.Array
    level: jax.Array

    def __call__(self, x):
        steps = jnp.tanh(jnp.exp(self.log_steepness) * (x - self.place))
        return self.level + (jnp.exp(self.log_height) * steps).mean()


# %%
# The prior is a normalising flow, since these weights need means and skew. Matching asks nothing of
# the belief but its functions.

key_flow, key_match, key_sample, key_draws = jax.random.split(jax.random.key(0), 4)
many = jnp.zeros(20)
prior = gp.FlowPrior(RisingSteps(many, many, many, jnp.zeros(1)), key=key_flow)
points = gp.Grid([-2], [2], per_input=40)
matched, history = gp.match(prior, NeverFalls(), points, key=key_match)
print(f"distance {history.before.energy_distance:.2f} -> {history.after.energy_distance:.3f}")

# %%
# Then the posterior, by any sampler.

rng = np.random.default_rng(8)
X = np.linspace(-1.8, 1.8, 12)[:, None]
y = 1.5 * np.tanh(2 * X[:, 0]) + rng.normal(0, 0.25, 12)
posterior = gp.sample_posterior(
    matched,
    gp.Gaussian(0.25**2),
    X,
    y,
    sampler=gp.MCLMC(thinning=40),
    chains=4,
    draws=25,
    key=key_sample,
)
print(gp.diagnose(posterior))

# %%
grid = jnp.linspace(-2, 2, 100)[:, None]
believed = np.asarray(NeverFalls().sample(key_draws, grid, 400))[..., 0]
ours = np.asarray(matched.functions(key_draws, grid, 400))[..., 0]
after = np.asarray(posterior.functions(grid))[..., 0]
print("falls anywhere:", bool((np.diff(after, axis=1) < -1e-5).any()))

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
plots.plot_functions(axes[0], grid[:, 0], believed, colour="black", n=6)
plots.plot_functions(axes[1], grid[:, 0], ours, colour="#009e73", n=6)
plots.plot_posterior(
    axes[2],
    grid[:, 0],
    after.mean(axis=0),
    np.quantile(after, [0.025, 0.975], axis=0),
    (X[:, 0], y),
    colour="#009e73",
)
for ax, title in zip(axes, ("belief: it never falls", "matched prior", "posterior"), strict=True):
    ax.set(title=title, xlabel="x", ylim=(-4, 5))
plt.show()
