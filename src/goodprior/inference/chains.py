"""Running chains: compiled chunks, driven from Python.

A chunk is the stretch between two kept draws. Progress, checkpoints and interruptions all live
between chunks; everything that a later chunk needs is in one pytree (`Run.state`), so a run can be
stopped and continued with the same result.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.data.scaling import Scaling
from goodprior.inference import sghmc
from goodprior.inference.density import Density
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.posterior import Posterior
from goodprior.inference.sghmc import SGHMC
from goodprior.priors import Prior
from goodprior.priors.base import Latent

PROBE_EVERY = 50  # steps between two entries of the probe trace
PROBE_POINTS = 50
NOISE_BATCHES = 32  # minibatches from which the gradient's variance is measured

Progress = Callable[[int, int, str], None]


class SamplingError(FloatingPointError):
    """Sampling met a value that is not finite; `posterior` has the draws kept before, if any."""

    def __init__(self, message: str, posterior: Posterior | None):
        super().__init__(message)
        self.posterior = posterior


def sample_posterior(
    prior: Prior,
    likelihood: Likelihood,
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    sampler: SGHMC | None = None,
    chains: int = 4,
    burn_in: int = 2000,
    draws: int = 30,
    thinning: int = 2000,
    batch_size: int | None = 32,
    temperature: float = 1.0,
    scaling: Scaling | None = None,
    on_progress: Progress | None = None,
) -> Posterior:
    """Sample the weights' posterior: `draws` per chain, `thinning` steps apart.

    `batch_size=None` uses all rows in every step. With a `scaling`, X and y are given on their
    original scale. `on_progress(steps done, steps in all, phase)` is called between chunks. The
    defaults are the paper's settings for small data sets.

    >>> import jax
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> posterior = sample_posterior(
    ...     GaussianPrior(MLP(1, (10,), 1, key=jax.random.key(0))), Gaussian(0.1), X, X**2,
    ...     chains=2, burn_in=100, draws=3, thinning=50, key=jax.random.key(1))
    >>> posterior.predict(X).mean.shape
    (40, 1)
    """
    X, y = _check_data(prior, likelihood, X, y, scaling)
    checks.whole("chains", chains)
    checks.whole("burn_in", burn_in, least=0)
    checks.whole("draws", draws)
    checks.whole("thinning", thinning)
    if batch_size is not None and checks.whole("batch_size", batch_size) > len(X):
        raise ValueError(
            f"batch_size is {batch_size}, but there are only {len(X)} rows; "
            "use a smaller one, or None for all rows"
        )
    density = Density(prior, likelihood, len(X), checks.positive("temperature", temperature))
    run = Run(density, sampler or SGHMC(), X, y, batch_size, chains, key)
    return run.sample(burn_in, draws, thinning, scaling, on_progress)


def _check_data(
    prior: Prior, likelihood: Likelihood, X: object, y: object, scaling: Scaling | None
) -> tuple[Array, Array]:
    if scaling is not None:
        X, y = scaling.inputs(X), scaling.targets(y)
    X, y = checks.matrix("X", X), likelihood.targets(y)
    if len(X) != len(y):
        raise ValueError(f"X and y must have as many rows: {len(X)} and {len(y)}")
    latent = jax.eval_shape(prior.sample, jax.random.key(0))
    try:
        output = jax.eval_shape(lambda latent: prior.weights(latent)(X[0]), latent)
    except TypeError as error:
        raise ValueError(
            f"the network does not take rows of X, which has {X.shape[1]} columns: {error}"
        ) from error
    needed = likelihood.outputs(1 if y.ndim == 1 else y.shape[1])
    if output.shape != (needed,):
        raise ValueError(
            f"{type(likelihood).__name__} needs a network with {needed} outputs for these "
            f"targets, but it returns {output.shape}"
        )
    return X, y


class Run:
    """Chains in progress: settings that stay, and a `state` that goes on from chunk to chunk."""

    def __init__(
        self,
        density: Density,
        sampler: SGHMC,
        X: Array,
        y: Array,
        batch_size: int | None,
        chains: int,
        key: PRNGKeyArray,
    ):
        self.density, self.sampler = density, sampler
        self.X, self.y = X, y
        self.batch_size = None if batch_size == len(X) else batch_size
        key_start, key_steps, self.key_report = jax.random.split(key, 3)
        self.keys = jax.random.split(key_steps, chains)
        self.state = _start(density.prior, sampler, jax.random.split(key_start, chains))
        self.steps = 0

    def advance(self, steps: int, *, adapting: bool) -> Float[np.ndarray, "chains times values"]:
        """Go on by so many steps; returns the probe trace of the stretch."""
        times = max(1, steps // PROBE_EVERY)
        ends = self.steps + np.linspace(0, steps, times + 1).round().astype(np.int32)
        self.state, probe = _advance(
            self.density,
            self.sampler,
            self.X,
            self.y,
            self.state,
            self.keys,
            jnp.asarray(ends),
            self.batch_size,
            adapting,
        )
        self.steps += steps
        return np.asarray(probe)

    def sample(
        self,
        burn_in: int,
        draws: int,
        thinning: int,
        scaling: Scaling | None = None,
        on_progress: Progress | None = None,
    ) -> Posterior:
        """Burn in, then keep a draw after every `thinning` steps."""
        total = burn_in + draws * thinning
        kept: list[np.ndarray] = []
        probes: list[np.ndarray] = []

        def posterior() -> Posterior:
            stacked = jnp.stack([jnp.asarray(draw) for draw in kept], axis=1)
            return Posterior(
                self.density.prior,
                self.density.likelihood,
                _unravel_all(self.density.prior, stacked),
                np.concatenate(probes, axis=1),
                self.report(),
                scaling,
            )

        def look(phase: str) -> None:
            if not np.isfinite(np.asarray(self.state.position)).all():
                raise SamplingError(
                    f"a chain left the finite numbers by step {self.steps} ({phase}). The step is "
                    f"probably too long for this posterior: try a smaller step_size than "
                    f"{self.sampler.step_size:g}, a longer burn_in or a larger batch_size",
                    posterior() if kept else None,
                )
            if on_progress is not None:
                on_progress(self.steps, total, phase)

        while self.steps < burn_in:
            self.advance(min(thinning, burn_in - self.steps), adapting=True)
            look("burn-in")
        for _ in range(draws):
            probes.append(self.advance(thinning, adapting=False))
            look("sampling")
            kept.append(np.asarray(self.state.position))
        return posterior()

    def report(self) -> dict[str, Any]:
        """What the sampler says of itself: temperature over weights, and clamped noise."""
        info = _info(
            self.density, self.sampler, self.X, self.y, self.state, self.key_report, self.batch_size
        )
        asked = float(self.density.temperature)
        low, middle, high = asked * np.quantile(np.asarray(info.temperature), [0.05, 0.5, 0.95])
        return {
            "steps": self.steps,
            "temperature": asked,
            "temperature_5": float(low),
            "temperature_50": float(middle),
            "temperature_95": float(high),
            "clamped": float(info.clamped.mean()),
        }


def _unravel(prior: Prior) -> Callable[[Float[Array, " dim"]], Latent]:
    shapes = jax.eval_shape(prior.sample, jax.random.key(0))
    return ravel_pytree(jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes))[1]


def _unravel_all(prior: Prior, flat: Float[Array, "chains draws dim"]) -> Latent:
    return jax.vmap(jax.vmap(_unravel(prior)))(flat)


@eqx.filter_jit
def _start(prior: Prior, sampler: SGHMC, keys: PRNGKeyArray) -> sghmc.State:
    return jax.vmap(lambda key: sampler.init(ravel_pytree(prior.sample(key))[0]))(keys)


def _batches(X: Array, y: Array, batch_size: int | None) -> Callable[[PRNGKeyArray], tuple]:
    """Minibatches of rows drawn with replacement; all rows, always the same, without a size."""
    if batch_size is None:
        return lambda key: (X, y)

    def draw(key: PRNGKeyArray) -> tuple[Array, Array]:
        rows = jax.random.randint(key, (batch_size,), 0, len(X))
        return X[rows], y[rows]

    return draw


def _gradient(density: Density) -> Callable[[Array, Any], Array]:
    unravel = _unravel(density.prior)
    return jax.grad(lambda position, batch: -density(unravel(position), *batch))


@eqx.filter_jit
def _advance(
    density: Density,
    sampler: SGHMC,
    X: Array,
    y: Array,
    state: sghmc.State,
    keys: PRNGKeyArray,
    ends: Array,
    batch_size: int | None,
    adapting: bool,
) -> tuple[sghmc.State, Float[Array, "chains times values"]]:
    """All chains from step `ends[0]` to `ends[-1]`, with a probe of the functions at each end."""
    prior, gradient, draw_batch = density.prior, _gradient(density), _batches(X, y, batch_size)
    unravel = _unravel(prior)
    probe_x = X[:: max(1, len(X) // PROBE_POINTS)][:PROBE_POINTS]
    constants = jax.vmap(sampler.constants)(state)

    def step_one(key: PRNGKeyArray, state: sghmc.State, constants: sghmc.Constants, i: Array):
        key_batch, key_noise = jax.random.split(jax.random.fold_in(key, i))
        batch = draw_batch(key_batch)
        if adapting:
            return sampler.adapt(key_noise, state, batch, gradient)[0]
        return sampler.step(key_noise, state, batch, gradient, constants)[0]

    def refresh_one(key: PRNGKeyArray, state: sghmc.State, i: Array) -> sghmc.State:
        key = jax.random.fold_in(jax.random.fold_in(key, i), 1)
        latent = prior.refresh(key, unravel(state.position))
        return state._replace(position=ravel_pytree(latent)[0])

    def step(i: Array, state: sghmc.State) -> sghmc.State:
        if prior.refresh_every:
            state = jax.lax.cond(
                i % prior.refresh_every == 0,
                lambda state: jax.vmap(refresh_one, in_axes=(0, 0, None))(keys, state, i),
                lambda state: state,
                state,
            )
        return jax.vmap(step_one, in_axes=(0, 0, 0, None))(keys, state, constants, i)

    def stretch(state: sghmc.State, bounds: tuple[Array, Array]) -> tuple[sghmc.State, Array]:
        state = jax.lax.fori_loop(bounds[0], bounds[1], step, state)
        values = jax.vmap(lambda p: jax.vmap(prior.weights(unravel(p)))(probe_x).ravel())(
            state.position
        )
        return state, values

    state, probe = jax.lax.scan(stretch, state, (ends[:-1], ends[1:]))
    return state, jnp.swapaxes(probe, 0, 1)


@eqx.filter_jit
def _info(
    density: Density,
    sampler: SGHMC,
    X: Array,
    y: Array,
    state: sghmc.State,
    key: PRNGKeyArray,
    batch_size: int | None,
) -> sghmc.Info:
    """The sampler's report on every weight, with the minibatch noise measured where chains stand."""
    gradient, draw_batch = _gradient(density), _batches(X, y, batch_size)

    def one(state: sghmc.State) -> sghmc.Info:
        keys = jax.random.split(key, NOISE_BATCHES)
        slopes = jax.lax.map(lambda k: gradient(state.position, draw_batch(k)), keys)
        return sampler.info(state, slopes.var(axis=0, ddof=1))

    return jax.lax.map(one, state)
