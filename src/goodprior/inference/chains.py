"""The driver of chains: compiled chunks of any sampler's steps, run one after another from Python.

A chunk is the stretch between two kept draws. Progress, checkpoints and interruptions live between
chunks; all that a later chunk needs is in `RunState`, so that a run can go on at any time.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray, PyTree

from goodprior.inference.batches import Data, InMemory, OnDisk, probe_rows
from goodprior.inference.coordinates import Coordinates
from goodprior.inference.density import Density
from goodprior.inference.samplers.base import LogDensity, Sampler, SamplerReport, Totals
from goodprior.networks import outputs, vectorize
from goodprior.networks.vectorize import one_by_one
from goodprior.priors.base import Latent

PROBE_POINTS = 50
NOISE_BATCHES = 32  # minibatches from which the gradient's variance is measured
CHAINS = PartitionSpec("chains")


class Chain(NamedTuple):
    """One chain: the sampler's state, the part of the latent that it does not move, totals."""

    sampler: Any
    held: PyTree
    totals: Totals


class RunState(NamedTuple):
    """All that is needed to go on: the chains (leaves with a leading axis), and the step count."""

    chains: Chain
    steps: Int[Array, ""]


class Chains:
    """Chains in progress: a sampler, a density and rows that stay, and a `state` that goes on.

    The chains are spread over the devices that JAX has (several CPU devices, or GPUs) as far as
    their number allows; the draws do not depend on it.
    """

    def __init__(
        self, density: Density, sampler: Sampler, data: Data, latents: Latent, key: PRNGKeyArray
    ):
        self.density, self.sampler = density, sampler
        self.coordinates = _coordinates(density, sampler)
        self.batch_size = None if sampler.batch_size == data.rows else sampler.batch_size
        if isinstance(data, OnDisk) and self.batch_size is None:
            raise ValueError(
                "rows on disk cannot all be used in every step: use a sampler with a batch_size"
            )
        count = len(jax.tree.leaves(latents)[0])
        self.mesh = _mesh(count)
        everywhere = NamedSharding(self.mesh, PartitionSpec())
        by_chain = NamedSharding(self.mesh, CHAINS)
        probe_x, *_ = data.gather(probe_rows(data.rows, PROBE_POINTS))  # type: ignore[arg-type]
        key_steps, self.key_report = jax.random.split(key)
        self.keys = jax.device_put(jax.random.split(key_steps, count), by_chain)
        with self._precision():
            in_memory = isinstance(data, InMemory)
            self.data = jax.device_put(self._wide(data), everywhere) if in_memory else data
            self.probe_x = jax.device_put(self._wide(jnp.asarray(probe_x)), everywhere)
            chains = _start(density, sampler, self._wide(latents), self.keys)
            self.chains = jax.device_put(chains, by_chain)
        self.steps = 0

    def _precision(self) -> AbstractContextManager[Any]:
        """JAX's double precision, where the sampler asks for it."""
        return jax.enable_x64(True) if self.sampler.double else nullcontext()

    def _wide(self, tree: PyTree) -> PyTree:
        """Floating-point arrays in the sampler's precision."""
        if not self.sampler.double:
            return tree
        return jax.tree.map(
            lambda leaf: leaf.astype(jnp.float64) if eqx.is_inexact_array(leaf) else leaf, tree
        )

    @property
    def state(self) -> RunState:
        """All that is needed to go on from here."""
        return RunState(self.chains, jnp.asarray(self.steps))

    def resume(self, state: RunState) -> None:
        """Take up another run of the same settings where it was left."""
        found, needed = jax.eval_shape(lambda: (state, self.state))
        if jax.tree.structure(found) != jax.tree.structure(needed) or any(
            jnp.shape(a) != jnp.shape(b)
            for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(needed), strict=True)
        ):
            raise ValueError(
                "resume must be a posterior of the same prior, likelihood, sampler and chains, as "
                "`sample_posterior` returned it or gave to `on_chunk`"
            )
        with self._precision():
            self.chains = jax.device_put(state.chains, NamedSharding(self.mesh, CHAINS))
        self.steps = int(state.steps)

    def advance(self, steps: int, *, warming_up: bool) -> Float[np.ndarray, "chains times values"]:
        """Go on by so many steps; returns the probe trace of the chunk."""
        times = max(1, steps // self.sampler.probe_every)
        ends = self.steps + np.linspace(0, steps, times + 1).round().astype(np.int32)
        stretches = Stretch(jnp.asarray(ends[:-1]), jnp.asarray(np.diff(ends)))
        longest = int(np.diff(ends).max())
        rows = None
        if self.batch_size is not None:
            rows = _rows(self.keys, stretches.start, longest, self.batch_size, self.data.rows)
        data, picked = self.data, rows
        if isinstance(data, OnDisk):
            data, picked = None, data.gather(np.asarray(rows))
        program = _Program(self.density, self.sampler, self.mesh, longest, warming_up)
        with self._precision():
            self.chains, probe = _advance(
                program, data, picked, self.probe_x, self.chains, self.keys, stretches
            )
            self.steps += steps
            if warming_up and self.sampler.pool_every:
                groups = jnp.asarray(self.coordinates.groups)
                states = self.sampler.pool(self.chains.sampler, groups, self.steps, steps)
                self.chains = jax.device_put(
                    self.chains._replace(sampler=states), NamedSharding(self.mesh, CHAINS)
                )
        return np.asarray(probe, np.float32)

    @property
    def finite(self) -> bool:
        """Whether all chains are where numbers are finite."""
        return bool(jnp.isfinite(self.chains.sampler.position).all())

    def latents(self) -> Latent:
        """Where the chains stand; leaves have a leading axis over chains."""
        with self._precision():
            found = _latents(self.density, self.sampler, self.chains)
        return jax.tree.map(lambda leaf: np.asarray(leaf, np.float32), found)

    def report(self) -> SamplerReport:
        """What the sampler says of the run so far."""
        variance = None
        if self.batch_size is not None:
            shape = (NOISE_BATCHES, self.batch_size)
            rows = jax.random.randint(self.key_report, shape, 0, self.data.rows)
            batches = jax.tree.map(jnp.asarray, self.data.gather(np.asarray(rows)))
            variance = _gradient_variance(self.density, self.sampler, batches, self.chains)
        with self._precision():
            report = self.sampler.summary(
                self.chains.sampler,
                self.chains.totals,
                steps=self.steps,
                temperature=float(self.density.temperature),
                gradient_variance=variance,
            )
        return report._replace(density=self.density.name)


class Stretch(NamedTuple):
    """The steps between two entries of the probe trace."""

    start: Int[Array, ""]
    length: Int[Array, ""]


class _Program(eqx.Module):
    """What a compiled chunk is made for."""

    density: Density
    sampler: Sampler
    mesh: Mesh = eqx.field(static=True)
    longest: int = eqx.field(static=True)  # of its stretches
    warming_up: bool = eqx.field(static=True)


def _mesh(chains: int) -> Mesh:
    """As many devices as divide the number of chains."""
    devices = jax.devices()
    count = max(n for n in range(1, len(devices) + 1) if chains % n == 0)
    return Mesh(np.array(devices[:count]), ("chains",))


def _coordinates(density: Density, sampler: Sampler) -> Coordinates:
    return Coordinates(density.prior, density.moving, sampler.standardised)


@eqx.filter_jit
def _start(
    density: Density, sampler: Sampler, latents: Latent, keys: Key[Array, " chains"]
) -> Chain:
    coordinates = _coordinates(density, sampler)

    def one(latent: Latent, key: PRNGKeyArray) -> Chain:
        position, held = coordinates.split(latent)
        return Chain(sampler.init(key, position), held, Totals.zero())

    return jax.vmap(one)(latents, keys)


@eqx.filter_jit
def _latents(density: Density, sampler: Sampler, chains: Chain) -> Latent:
    join = _coordinates(density, sampler).join
    return jax.vmap(join)(chains.sampler.position, chains.held)


def _target(density: Density, sampler: Sampler, held: PyTree) -> LogDensity:
    """The log density by the coordinates that samplers move."""
    join = _coordinates(density, sampler).join
    return lambda position, batch: density(join(position, held), *batch)


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
    program: _Program,
    data: InMemory | None,
    picked: PyTree,
    probe_x: Array,
    chains: Chain,
    keys: Key[Array, " chains"],
    stretches: Stretch,
) -> tuple[Chain, Float[Array, "chains times values"]]:
    """All chains through all stretches, with a probe of their functions after each.

    `picked` has the rows of every minibatch in `data`, or the minibatches themselves where the
    data are on disk, or nothing: then every step uses all the data.
    """
    each = vectorize(program.density.prior) if program.sampler.vectorised else one_by_one
    everywhere = PartitionSpec()

    @partial(
        jax.shard_map,
        mesh=program.mesh,
        in_specs=(everywhere, CHAINS, everywhere, CHAINS, CHAINS, everywhere),
        out_specs=CHAINS,
        check_vma=False,
    )
    def on_each_device(data, picked, probe_x, chains, keys, stretches):
        go = partial(_one_chain, program, data, probe_x, stretches)
        return each(go)(chains, keys, picked)

    return on_each_device(data, picked, probe_x, chains, keys, stretches)


