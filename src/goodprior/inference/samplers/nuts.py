"""Full-batch NUTS through BlackJAX: the reference that SGHMC is compared with."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.inference.batches import InMemory, probe_rows
from goodprior.inference.coordinates import Vector, joiner, split
from goodprior.inference.density import Density
from goodprior.inference.samplers.sghmc_run import PROBE_POINTS
from goodprior.networks import outputs
from goodprior.priors import Prior
from goodprior.priors.base import Latent


class NUTS(eqx.Module):
    """The settings of NUTS. Burn-in adapts the step size and a diagonal mass matrix (windows).

    >>> NUTS(target_acceptance=0.9).max_doublings
    10
    """

    target_acceptance: float = eqx.field(static=True, default=0.8)
    max_doublings: int = eqx.field(static=True, default=10)

    def __check_init__(self):
        if not 0 < self.target_acceptance < 1:
            raise ValueError(
                f"target_acceptance must lie between 0 and 1, got {self.target_acceptance}"
            )
        checks.whole("max_doublings", self.max_doublings)

    def check(self, prior: Prior) -> None:
        """Refuse a prior of which only a Gibbs step could move some parts."""
        if prior.refresh_every:
            raise ValueError(
                "NUTS moves all of the latent, and this prior holds back what a Gibbs step "
                "resamples: use another form of it, prior.in_form('noncentred')"
            )


class Chain(NamedTuple):
    """One chain: where it is and what its warm-up found."""

    position: Vector
    step_size: Float[Array, ""]
    inverse_mass: Vector


class NUTSRun:
    """Chains in progress, one after another: a vmapped NUTS would wait for its longest tree."""

    def __init__(
        self,
        density: Density,
        sampler: NUTS,
        data: InMemory,
        latents: Latent,
        key: PRNGKeyArray,
    ):
        self.density, self.sampler, self.batch = density, sampler, data.batch
        self.key_warm_up, self.key = jax.random.split(key)
        count = len(jax.tree.leaves(latents)[0])
        self.chains = [
            self._start(jax.tree.map(lambda leaf, i=i: leaf[i], latents)) for i in range(count)
        ]
        self.steps = 0
        self.told = Told(0, 0, 0.0, 0)

    @property
    def ending(self) -> tuple[Chain, "Told"]:
        """All that is needed to go on from here, beside the number of steps."""
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *self.chains), self.told

    def go_on_from(self, ending: tuple[Chain, "Told"], steps: int) -> None:
        """Stand where another run of the same settings stood after so many steps."""
        stacked, self.told = ending
        count = len(self.chains)
        self.chains = [jax.tree.map(lambda leaf, i=i: leaf[i], stacked) for i in range(count)]
        self.steps = steps

    def _start(self, latent: Latent) -> Chain:
        position, _ = split(self.density.prior, latent)
        return Chain(position, jnp.asarray(0.1), jnp.ones_like(position))

    def burn_in(self, steps: int, chunk: int, look: Callable[[str], None]) -> None:
        """Warm up each chain by window adaptation; the look comes after the last of them."""
        if self.steps >= steps > 0:
            return
        if steps:
            for i, chain in enumerate(self.chains):
                key = jax.random.fold_in(self.key_warm_up, i)
                self.chains[i] = _warm_up(self.density, self.sampler, self.batch, chain, key, steps)
        self.steps = steps
        look("burn-in")

    def advance(self, steps: int) -> Float[np.ndarray, "chains times values"]:
        """Go on by so many transitions; returns the probe trace, an entry per transition."""
        probes = []
        for i, chain in enumerate(self.chains):
            key = jax.random.fold_in(jax.random.fold_in(self.key, i), self.steps)
            self.chains[i], info, probe = _advance(
                self.density, self.sampler, self.batch, chain, key, steps
            )
            self.told = self.told.add(info)
            probes.append(np.asarray(probe))
        self.steps += steps
        return np.stack(probes)

    @property
    def finite(self) -> bool:
        return all(bool(jnp.isfinite(c.position).all()) for c in self.chains)

    def latents(self) -> Latent:
        join = joiner(self.density.prior)
        each = [join(jnp.asarray(chain.position), None) for chain in self.chains]
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)

    def report(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "temperature": float(self.density.temperature),
            "divergences": int(self.told.divergences),
            "acceptance": float(self.told.acceptance) / max(int(self.told.transitions), 1),
            "leapfrogs": int(self.told.leapfrogs),
            "step_size": float(np.mean([c.step_size for c in self.chains])),
        }


class Told(NamedTuple):
    """What NUTS has told of all transitions so far; acceptance is a sum."""

    transitions: int
    divergences: int
    acceptance: float
    leapfrogs: int

    def add(self, info: "_Told") -> "Told":
        return Told(
            self.transitions + len(info.is_divergent),
            self.divergences + int(info.is_divergent.sum()),
            self.acceptance + float(info.acceptance_rate.sum()),
            self.leapfrogs + int(info.num_integration_steps.sum()),
        )


def _log_density(
    density: Density, batch: tuple[Array, ...]
) -> Callable[[Vector], Float[Array, ""]]:
    join = joiner(density.prior)
    return lambda position: density(join(position, None), *batch)


@eqx.filter_jit
def _warm_up(
    density: Density,
    sampler: NUTS,
    batch: tuple[Array, ...],
    chain: Chain,
    key: PRNGKeyArray,
    steps: int,
) -> Chain:
    import blackjax  # not above: importing it starts JAX, and then devices are counted

    adaptation = blackjax.window_adaptation(
        blackjax.nuts,
        _log_density(density, batch),
        target_acceptance_rate=sampler.target_acceptance,
        max_num_doublings=sampler.max_doublings,
    )
    run: Any = adaptation.run
    result, _ = run(key, chain.position, num_steps=steps)
    found: dict[str, Any] = result.parameters
    return Chain(result.state.position, found["step_size"], found["inverse_mass_matrix"])


@eqx.filter_jit
def _advance(
    density: Density,
    sampler: NUTS,
    batch: tuple[Array, ...],
    chain: Chain,
    key: PRNGKeyArray,
    steps: int,
) -> tuple[Chain, Any, Float[Array, "times values"]]:
    import blackjax

    log_density = _log_density(density, batch)
    join = joiner(density.prior)
    kernel: Any = blackjax.nuts(
        log_density,
        step_size=chain.step_size,
        inverse_mass_matrix=chain.inverse_mass,
        max_num_doublings=sampler.max_doublings,
    )
    probe_x = batch[0][probe_rows(len(batch[0]), PROBE_POINTS)]

    def step(state: PyTree, key: PRNGKeyArray) -> tuple[PyTree, Any]:
        state, info = kernel.step(key, state)
        network = density.prior.weights(join(state.position, None))
        told = (info.is_divergent, info.acceptance_rate, info.num_integration_steps)
        return state, (told, outputs(network, probe_x).ravel())

    state, (told, probe) = jax.lax.scan(
        step, kernel.init(chain.position), jax.random.split(key, steps)
    )
    return chain._replace(position=state.position), _Told(*told), probe


class _Told(NamedTuple):
    """What NUTS tells of each transition."""

    is_divergent: Array
    acceptance_rate: Array
    num_integration_steps: Array
