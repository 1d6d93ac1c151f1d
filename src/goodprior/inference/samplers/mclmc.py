"""Microcanonical Langevin Monte Carlo by BlackJAX: one gradient of all rows in each step."""

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from goodprior import checks
from goodprior.inference.coordinates import Vector
from goodprior.inference.samplers.base import (
    Batch,
    Info,
    LogDensity,
    Sampler,
    SamplerReport,
    Totals,
    per_step,
    total,
)
from goodprior.priors import Prior

DESCENT = 10  # one step in so many of burn-in is one of descent
LEARNING_RATE = 0.03  # of the descent, in units of the prior's scales
SHARED = 0.7  # after so much of the adaptation all chains have the same step size
AVERAGED = 0.85  # over what follows the step size is averaged
FIRST_STEP = 3e-3  # in units of the square root of the dimension
CHUNK = 20  # steps, at most
RESETTLING = 400  # steps of burn-in, where chains go on from an earlier run
REFUSED = 1000.0  # a step with an energy error of so many times the asked one is not made
LONGEST = 50.0  # a step counts for at most so many times the asked energy error


class State(NamedTuple):
    """Where a chain is and moves to, and what burn-in has found.

    `mean` and `square` are running averages over the gradient, `energy` is the sum of energy errors
    since the last adaptation, `log_steps` and `counted` are a sum of logarithms of the step size
    and of how many.
    """

    position: Vector
    momentum: Vector
    log_density: Float[Array, ""]
    gradient: Vector
    step_size: Float[Array, ""]
    inverse_mass: Vector
    mean: Vector
    square: Vector
    energy: Float[Array, ""]
    log_steps: Float[Array, ""]
    counted: Float[Array, ""]