def _one_chain(
    program: _Program,
    data: InMemory | None,
    probe_x: Array,
    stretches: Stretch,
    chain: Chain,
    key: PRNGKeyArray,
    picked: PyTree,
) -> tuple[Chain, Float[Array, "times values"]]:
    """One chain through all stretches."""
    prior = program.density.prior
    coordinates = _coordinates(program.density, program.sampler)

    def go(chain: Chain, stretch: tuple[Stretch, PyTree]) -> tuple[Chain, Array]:
        (start, length), picked = stretch
        key_steps, key_complete = jax.random.split(jax.random.fold_in(key, start))
        step_keys = jax.random.split(key_steps, program.longest)

        def step(i: Array, chain: Chain) -> Chain:
            step_key, now = jax.tree.map(lambda a: a[i], (step_keys, picked))
            if prior.refresh_every:
                due = (start + i) % prior.refresh_every == 0
                refresh = partial(_refresh, program, step_key)
                chain = jax.lax.cond(due, refresh, lambda chain: chain, chain)
            batch = now if data is None else data.batch if now is None else data.gather(now)
            return _step(program, step_key, chain, batch, start + i)

        chain = jax.lax.fori_loop(0, length, step, chain)
        latent = coordinates.join(chain.sampler.position, chain.held)
        if data is not None and picked is None:  # else a key that minibatches have used is free
            latent = program.density.complete(key_complete, latent, *data.batch)
            chain = chain._replace(held=coordinates.split(latent)[1])
        return chain, outputs(prior.weights(latent), probe_x).ravel()

    return jax.lax.scan(go, chain, (stretches, picked))


