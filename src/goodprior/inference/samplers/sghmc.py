"""Scale-adapted stochastic gradient Hamiltonian Monte Carlo (paper, appendix A.3).

    w <- w + v
    v <- v - eps^2 V^-1/2 grad U(w) - alpha v + N(0, 2 eps^2 alpha V^-1/2 - eps^4 B / V)

U is minus the log density. V, the second moment of its gradient, is estimated during burn-in
(`warm_up`) with a window tau that adapts itself, and frozen afterwards (`step`). B is the variance
of the minibatch gradient; the paper takes B = V.
"""

from typing import ClassVar, Literal, NamedTuple

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
    total,
)


class State(NamedTuple):
    """Position and momentum, and the running estimates of the gradient's moments."""

    position: Vector
    momentum: Vector
    square: Vector  # V, the mean of the squared gradient
    mean: Vector  # g, the mean gradient
    window: Vector  # tau, the length of the running averages


class Temperature(NamedTuple):
    """Per weight: is the injected noise clamped at zero, and at which temperature does it sample.

    The temperature is relative to the target's: 1 is right.
    """

    clamped: Float[Array, "*chains dim"]
    temperature: Float[Array, "*chains dim"]


class SGHMC(Sampler):
    """Stochastic gradient Hamiltonian Monte Carlo; the defaults are the paper's for small tables.

    Parameters
    ----------
    step_size
        The step eps, in units of the gradient's scale.
    momentum_decay
        The friction alpha, between 0 and 1.
    friction
        `"constant"` is the paper's `alpha` for every weight; `"per-weight"` raises it to
        `max(alpha, eps^2 sqrt(V))`, which keeps the noise variance positive without a smaller step.
    gradient_noise
        What is assumed of the minibatch noise B: `"paper"` (B = V), `"estimated"` (B = V - g^2) or
        `"none"` (full batch: the injected noise is exact).
    noise
        `"fast"`, Gaussian for all a sampler can tell (`goodprior.fast_normal`), or `"gaussian"`,
        JAX's own, several times slower.
    burn_in, thinning
        Steps before the first draw, and between two draws.
    batch_size
        Rows of a minibatch; None uses all rows in each step.

    Examples
    --------
    >>> SGHMC(step_size=0.005).momentum_decay
    0.01
    """

    step_size: float = eqx.field(static=True, default=0.01)
    momentum_decay: float = eqx.field(static=True, default=0.01)
    friction: Literal["constant", "per-weight"] = eqx.field(static=True, default="constant")
    gradient_noise: Literal["paper", "estimated", "none"] = eqx.field(static=True, default="paper")
    noise: Literal["fast", "gaussian"] = eqx.field(static=True, default="fast")
    burn_in: int = eqx.field(static=True, default=2000)
    thinning: int = eqx.field(static=True, default=2000)
    batch_size: int | None = eqx.field(static=True, default=32)
    name: ClassVar[str] = "sghmc"
    probe_every: ClassVar[int] = 50

    def __check_init__(self):
        checks.positive("step_size", self.step_size)
        if not 0 < self.momentum_decay < 1:
            raise ValueError(f"momentum_decay must lie between 0 and 1, got {self.momentum_decay}")
        checks.one_of("friction", self.friction, ("constant", "per-weight"))
        checks.one_of("gradient_noise", self.gradient_noise, ("paper", "estimated", "none"))
        checks.one_of("noise", self.noise, ("fast", "gaussian"))

    @property
    def settling(self) -> int:
        """Ten times the momentum's memory.

        While V follows the current gradient, weights spread too far: to five times their variance
        where the data say nothing. A frozen V lets that fade with twice the momentum's memory.
        """
        return round(10 / self.momentum_decay)

    def with_short_step(self) -> "SGHMC":
        """Settings for a second stage, where the paper's sample too cold or too hot.

        Run the default first to reach the posterior, then start from it:
        `sample_posterior(..., start=first, sampler=SGHMC().with_short_step())`. On boston, energy
        and naval this holds 90 % of the weights' temperatures within 5 % of the asked one.

        Examples
        --------
        >>> SGHMC(thinning=100).with_short_step().friction
        'per-weight'
        """
        return SGHMC(
            step_size=7e-4,
            friction="per-weight",
            gradient_noise="estimated",
            burn_in=self.burn_in,
            thinning=self.thinning,
            batch_size=self.batch_size,
        )

    def init(self, key: PRNGKeyArray, position: Vector) -> State:
        """A chain at rest, with nothing known about the gradient."""
        one = jnp.ones_like(position)
        return State(position, jnp.zeros_like(position), one, one, one)

    def warm_up(
        self,
        key: PRNGKeyArray,
        state: State,
        batch: Batch,
        target: LogDensity,
        step: Int[Array, ""],
    ) -> tuple[State, Info]:
        """Update the estimates of the gradient's moments, then move with them."""
        grad = jax.grad(lambda position: -target(position, batch))(state.position)
        window = state.window + 1 - state.window * state.mean**2 / state.square
        weight = 1 / (window + 1)
        state = state._replace(
            mean=state.mean + weight * (grad - state.mean),
            square=state.square + weight * (grad**2 - state.square),
            window=window,
        )
        return self._move(key, state, grad)

    def step(
        self, key: PRNGKeyArray, state: State, batch: Batch, target: LogDensity
    ) -> tuple[State, Info]:
        """Move with frozen estimates; XLA computes what depends on them alone only once."""
        grad = jax.grad(lambda position: -target(position, batch))(state.position)
        return self._move(key, state, grad)

    def _move(self, key: PRNGKeyArray, state: State, grad: Vector) -> tuple[State, Info]:
        rate, friction, wanted = self._rate_friction_variance(state)
        injected = jnp.sqrt(jnp.maximum(wanted - self._assumed_gradient_variance(state), 0))
        normal = fast_normal if self.noise == "fast" else jax.random.normal
        noise = normal(key, grad.shape)
        momentum = (1 - friction) * state.momentum - rate * grad + injected * noise
        state = state._replace(position=state.position + momentum, momentum=momentum)
        return state, Info(kinetic_temperature=jnp.mean(momentum**2 / rate))

    def temperature(
        self, state: State, gradient_variance: Float[Array, "*chains dim"] | None = None
    ) -> Temperature:
        """Clamped noise and estimated temperature of each weight, of one chain or of several.

        `T = (injected variance + eps^4 B / V) / (2 eps^2 alpha V^-1/2)`. B is the variance of the
        minibatch gradient where it has been measured, and V - g^2 otherwise.
        """
        if gradient_variance is None:
            gradient_variance = _gradient_variance(state)
        _, _, wanted = self._rate_friction_variance(state)
        injected = wanted - self._assumed_gradient_variance(state)
        actual = self.step_size**4 * gradient_variance / state.square
        temperature = (jnp.maximum(injected, 0) + actual) / wanted
        return Temperature((injected <= 0).astype(jnp.float32), temperature)

    def summary(
        self,
        states: State,
        totals: Totals,
        *,
        steps: int,
        temperature: float,
        gradient_variance: Float[Array, "chains dim"] | None,
    ) -> SamplerReport:
        """The temperature over weights, clamped noise, and the highest kinetic temperature."""
        if gradient_variance is None:
            gradient_variance = jnp.zeros_like(states.square)
        found = self.temperature(states, gradient_variance)
        low, middle, high = temperature * np.quantile(found.temperature, [0.05, 0.5, 0.95])
        return SamplerReport(
            self.name,
            steps,
            temperature,
            self.step_size,
            gradients=total(totals, "gradients"),
            kinetic_temperature=float(np.max(totals.kinetic_temperature)),
            temperature_5=float(low),
            temperature_50=float(middle),
            temperature_95=float(high),
            clamped=float(found.clamped.mean()),
        )

    def _rate_friction_variance(self, state: State) -> tuple[Array, Array, Array]:
        rate = self.step_size**2 / jnp.sqrt(state.square)
        friction = jnp.asarray(self.momentum_decay, rate.dtype)
        if self.friction == "per-weight":
            friction = jnp.clip(self.step_size**2 * jnp.sqrt(state.square), friction, 0.5)
        return rate, friction, 2 * friction * rate

    def _assumed_gradient_variance(self, state: State) -> Array:
        """`eps^4 B / V`: how much of the noise the minibatch is assumed to bring itself."""
        share = {
            "paper": lambda: jnp.ones_like(state.square),
            "estimated": lambda: _gradient_variance(state) / state.square,
            "none": lambda: jnp.zeros_like(state.square),
        }[self.gradient_noise]()
        return self.step_size**4 * share


def _gradient_variance(state: State) -> Array:
    return jnp.maximum(state.square - state.mean**2, 0)
