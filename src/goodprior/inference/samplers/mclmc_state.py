"""The state of a chain of MCLMC, and how burn-in adapts its step size and scales."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from goodprior.inference.coordinates import Vector

SHARED = 0.7  # after so much of the adaptation all chains have the same step size
AVERAGED = 0.85  # over what follows the step size is averaged
TOO_LARGE = 4.0  # an energy error of so many times the asked one shortens the step of a chain
REGROWTH = 1.1  # by which it is longer again after a chunk with less error than was asked for


class State(NamedTuple):
    """Where a chain is and moves to, and what burn-in has found.

    `mean` and `square` are running averages over the gradient, `energy` is the sum of energy errors
    since the last adaptation or chunk, `log_steps` and `counted` are a sum of logarithms of the
    step size and of how many.
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


def adapted(
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
    if before <= 0:  # what an earlier run has found is not averaged
        log_steps, counted = 0 * log_steps, 0 * counted
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


def controlled(states: State, steps: int, asked: float) -> State:
    """The states after a chunk of so many steps of sampling, with a step for where each chain is.

    Burn-in has seen some of the posterior: where it is stiffer, a step of that length would be
    refused again and again. A step is never longer than burn-in has found it.
    """
    found = states.energy / steps
    longest = 0.95 * jnp.exp(states.log_steps / jnp.maximum(states.counted, 1.0))
    longest = jnp.where(states.counted > 0, longest, states.step_size)
    shorter = states.step_size * jnp.clip((asked / (found + 1e-12)) ** (1 / 6), 0.5, 1.0)
    again = jnp.minimum(states.step_size * REGROWTH, longest)
    step_size = jnp.where(found < asked, again, states.step_size)
    step_size = jnp.where(found > TOO_LARGE * asked, shorter, step_size)
    return states._replace(step_size=step_size, energy=0 * states.energy)
