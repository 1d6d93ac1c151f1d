"""Scale-adapted stochastic gradient Hamiltonian Monte Carlo (paper, appendix A.3).

    w <- w + v
    v <- v - eps^2 V^-1/2 grad U(w) - alpha v + N(0, 2 eps^2 alpha V^-1/2 - eps^4 B / V)

V, the second moment of the gradient, is estimated during burn-in (`adapt`) with a window tau that
adapts itself, and frozen afterwards (`step`). B is the variance of the minibatch gradient; the
paper takes B = V.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.fast_normal import fast_normal
from goodprior.inference.coordinates import Vector

Gradient = Callable[[Vector, object], Vector]


class State(NamedTuple):
    """Position and momentum, and the running estimates of the gradient's moments."""

    position: Vector
    momentum: Vector
    square: Vector  # V, the mean of the squared gradient
    mean: Vector  # g, the mean gradient
    window: Vector  # tau, the length of the running averages


class Constants(NamedTuple):
    """What a step needs of the estimates; constant after burn-in."""

    rate: Vector  # eps^2 V^-1/2
    friction: Vector | Float[Array, ""]
    noise: Vector  # standard deviation of the injected noise


class Info(NamedTuple):
    """What went wrong, per weight: is the noise clamped at zero, and how hot does it sample.

    The temperature is relative to the target's: 1 is right.
    """

    clamped: Float[Array, " dim"]
    temperature: Vector


class SGHMC(eqx.Module):
    """The sampler's settings; `gradient(position, batch)` of U is passed to each call.

    friction: `"constant"` is the paper's `alpha` for every weight; `"per-weight"` raises it to
    `max(alpha, eps^2 sqrt(V))`, which keeps the noise variance positive without a smaller step.
    gradient_noise: what is assumed of the minibatch noise B: `"paper"` (B = V), `"estimated"`
    (B = V - g^2) or `"none"` (full batch: the injected noise is exact).
    noise: `"fast"`, Gaussian for all a sampler can tell (`goodprior.fast_normal`), or `"gaussian"`,
    JAX's own, several times slower.

    >>> SGHMC(step_size=0.005).momentum_decay
    0.01
    """

    step_size: float = eqx.field(static=True, default=0.01)
    momentum_decay: float = eqx.field(static=True, default=0.01)
    friction: Literal["constant", "per-weight"] = eqx.field(static=True, default="constant")
    gradient_noise: Literal["paper", "estimated", "none"] = eqx.field(static=True, default="paper")
    noise: Literal["fast", "gaussian"] = eqx.field(static=True, default="fast")

    def __check_init__(self):
        checks.positive("step_size", self.step_size)
        if not 0 < self.momentum_decay < 1:
            raise ValueError(f"momentum_decay must lie between 0 and 1, got {self.momentum_decay}")
        checks.one_of("friction", self.friction, ("constant", "per-weight"))
        checks.one_of("gradient_noise", self.gradient_noise, ("paper", "estimated", "none"))
        checks.one_of("noise", self.noise, ("fast", "gaussian"))

    @classmethod
    def careful(cls) -> "SGHMC":
        """A short step for a second stage, where the paper's settings sample too cold or too hot.

        Run the default first to get there, then go on from it with these settings:
        `sample_posterior(..., start=first, sampler=SGHMC.careful())`. On boston, energy and naval
        this holds 90 % of the weights' temperatures within 5 % of the asked one.

        >>> SGHMC.careful().friction
        'per-weight'
        """
        return cls(step_size=7e-4, friction="per-weight", gradient_noise="estimated")

    def init(self, position: Vector) -> State:
        """A chain at rest, with nothing known about the gradient."""
        one = jnp.ones_like(position)
        return State(position, jnp.zeros_like(position), one, one, one)

    def adapt(
        self, key: PRNGKeyArray, state: State, batch: object, gradient: Gradient
    ) -> tuple[State, Info]:
        """One step of burn-in: update the estimates, then move with them."""
        grad = gradient(state.position, batch)
        window = state.window + 1 - state.window * state.mean**2 / state.square
        weight = 1 / (window + 1)
        state = state._replace(
            mean=state.mean + weight * (grad - state.mean),
            square=state.square + weight * (grad**2 - state.square),
            window=window,
        )
        return self._move(key, state, grad, self.constants(state)), self.info(state)

    def step(
        self,
        key: PRNGKeyArray,
        state: State,
        batch: object,
        gradient: Gradient,
        constants: Constants | None = None,
    ) -> tuple[State, Info]:
        """One step with frozen estimates; pass `constants(state)` to compute them only once."""
        grad = gradient(state.position, batch)
        constants = self.constants(state) if constants is None else constants
        return self._move(key, state, grad, constants), self.info(state)

    def _move(self, key: PRNGKeyArray, state: State, grad: Vector, c: Constants) -> State:
        normal = fast_normal if self.noise == "fast" else jax.random.normal
        noise = normal(key, grad.shape)
        momentum = (1 - c.friction) * state.momentum - c.rate * grad + c.noise * noise
        return state._replace(position=state.position + momentum, momentum=momentum)

    def constants(self, state: State) -> Constants:
        """Rate, friction and noise that the present estimates give."""
        rate, friction, wanted = self._rate_friction_variance(state)
        variance = wanted - self._assumed_gradient_variance(state)
        return Constants(rate, friction, jnp.sqrt(jnp.maximum(variance, 0)))

    def info(self, state: State, gradient_variance: Vector | None = None) -> Info:
        """Clamped noise and estimated temperature of each weight.

        `T = (injected variance + eps^4 B / V) / (2 eps^2 alpha V^-1/2)`. B is the variance of the
        minibatch gradient where it has been measured, and V - g^2 otherwise.
        """
        if gradient_variance is None:
            gradient_variance = _gradient_variance(state)
        _, _, wanted = self._rate_friction_variance(state)
        injected = wanted - self._assumed_gradient_variance(state)
        actual = self.step_size**4 * gradient_variance / state.square
        temperature = (jnp.maximum(injected, 0) + actual) / wanted
        return Info((injected <= 0).astype(jnp.float32), temperature)

    def kinetic_temperature(self, state: State) -> Float[Array, ""]:
        """The mean of squared momenta, in units of the rate: 1 where the step is short enough.

        >>> sampler, key = SGHMC(), jax.random.key(0)
        >>> state = sampler.init(jnp.zeros(10_000))
        >>> kicks = jnp.sqrt(sampler.constants(state).rate) * jax.random.normal(key, (10_000,))
        >>> bool(abs(sampler.kinetic_temperature(state._replace(momentum=kicks)) - 1) < 0.05)
        True
        """
        rate, _, _ = self._rate_friction_variance(state)
        return jnp.mean(state.momentum**2 / rate)

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


def _gradient_variance(state: State) -> Vector:
    return jnp.maximum(state.square - state.mean**2, 0)