class MCLMC(Sampler):
    """Microcanonical Langevin Monte Carlo, without an acceptance step (Robnik et al. 2023).

    A tenth of burn-in is a descent, so that chains can start at draws of the prior. The rest adapts
    the step size, at last one for all chains, so that the energy changes by `energy_error` in a
    step (mean square, per dimension), and the scales of the coordinates, by the gradient's size.

    Steps are not corrected, so draws have a bias that grows with `energy_error`; the report says
    which error was met.

    Parameters
    ----------
    energy_error
        What the step size is adapted to: smaller is slower and more exact.
    burn_in, thinning
        Steps before the first draw, and between two draws.
    window
        Steps of burn-in between two adaptations.
    settled
        Whether chains go on from an earlier run: there is no descent then, and burn-in adapts the
        step size alone.

    Examples
    --------
    >>> MCLMC(energy_error=1e-4).thinning
    10
    """

    energy_error: float = eqx.field(static=True, default=5e-4)
    burn_in: int = eqx.field(static=True, default=1000)
    thinning: int = eqx.field(static=True, default=10)
    window: int = eqx.field(static=True, default=20)
    settled: bool = eqx.field(static=True, default=False)  # type: ignore[override]
    batch_size: int | None = eqx.field(static=True, default=None, init=False)
    name: ClassVar[str] = "mclmc"
    probe_every: ClassVar[int] = 5
    standardised: ClassVar[bool] = True
    double: ClassVar[bool] = True
    vectorised: ClassVar[bool] = False  # one after another, chains stay in the cache

    def __check_init__(self):
        checks.positive("energy_error", self.energy_error)
        checks.whole("burn_in", self.burn_in, least=2)
        checks.whole("window", self.window)

    @property
    def chunk(self) -> int:
        return min(self.thinning, CHUNK)

    @property
    def compiled(self) -> "MCLMC":
        return replace(self, thinning=1)

    @property
    def pool_every(self) -> int:
        return self.window

    def check(self, prior: Prior, rows: int) -> None:
        """Refuse a prior of which only a Gibbs step could move some parts."""
        if prior.refresh_every:
            raise ValueError(
                "MCLMC moves all of the latent, and this prior holds back what a Gibbs step "
                "resamples: use the noncentred form of it, prior.in_form('noncentred')"
            )

    def prolonged(self) -> "MCLMC":
        burn_in = min(self.burn_in, RESETTLING)
        return replace(self, thinning=2 * self.thinning, burn_in=burn_in, settled=True)

    @property
    def _descent(self) -> int:
        """Steps of it; the first one only finds the gradient."""
        return 0 if self.settled else max(1, self.burn_in // DESCENT)

    def init(self, key: PRNGKeyArray, position: Vector) -> State:
        """A chain before its burn-in; the momentum is drawn here, the gradient found there."""
        zero, zeros = jnp.zeros((), position.dtype), jnp.zeros_like(position)
        momentum = jax.random.normal(key, position.shape, position.dtype)
        return State(
            position,
            momentum / jnp.linalg.norm(momentum),
            zero,
            zeros,
            zero + FIRST_STEP * position.size**0.5,
            jnp.ones_like(position),
            *(zeros, zeros, zero, zero, zero),
        )

    def warm_up(
        self,
        key: PRNGKeyArray,
        state: State,
        batch: Batch,
        target: LogDensity,
        step: Int[Array, ""],
    ) -> tuple[State, Info]:
        """A step of descent, or one that is measured; adaptation is `pool`'s."""
        moved = jax.lax.cond(
            step < self._descent,
            lambda: self._descend(state, batch, target, step),
            lambda: self._measured(key, state, batch, target, step == self._descent),
        )
        return moved, Info()

    def _descend(self, state: State, batch: Batch, target: LogDensity, step: Array) -> State:
        """A step of Adam; where the density is not finite, a step toward the prior's centre."""
        rate = LEARNING_RATE * 0.5 * (1 + jnp.cos(jnp.pi * step / self._descent))
        finite = jnp.isfinite(state.log_density) & jnp.isfinite(state.gradient).all()
        gradient = jnp.where(finite, state.gradient, 0.0)
        mean = 0.9 * state.mean + 0.1 * gradient
        square = 0.999 * state.square + 0.001 * gradient**2
        count = step.astype(mean.dtype) + 1
        direction = mean / (1 - 0.9**count) / (jnp.sqrt(square / (1 - 0.999**count)) + 1e-8)
        position = jnp.where(finite, state.position + rate * direction, 0.7 * state.position)
        log_density, gradient = jax.value_and_grad(target)(position, batch)
        return state._replace(
            position=position, log_density=log_density, gradient=gradient, mean=mean, square=square
        )

    def _measured(
        self, key: PRNGKeyArray, state: State, batch: Batch, target: LogDensity, first: Array
    ) -> State:
        moved, error, _ = self._kernel(jnp.inf, key, state, batch, target)
        known = jnp.where(first, 0.0, moved.square)  # not the gradients of the descent
        return moved._replace(energy=moved.energy + error, square=known + moved.gradient**2)

    def step(
        self, key: PRNGKeyArray, state: State, batch: Batch, target: LogDensity
    ) -> tuple[State, Info]:
        """One step; one whose energy changes far too much is not made, and turns the chain."""
        moved, error, made = self._kernel(REFUSED, key, state, batch, target)
        return moved, Info(acceptance=made.astype(error.dtype), energy_error=error)

    def _kernel(
        self,
        refused: float,
        key: PRNGKeyArray,
        state: State,
        batch: Batch,
        target: LogDensity,
    ) -> tuple[State, Array, Array]:
        """The state after BlackJAX's kernel, the energy error and whether the step was made.

        One outlier counts for at most `LONGEST` times the asked error, a refused step for that.
        """
        from blackjax.mcmc import mclmc
        from blackjax.mcmc.integrators import IntegratorState, isokinetic_velocity_verlet

        kernel: Any = mclmc.build_kernel(isokinetic_velocity_verlet, refused, self.energy_error)
        before: Any = (state.position, state.momentum, state.log_density, state.gradient)
        moved, info = kernel(
            key,
            IntegratorState(*before),
            lambda position: target(position, batch),
            state.inverse_mass,
            jnp.sqrt(jnp.sum(1 / state.inverse_mass)),  # the size of the prior, as the metric sees
            state.step_size,
        )
        made = jnp.any(moved.position != state.position)
        most = LONGEST * self.energy_error
        error = jnp.minimum(info.energy_change**2 / state.position.size, most)
        state = state._replace(
            position=moved.position,
            momentum=moved.momentum,
            log_density=moved.logdensity,
            gradient=moved.logdensity_grad,
        )
        return state, jnp.where(made, error, most), made

    def recompute(self, state: State, batch: Batch, target: LogDensity) -> State:
        """The state with the density and its gradient where the chain stands."""
        log_density, gradient = jax.value_and_grad(target)(state.position, batch)
        return state._replace(log_density=log_density, gradient=gradient)

    def pool(self, states: State, groups: Int[Array, " dim"], step: int, since: int) -> State:
        """Step sizes from energy errors, at last one for all chains; scales, twice.

        The energy error grows with the sixth power of the step size.
        """
        if step <= self._descent:
            return states
        begin, length = max(step - since, self._descent), self.burn_in - self._descent
        before, now = (begin - self._descent) / length, (step - self._descent) / length
        scales = None if self.settled else groups
        return _adapted(states, scales, step - begin, self.energy_error, before, now)

    def summary(
        self,
        states: State,
        totals: Totals,
        *,
        steps: int,
        temperature: float,
        gradient_variance: Float[Array, "chains dim"] | None,
    ) -> SamplerReport:
        """The energy error, the share of steps that were made, and gradient evaluations."""
        return SamplerReport(
            self.name,
            steps,
            temperature,
            float(np.mean(states.step_size)),
            gradients=total(totals, "gradients"),
            acceptance=per_step(totals, "acceptance"),
            energy_error=per_step(totals, "energy_error"),
            energy_error_asked=self.energy_error,
        )


def _adapted(
    states: State, groups: Array | None, steps: int, asked: float, before: float, now: float
) -> State:
    """The states after a window of so many steps, from `before` to `now` of the adaptation.

    Scales are those of groups of coordinates (None: chains go on from an earlier run, scales stay,
    and all chains have one step size).
    """
    shared, averaged = (0.0, 0.5) if groups is None else (SHARED, AVERAGED)
    found = states.energy / steps
    found = found.mean() if before >= shared else found
    most = 1.5 if before < shared else 1.2
    step_size = states.step_size * jnp.clip((asked / (found + 1e-12)) ** (1 / 6), 0.3, most)
    if now > shared:
        step_size = jnp.full_like(step_size, jnp.exp(jnp.log(step_size).mean()))
    inverse_mass, square = states.inverse_mass, states.square
    if groups is not None and (before < 0.25 <= now or before < 0.5 <= now):
        sizes = jnp.bincount(groups)
        pooled = jnp.bincount(groups, square.mean(0)) / sizes
        new = 1 / jnp.sqrt(pooled + 1e-12 * pooled.mean())[groups]
        new = new / jnp.exp(jnp.mean(jnp.log(new)))  # the step size has the common factor
        inverse_mass = jnp.broadcast_to(new, square.shape)
    log_steps, counted = states.log_steps, states.counted
    if now > averaged:
        log_steps, counted = log_steps + jnp.log(step_size), counted + 1
    if now >= 1:
        step_size = 0.95 * jnp.exp(log_steps / counted)
    return states._replace(
        step_size=step_size,
        inverse_mass=inverse_mass,
        square=0.8 * square,
        energy=0 * states.energy,
        log_steps=log_steps,
        counted=counted,
    )
