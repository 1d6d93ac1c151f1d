"""The driver of chains: compiled chunks of any sampler's steps, run one after another from Python.

A chunk is the stretch between two kept draws. Progress, checkpoints and interruptions live between
chunks; all that a later chunk needs is in `RunState`, so that a run can go on at any time.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from goodprior.inference.batches import Data, InMemory, OnDisk, probe_rows
from goodprior.inference.chunk import (
    CHAINS,
    Chain,
    Program,
    Stretch,
    advance_chunk,
    coordinates_of,
    gradient_variance,
    latents_of,
    minibatch_rows,
    start_chains,
)
from goodprior.inference.density import Density
from goodprior.inference.samplers.base import Sampler, SamplerReport
from goodprior.priors.base import Latent

PROBE_POINTS = 50
NOISE_BATCHES = 32  # minibatches from which the gradient's variance is measured


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
        self.coordinates = coordinates_of(density, sampler)
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
            self.data = jax.device_put(data, everywhere) if in_memory else data
            self.probe_x = jax.device_put(jnp.asarray(probe_x), everywhere)
            auxiliary = self._wide(density.auxiliary(data.y)) if in_memory else None
            chains = start_chains(density, sampler, self._wide(latents), self.keys, auxiliary)
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

    def follow(self, state: RunState) -> None:
        """Begin where a run of another length ended, with all that it had adapted."""
        nothing = self.chains.totals
        self.resume(state)
        self.chains, self.steps = self.chains._replace(totals=nothing), 0

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

    def stretches(self, steps: int) -> int:
        """Entries of the probe trace on the way of so many steps."""
        return max(1, steps // self.sampler.probe_every)

    def advance(
        self, steps: int, *, warming_up: bool, part: tuple[int, int] | None = None
    ) -> Float[np.ndarray, "chains times values"]:
        """Go on by so many steps; returns the probe trace of the chunk.

        With `part` only some of its stretches are gone, from the first to before the last: in
        parts, which must follow each other, a chunk is the same as at once.
        """
        times = self.stretches(steps)
        first, last = (0, times) if part is None else part
        marks = np.linspace(0, steps, times + 1).round().astype(np.int32)
        starts, lengths = self.steps - marks[first] + marks[:-1], np.diff(marks)
        longest, taken = int(lengths.max()), int(lengths[first:last].sum())
        # The program is compiled for all stretches: in those that are left out nothing is done.
        which = np.minimum(first + np.arange(times), last - 1)
        lengths = np.where(first + np.arange(times) < last, lengths[which], 0)
        stretches = Stretch(jnp.asarray(starts[which]), jnp.asarray(lengths))
        rows = None
        if self.batch_size is not None:
            rows = minibatch_rows(
                self.keys, stretches.start, longest, self.batch_size, self.data.rows
            )
        data, picked = self.data, rows
        if isinstance(data, OnDisk):
            data, picked = None, data.gather(np.asarray(rows))
        program = Program(self.density, self.sampler.compiled, self.mesh, longest, warming_up)
        with self._precision():
            self.chains, probe = advance_chunk(
                program, data, picked, self.probe_x, self.chains, self.keys, stretches
            )
            self.steps += taken
            if last == times:
                self._adapt(steps, warming_up)
        return np.asarray(probe, np.float32)[:, : last - first]

    def _adapt(self, steps: int, warming_up: bool) -> None:
        """What the sampler does to all chains after a chunk of so many steps."""
        sampler, states = self.sampler, self.chains.sampler
        if warming_up and sampler.pool_every:
            groups = jnp.asarray(self.coordinates.groups)
            states = sampler.pool(states, groups, self.steps, steps)
        elif sampler.controlled and not warming_up:
            states = sampler.control(states, steps)
        else:
            return
        by_chain = NamedSharding(self.mesh, CHAINS)
        self.chains = jax.device_put(self.chains._replace(sampler=states), by_chain)

    @property
    def finite(self) -> bool:
        """Whether all chains are where numbers are finite."""
        return bool(jnp.isfinite(self.chains.sampler.position).all())

    def latents(self) -> Latent:
        """Where the chains stand; leaves have a leading axis over chains."""
        with self._precision():
            found = latents_of(self.density, self.sampler, self.chains)
        return jax.tree.map(lambda leaf: np.asarray(leaf, np.float32), found)

    def report(self) -> SamplerReport:
        """What the sampler says of the run so far."""
        variance = None
        if self.batch_size is not None:
            shape = (NOISE_BATCHES, self.batch_size)
            rows = jax.random.randint(self.key_report, shape, 0, self.data.rows)
            batches = jax.tree.map(jnp.asarray, self.data.gather(np.asarray(rows)))
            variance = gradient_variance(self.density, self.sampler, batches, self.chains)
        with self._precision():
            report = self.sampler.summary(
                self.chains.sampler,
                self.chains.totals,
                steps=self.steps,
                temperature=float(self.density.temperature),
                gradient_variance=variance,
            )
        return report._replace(
            density=self.density.name,
            burn_in=self.sampler.burn_in,
            thinning=self.sampler.thinning,
            batch_size=self.batch_size,
        )


def _mesh(chains: int) -> Mesh:
    """As many devices as divide the number of chains."""
    devices = jax.devices()
    count = max(n for n in range(1, len(devices) + 1) if chains % n == 0)
    return Mesh(np.array(devices[:count]), ("chains",))
