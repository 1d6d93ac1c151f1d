"""Any belief that can be sampled, any network: three experts who are no Gaussian processes.

A belief needs one method, `sample(key, x, n)`, which gives n functions at the points x. It needs no
density and no gradient, and may use any library. A network is any Equinox module; its arrays are
the random weights. Here are

- a Student-t process: smooth, but now and then a draw is far larger than the others;
- "it goes up and down once in about two units, on top of some drift";
- "it never falls", with positive steps that NumPy draws and adds up.

Each is matched by the prior of a small network. The picture has draws of the belief, of the prior
before matching, and of the prior after it.

    python examples/any_belief.py [picture.png]
"""

import sys
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import goodprior as gp
from goodprior import plots


class StudentTProcess:
    """A Gaussian process, each draw of it stretched by a random amount."""

    def __init__(self, process: gp.GaussianProcess, degrees: float):
        self.process, self.degrees = process, degrees

    def sample(self, key, x, n):
        key_process, key_stretch = jax.random.split(key)
        chi_squared = 2 * jax.random.gamma(key_stretch, self.degrees / 2, (n, 1, 1))
        stretch = jnp.sqrt((self.degrees - 2) / chi_squared)  # so that the variance stays
        return stretch * self.process.sample(key_process, x, n)


class PeriodicWithDrift:
    """A wave of period 2 ± 0.1, of uncertain height and phase, on a line of uncertain slope."""

    def sample(self, key, x, n):
        height, period, phase, slope = jax.random.normal(key, (4, n, 1, 1))
        wave = jnp.sin(2 * jnp.pi * (x / (2 + 0.1 * period) + phase))
        return jnp.exp(0.3 * height) * wave + 0.5 * slope * x


class NeverFalls:
    """Positive steps on top of an uncertain start, joined by straight lines."""

    def sample(self, key, x, n):
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        knots = np.linspace(-3, 3, 13)
        steps = rng.gamma(shape=0.5, scale=0.5, size=(n, len(knots)))
        curves = rng.normal(-2, 0.5, size=(n, 1)) + steps.cumsum(axis=1)
        return np.stack([np.interp(np.asarray(x)[:, 0], knots, c) for c in curves])[..., None]


class Stretched(eqx.Module):
    """A network with one more weight: how far all of its outputs are stretched."""

    network: gp.MLP
    log_stretch: Array

    def __call__(self, x):
        return jnp.exp(self.log_stretch) * self.network(x)


class WaveAndLine(eqx.Module):
    """One wave with a period of about so much, and one line."""

    log_frequency: Array  # relative to the usual one
    phase: Array
    log_height: Array
    slope: Array
    period: float = eqx.field(static=True)  # not an array of floats, so it is known, not random

    def __call__(self, x):
        turns = x / self.period * jnp.exp(self.log_frequency)
        wave = jnp.exp(self.log_height) * jnp.sin(2 * jnp.pi * turns + self.phase)
        return wave + self.slope * x


class RisingSteps(eqx.Module):
    """Soft steps with positive weights: whatever its arrays are, this network cannot fall."""

    log_steepness: Array
    place: Array
    log_height: Array
    level: Array

    def __call__(self, x):
        steps = jnp.tanh(jnp.exp(self.log_steepness) * (x - self.place))
        return self.level + (jnp.exp(self.log_height) * steps).mean()


def main(path: Path) -> None:
    key_network, key_flow, key_match, key_draws = jax.random.split(jax.random.key(0), 4)
    one, many = jnp.zeros(1), jnp.zeros(20)
    smooth = gp.GaussianProcess(gp.rbf(lengthscale=1.0))
    waves = gp.MLP(1, (50,), 1, activation="sin", key=key_network)
    cases = {
        "Student-t process": (
            StudentTProcess(smooth, degrees=3),
            gp.GaussianPrior(Stretched(waves, jnp.zeros(()))),
        ),
        "periodic with drift": (
            PeriodicWithDrift(),
            gp.GaussianPrior(WaveAndLine(one, one, one, one, period=2.0)),
        ),
        "never falls": (  # here weights need means and skew, too: a normalizing flow has them
            NeverFalls(),
            gp.FlowPrior(RisingSteps(many, many, many, one), key=key_flow),
        ),
    }
    points = gp.Grid([-3], [3], per_input=40)
    x = jnp.linspace(-3, 3, 121)[:, None]
    draw = eqx.filter_jit(lambda prior: prior.functions(key_draws, x, 500))
    figure = plots.new_figure(3, len(cases), panel=(3.4, 2.2))
    axes = figure.subplots(3, len(cases), sharex=True, sharey="col")
    for column, (name, (belief, prior)) in zip(axes.T, cases.items(), strict=True):
        matched, history = gp.match(prior, belief, points, key=key_match)
        before, after = history.before.energy_distance, history.after.energy_distance
        print(f"{name}: distance {before:.3f} -> {after:.3f} in {history.seconds:.0f} s")
        if isinstance(matched, gp.GaussianPrior):
            print("  scales", {k: round(v, 2) for k, v in matched.scales.items()})

        rows = (
            (f"belief: {name}", belief.sample(key_draws, x, 500), "GP"),
            (f"distance {before:.2f}", draw(prior), "FG"),
            (f"distance {max(after, 0):.2f}", draw(matched), "GPi-G"),
        )
        for ax, (title, functions, colour) in zip(column, rows, strict=True):
            functions = np.asarray(functions)[..., 0]
            plots.plot_functions(ax, x[:, 0], functions, colour=plots.COLOURS[colour])
            ax.set_title(title, fontsize="medium")
        low, high = np.quantile(rows[0][1], [0.005, 0.995])
        column[0].set(xlim=(-3, 3), ylim=(1.3 * low, 1.3 * high))
        column[-1].set_xlabel("x")
    for ax, label in zip(axes[:, 0], ("belief", "prior before", "prior matched"), strict=True):
        ax.set_ylabel(label)
    figure.savefig(path)
    print(f"picture: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "any-belief.png"))
