"""One chunk of steps of all chains, compiled as a whole."""

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray, PyTree

from goodprior.inference.batches import InMemory
from goodprior.inference.coordinates import Coordinates
from goodprior.inference.density import Density
from goodprior.inference.samplers.base import LogDensity, Sampler, Totals
from goodprior.networks import outputs, vectorize
from goodprior.networks.vectorize import one_by_one
from goodprior.priors.base import Latent

CHAINS = PartitionSpec("chains")


class Chain(NamedTuple):
    """One chain: the sampler's state, the part of the latent that it does not move, totals.

    `auxiliary` has variables of the density that are not in the latent, if there are any.
    """

    sampler: Any
    held: PyTree
    totals: Totals
    auxiliary: PyTree = None


class Stretch(NamedTuple):
    """The steps between two entries of the probe trace."""

    start: Int[Array, ""]
    length: Int[Array, ""]


class Program(eqx.Module):
    """What a compiled chunk is made for."""

    density: Density
    sampler: Sampler
    mesh: Mesh = eqx.field(static=True)
    longest: int = eqx.field(static=True)  # of its stretches
    warming_up: bool = eqx.field(static=True)


def coordinates_of(density: Density, sampler: Sampler) -> Coordinates:
    return Coordinates(density.prior, density.moving, sampler.standardised)


@eqx.filter_jit
def start_chains(
    density: Density,
    sampler: Sampler,
    latents: Latent,
    keys: Key[Array, " chains"],
    auxiliary: PyTree = None,
) -> Chain:
    """Chains at these latents, each with the same auxiliary variables at first."""
    coordinates = coordinates_of(density, sampler)

    def one(latent: Latent, key: PRNGKeyArray) -> Chain:
        position, held = coordinates.split(latent)
        return Chain(sampler.init(key, position), held, Totals.zero(), auxiliary)

    return jax.vmap(one)(latents, keys)


@eqx.filter_jit
def latents_of(density: Density, sampler: Sampler, chains: Chain) -> Latent:
    join = coordinates_of(density, sampler).join
    return jax.vmap(join)(chains.sampler.position, chains.held)


def _target(density: Density, sampler: Sampler, chain: Chain) -> LogDensity:
    """The log density by the coordinates that samplers move."""
    join = coordinates_of(density, sampler).join
    return lambda position, batch: density(
        join(position, chain.held), *batch, auxiliary=chain.auxiliary
    )


@eqx.filter_jit
def minibatch_rows(
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
def advance_chunk(
    program: Program,
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
    program: Program,
    data: InMemory | None,
    probe_x: Array,
    stretches: Stretch,
    chain: Chain,
    key: PRNGKeyArray,
    picked: PyTree,
) -> tuple[Chain, Float[Array, "times values"]]:
    """One chain through all stretches."""
    prior = program.density.prior
    coordinates = coordinates_of(program.density, program.sampler)

    def go(chain: Chain, stretch: tuple[Stretch, PyTree]) -> tuple[Chain, Array]:
        (start, length), picked = stretch
        key_steps, key_complete = jax.random.split(jax.random.fold_in(key, start))
        step_keys = jax.random.split(key_steps, program.longest)

        def step(i: Array, chain: Chain) -> Chain:
            step_key, now = jax.tree.map(lambda a: a[i], (step_keys, picked))
            # While SGHMC adapts, weights spread too far: Gibbs steps would have variances follow.
            if prior.refresh_every and not program.warming_up:
                settled = start + i >= program.sampler.burn_in + program.sampler.settling
                due = settled & ((start + i) % prior.refresh_every == 0)
                refresh = partial(_refresh, program, step_key)
                chain = jax.lax.cond(due, refresh, lambda chain: chain, chain)
            batch = now if data is None else data.batch if now is None else data.gather(now)
            return _step(program, step_key, chain, batch, start + i)

        chain = jax.lax.fori_loop(0, length, step, chain)
        if data is not None and picked is None:  # else a key that minibatches have used is free
            complete = partial(_complete, program, key_complete, data.batch)
            # A stretch of no steps is left out of the chunk: nothing may be drawn in it.
            chain = jax.lax.cond(length > 0, complete, lambda chain: chain, chain)
        latent = coordinates.join(chain.sampler.position, chain.held)
        return chain, outputs(prior.weights(latent), probe_x).T.ravel()  # output after output

    return jax.lax.scan(go, chain, (stretches, picked))


def _step(
    program: Program, key: PRNGKeyArray, chain: Chain, batch: PyTree, number: Int[Array, ""]
) -> Chain:
    sampler = program.sampler
    target = _target(program.density, sampler, chain)
    if program.warming_up:
        state, _ = sampler.warm_up(key, chain.sampler, batch, target, number)
        return chain._replace(sampler=state)
    state, info = sampler.step(key, chain.sampler, batch, target)
    return chain._replace(sampler=state, totals=chain.totals.add(info))


def _complete(program: Program, key: PRNGKeyArray, batch: PyTree, chain: Chain) -> Chain:
    """The exact draw of what the density has integrated out, and of its auxiliary variables."""
    density, sampler = program.density, program.sampler
    coordinates = coordinates_of(density, sampler)
    latent = coordinates.join(chain.sampler.position, chain.held)
    latent, auxiliary = density.complete(key, latent, *batch, auxiliary=chain.auxiliary)
    chain = chain._replace(held=coordinates.split(latent)[1], auxiliary=auxiliary)
    if auxiliary is None:
        return chain
    state = sampler.recompute(chain.sampler, batch, _target(density, sampler, chain))
    return chain._replace(sampler=state)


def _refresh(program: Program, key: PRNGKeyArray, chain: Chain) -> Chain:
    """The exact draw of what the sampler does not move (a Gibbs step)."""
    prior, coordinates = program.density.prior, coordinates_of(program.density, program.sampler)
    latent = coordinates.join(chain.sampler.position, chain.held)
    position, held = coordinates.split(prior.refresh(jax.random.fold_in(key, 1), latent))
    return chain._replace(sampler=program.sampler.relocate(chain.sampler, position), held=held)


@eqx.filter_jit
def gradient_variance(
    density: Density, sampler: Sampler, batches: tuple[Array, ...], chains: Chain
) -> Float[Array, "chains dim"]:
    """The variance of the minibatch gradient where each chain stands."""

    def one(chain: Chain) -> Array:
        gradient = jax.grad(_target(density, sampler, chain))
        each = jax.lax.map(lambda batch: gradient(chain.sampler.position, batch), batches)
        return each.var(axis=0, ddof=1)

    return jax.lax.map(one, chains)
