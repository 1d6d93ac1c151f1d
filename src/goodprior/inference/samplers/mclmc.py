"""Microcanonical Langevin Monte Carlo on BlackJAX's integrator: one gradient of all rows a step."""

import math
from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from goodprior import checks
from goodprior.fast_normal import fast_normal
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
from goodprior.inference.samplers.mclmc_state import State, adapted, controlled

DESCENT = 10  # one step in so many of burn-in is one of descent
LEARNING_RATE = 0.03  # of the descent, in units of the prior's scales
FIRST_STEP = 3e-3  # in units of the square root of the dimension
CHUNK = 20  # steps, at most
RESETTLING = 400  # steps of burn-in, where chains go on from an earlier run
REFUSED = 1000.0  # a step with an energy error of so many times the asked one is not made
LONGEST = 50.0  # a step counts for at most so many times the asked energy error


class MCLMC(Sampler):
    """Microcanonical Langevin Monte Carlo, without an acceptance step (Robnik et al. 2023).

    A tenth of burn-in is a descent, so that chains can start at draws of the prior. The rest adapts
    the step size, at last one for all chains, so that the energy changes by `energy_error` in a
    step (mean square, per dimension), and the scales of the coordinates, by the gradient's size.

    Where a chain meets a larger error later, its steps are shorter until it has left that place.
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
    20
    """

    energy_error: float = eqx.field(static=True, default=5e-4)
    burn_in: int = eqx.field(static=True, default=1000)
    thinning: int = eqx.field(static=True, default=20)
    window: int = eqx.field(static=True, default=20)
    settled: bool = eqx.field(static=True, default=False)  # type: ignore[override]
    descent: Int[Array, ""] | None = None  # of `compiled`: how many steps of it there are
    batch_size: int | None = eqx.field(static=True, default=None, init=False)
    name: ClassVar[str] = "mclmc"
    probe_every: ClassVar[int] = 5
    standardised: ClassVar[bool] = True
    double: ClassVar[bool] = True
    controlled: ClassVar[bool] = True
    refreshes: ClassVar[bool] = False
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
        return MCLMC(energy_error=self.energy_error, descent=jnp.asarray(self._descent))

    @property
    def pool_every(self) -> int:
        return self.window

    def prolonged(self, by: float) -> "MCLMC":
        whole = math.ceil(by * self.thinning / self.chunk)  # another chunk would be compiled anew
        burn_in = min(self.burn_in, RESETTLING)
        return replace(self, thinning=whole * self.chunk, burn_in=burn_in, settled=True)

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
        descent = self._descent if self.descent is None else self.descent
        moved = jax.lax.cond(
            step < descent,
            lambda: _descend(state, batch, target, step, descent),
            lambda: self._measured(key, state, batch, target, step == descent),
        )
        return moved, Info()

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
        moved = moved._replace(energy=moved.energy + error)
        return moved, Info(acceptance=made.astype(error.dtype), energy_error=error)

    def _kernel(
        self,
        refused: float,
        key: PRNGKeyArray,
        state: State,
        batch: Batch,
        target: LogDensity,
    ) -> tuple[State, Array, Array]:
        """The state after a step, the energy error and whether the step was made.

        BlackJAX's integrator between two refreshments of the direction. Its own kernel draws four
        vectors of noise in a step, which takes longer than the gradient of a small table.
        One outlier counts for at most `LONGEST` times the asked error, a refused step for that.
        """
        from blackjax.mcmc.integrators import IntegratorState, isokinetic_velocity_verlet

        key_before, key_after, key_refused = jax.random.split(key, 3)
        integrator: Any = isokinetic_velocity_verlet
        integrate = integrator(lambda position: target(position, batch), state.inverse_mass)
        size = jnp.sqrt(jnp.sum(1 / state.inverse_mass))  # of the prior, as the metric sees it
        turn = jnp.sqrt(jnp.expm1(state.step_size / size) / state.position.size)
        turned = _turned(key_before, state.momentum, turn)
        before: Any = (state.position, turned, state.log_density, state.gradient)
        moved, kinetic_change = integrate(IntegratorState(*before), state.step_size)
        change = kinetic_change - moved.logdensity + state.log_density
        most = LONGEST * self.energy_error
        error = change**2 / state.position.size
        finite = jnp.isfinite(moved.position).all() & jnp.isfinite(error)
        made = finite & (error <= refused * self.energy_error)
        position, log_density, gradient = jax.lax.cond(
            made,
            lambda: (moved.position, moved.logdensity, moved.logdensity_grad),
            lambda: (state.position, state.log_density, state.gradient),
        )
        momentum = jax.lax.cond(
            made,
            lambda: _turned(key_after, moved.momentum, turn),
            lambda: _turned(key_refused, jnp.zeros_like(state.momentum), 1.0),
        )
        state = state._replace(
            position=position, momentum=momentum, log_density=log_density, gradient=gradient
        )
        return state, jnp.where(made, jnp.minimum(error, most), most), made

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
        return adapted(states, scales, step - begin, self.energy_error, before, now)

    def control(self, states: State, steps: int) -> State:
        return controlled(states, steps, self.energy_error)

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


def _descend(
    state: State, batch: Batch, target: LogDensity, step: Array, steps: int | Array
) -> State:
    """A step of Adam; where the density is not finite, a step toward the prior's centre."""
    rate = LEARNING_RATE * 0.5 * (1 + jnp.cos(jnp.pi * step / steps))
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


def _turned(key: PRNGKeyArray, direction: Vector, by: float | Array) -> Vector:
    """A unit vector near this one: with noise of so much in each coordinate."""
    noise = fast_normal(key, direction.shape).astype(direction.dtype)
    turned = direction + by * noise
    return turned / jnp.linalg.norm(turned)