def _step(
    program: _Program, key: PRNGKeyArray, chain: Chain, batch: PyTree, number: Int[Array, ""]
) -> Chain:
    sampler = program.sampler
    target = _target(program.density, sampler, chain.held)
    if program.warming_up:
        state, _ = sampler.warm_up(key, chain.sampler, batch, target, number)
        return chain._replace(sampler=state)
    state, info = sampler.step(key, chain.sampler, batch, target)
    return chain._replace(sampler=state, totals=chain.totals.add(info))


def _refresh(program: _Program, key: PRNGKeyArray, chain: Chain) -> Chain:
    """The exact draw of what the sampler does not move (a Gibbs step)."""
    prior, coordinates = program.density.prior, _coordinates(program.density, program.sampler)
    latent = coordinates.join(chain.sampler.position, chain.held)
    position, held = coordinates.split(prior.refresh(jax.random.fold_in(key, 1), latent))
    return chain._replace(sampler=program.sampler.relocate(chain.sampler, position), held=held)


@eqx.filter_jit
def _gradient_variance(
    density: Density, sampler: Sampler, batches: tuple[Array, ...], chains: Chain
) -> Float[Array, "chains dim"]:
    """The variance of the minibatch gradient where each chain stands."""

    def one(chain: Chain) -> Array:
        gradient = jax.grad(_target(density, sampler, chain.held))
        each = jax.lax.map(lambda batch: gradient(chain.sampler.position, batch), batches)
        return each.var(axis=0, ddof=1)

    return jax.lax.map(one, chains)
