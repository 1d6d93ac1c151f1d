"""Chains of SGHMC: all of them one step after another in compiled chunks."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray, PyTree

from goodprior.inference.batches import Data, InMemory, OnDisk, probe_rows
from goodprior.inference.coordinates import Vector, joiner, split
from goodprior.inference.density import Density
from goodprior.inference.samplers import sghmc
from goodprior.inference.samplers.sghmc import SGHMC
from goodprior.networks import outputs, vectorize
from goodprior.priors import Prior
from goodprior.priors.base import Latent

PROBE_EVERY = 50  # steps between two entries of the probe trace
PROBE_POINTS = 50
NOISE_BATCHES = 32  # minibatches from which the gradient's variance is measured

CHAINS = PartitionSpec("chains")


class Chain(NamedTuple):
    """One chain: the sampler's state, what of the latent it does not move, and its highest kinetic
    temperature since burn-in."""

    sampler: sghmc.State
    held: PyTree
    hottest: Float[Array, ""]


class Stretch(NamedTuple):
    """The steps between two entries of the probe trace."""

    start: Int[Array, ""]
    length: Int[Array, ""]


class SGHMCRun:
    """Chains in progress: settings that stay, and a `state` that goes on from chunk to chunk.

    The chains are spread over the devices that JAX has (several CPU devices, or GPUs) as far as
    their number allows; the draws do not depend on it.
    """

    def __init__(
        self,
        density: Density,
        sampler: SGHMC,
        data: Data,
        batch_size: int | None,
        latents: Latent,
        key: PRNGKeyArray,
    ):
        self.density, self.sampler = density, sampler
        self.batch_size = None if batch_size == data.rows else batch_size
        chains = len(jax.tree.leaves(latents)[0])
        self.mesh = _mesh(chains)
        everywhere = NamedSharding(self.mesh, PartitionSpec())
        if isinstance(data, OnDisk) and self.batch_size is None:
            raise ValueError("rows on disk cannot all be used in every step: give a batch_size")
        self.data = jax.device_put(data, everywhere) if isinstance(data, InMemory) else data
        probe_x, *_ = data.gather(probe_rows(data.rows, PROBE_POINTS))  # type: ignore[arg-type]
        self.probe_x = jax.device_put(jnp.asarray(probe_x), everywhere)
        key_steps, self.key_report = jax.random.split(key)
        by_chain = NamedSharding(self.mesh, CHAINS)
        self.keys = jax.device_put(jax.random.split(key_steps, chains), by_chain)
        start = _start(density.prior, sampler, latents)
        self.state = jax.device_put(start, by_chain)
        self.steps = 0

    @property
    def ending(self) -> Chain:
        """All that is needed to go on from here, beside the number of steps."""
        return self.state

    def go_on_from(self, ending: Chain, steps: int) -> None:
        """Stand where another run of the same settings stood after so many steps."""
        self.state = jax.device_put(ending, NamedSharding(self.mesh, CHAINS))
        self.steps = steps

    def burn_in(self, steps: int, chunk: int, look: Callable[[str], None]) -> None:
        """Adapt the gradient's moments up to so many steps in all, a chunk at a time."""
        while self.steps < steps:
            self._advance(min(chunk, steps - self.steps), adapting=True)
            look("burn-in")

    def advance(self, steps: int) -> Float[np.ndarray, "chains times values"]:
        """Go on by so many steps; returns the probe trace of the stretch."""
        return self._advance(steps, adapting=False)

    def _advance(self, steps: int, *, adapting: bool) -> Float[np.ndarray, "chains times values"]:
        times = max(1, steps // PROBE_EVERY)
        ends = self.steps + np.linspace(0, steps, times + 1).round().astype(np.int32)
        stretches = Stretch(jnp.asarray(ends[:-1]), jnp.asarray(np.diff(ends)))
        longest = int(np.diff(ends).max())
        rows = None
        if self.batch_size is not None:
            rows = _rows(self.keys, stretches.start, longest, self.batch_size, self.data.rows)
        data, picked = self.data, rows
        if isinstance(data, OnDisk):
            data, picked = None, data.gather(np.asarray(rows))
        self.state, probe = _advance(
            self.density,
            self.sampler,
            self.mesh,
            data,
            picked,
            self.probe_x,
            self.state,
            self.keys,
            stretches,
            longest=longest,
            adapting=adapting,
        )
        self.steps += steps
        return np.asarray(probe)

    @property
    def finite(self) -> bool:
        """Whether all chains are where numbers are finite."""
        return bool(jnp.isfinite(self.state.sampler.position).all())

    def latents(self) -> Latent:
        """Where the chains stand; leaves have a leading axis over chains."""
        return _latents(self.density.prior, self.state)

    def report(self) -> dict[str, Any]:
        """What the sampler says of itself: temperature over weights, and clamped noise."""
        batches = None
        if self.batch_size is not None:
            shape = (NOISE_BATCHES, self.batch_size)
            rows = jax.random.randint(self.key_report, shape, 0, self.data.rows)
            batches = jax.tree.map(jnp.asarray, self.data.gather(np.asarray(rows)))
        info = _info(self.density, self.sampler, batches, self.state)
        asked = float(self.density.temperature)
        low, middle, high = asked * np.quantile(np.asarray(info.temperature), [0.05, 0.5, 0.95])
        return {
            "steps": self.steps,
            "step_size": float(self.sampler.step_size),
            "temperature": asked,
            "temperature_5": float(low),
            "temperature_50": float(middle),
            "temperature_95": float(high),
            "clamped": float(info.clamped.mean()),
            "kinetic_temperature": float(self.state.hottest.max()),
        }


def _mesh(chains: int) -> Mesh:
    """As many devices as divide the number of chains."""
    devices = jax.devices()
    count = max(n for n in range(1, len(devices) + 1) if chains % n == 0)
    return Mesh(np.array(devices[:count]), ("chains",))


@eqx.filter_jit
def _start(prior: Prior, sampler: SGHMC, latents: Latent) -> Chain:
    def one(latent: Latent) -> Chain:
        position, held = split(prior, latent)
        return Chain(sampler.init(position), held, jnp.zeros(()))

    return jax.vmap(one)(latents)


@eqx.filter_jit
def _latents(prior: Prior, state: Chain) -> Latent:
    return jax.vmap(joiner(prior))(state.sampler.position, state.held)


def _gradient(density: Density) -> Callable[[Vector, PyTree, Any], Vector]:
    """The gradient of U by the moving coordinates."""
    join = joiner(density.prior)
    return jax.grad(lambda position, held, batch: -density(join(position, held), *batch))


@eqx.filter_jit
def _rows(
    keys: Key[Array, " chains"],
    starts: Int[Array, " times"],
    steps: int,
    batch_size: int,
    rows: int,
) -> Int[Array, "chains times steps batch"]:
    """The rows of each minibatch, drawn with replacement, for each chain, stretch and step."""

    def one(key: PRNGKeyArray, start: Array) -> Array:
        _, key_rows = jax.random.split(jax.random.fold_in(key, start))
        return jax.random.randint(key_rows, (steps, batch_size), 0, rows)

    over_times = jax.vmap(one, in_axes=(None, 0))
    return jax.vmap(over_times, in_axes=(0, None))(keys, starts)


@eqx.filter_jit
def _advance(
    density: Density,
    sampler: SGHMC,
    mesh: Mesh,
    data: InMemory | None,
    picked: PyTree,
    probe_x: Array,
    state: Chain,
    keys: Key[Array, " chains"],
    stretches: Stretch,
    *,
    longest: int,
    adapting: bool,
) -> tuple[Chain, Float[Array, "chains times values"]]:
    """All chains through all stretches, with a probe of their functions after each.

    `picked` has the rows of every minibatch in `data`, or the minibatches themselves where the
    data are on disk, or nothing: then every step uses all the data.
    """
    prior, join = density.prior, joiner(density.prior)
    gradient = _gradient(density)
    everywhere = PartitionSpec()

    @partial(
        jax.shard_map,
        mesh=mesh,
        in_specs=(everywhere, CHAINS, everywhere, CHAINS, CHAINS, everywhere),
        out_specs=CHAINS,
        check_vma=False,
    )
    def on_each_device(
        data: InMemory | None,
        picked: PyTree,
        probe_x: Array,
        keys: Key[Array, " chains"],
        state: Chain,
        stretches: Stretch,
    ) -> tuple[Chain, Array]:
        def refresh(key: PRNGKeyArray, chain: Chain) -> Chain:
            latent = join(chain.sampler.position, chain.held)
            position, held = split(prior, prior.refresh(jax.random.fold_in(key, 1), latent))
            return chain._replace(sampler=chain.sampler._replace(position=position), held=held)

        def move(
            key: PRNGKeyArray, chain: Chain, picked: PyTree, constants: sghmc.Constants
        ) -> Chain:
            if data is None:
                batch = picked
            else:
                batch = data.batch if picked is None else data.gather(picked)
            grad = partial(_by_position, gradient, chain.held)
            if adapting:
                moved, _ = sampler.adapt(key, chain.sampler, batch, grad)
            else:
                moved, _ = sampler.step(key, chain.sampler, batch, grad, constants)
            return chain._replace(sampler=moved)

        def probe(chain: Chain) -> Array:
            network = prior.weights(join(chain.sampler.position, chain.held))
            return outputs(network, probe_x).ravel()

        def one_chain(chain: Chain, key: PRNGKeyArray, picked: PyTree) -> tuple[Chain, Array]:
            constants = sampler.constants(chain.sampler)

            def go(chain: Chain, stretch: tuple[Stretch, PyTree]) -> tuple[Chain, Array]:
                (start, length), picked = stretch
                key_steps, _ = jax.random.split(jax.random.fold_in(key, start))
                step_keys = jax.random.split(key_steps, longest)

                def step(i: Array, chain: Chain) -> Chain:
                    step_key, now = jax.tree.map(lambda a: a[i], (step_keys, picked))
                    if prior.refresh_every:
                        due = (start + i) % prior.refresh_every == 0
                        again = partial(refresh, step_key)
                        chain = jax.lax.cond(due, again, lambda chain: chain, chain)
                    return move(step_key, chain, now, constants)

                chain = jax.lax.fori_loop(0, length, step, chain)
                if not adapting:
                    now = sampler.kinetic_temperature(chain.sampler)
                    chain = chain._replace(hottest=jnp.maximum(chain.hottest, now))
                return chain, probe(chain)

            return jax.lax.scan(go, chain, (stretches, picked))

        return vectorize(prior)(one_chain)(state, keys, picked)

    return on_each_device(data, picked, probe_x, keys, state, stretches)


def _by_position(
    gradient: Callable[[Vector, PyTree, Any], Vector], held: PyTree, position: Vector, batch: Any
) -> Vector:
    return gradient(position, held, batch)


@eqx.filter_jit
def _info(
    density: Density, sampler: SGHMC, batches: tuple[Array, ...] | None, state: Chain
) -> sghmc.Info:
    """The sampler's report on every weight, with the minibatch noise measured in place."""
    gradient = _gradient(density)

    def one(chain: Chain) -> sghmc.Info:
        position = chain.sampler.position
        if batches is None:
            return sampler.info(chain.sampler, jnp.zeros_like(position))
        grads = jax.lax.map(lambda batch: gradient(position, chain.held, batch), batches)
        return sampler.info(chain.sampler, grads.var(axis=0, ddof=1))

    return jax.lax.map(one, state)
