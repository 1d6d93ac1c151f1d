"""The compiled steps of training: Adam on minibatches, for all members in one program."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from goodprior.inference.batches import InMemory
from goodprior.networks import vectorize


class Objective(eqx.Module):
    """What one member minimises.

    `member_data` is what differs between members and is not trained. Where rows have weights, they
    are given after X and y.
    """

    @abstractmethod
    def __call__(
        self, member: PyTree, member_data: PyTree, key: PRNGKeyArray, X: Array, y: Array
    ) -> Float[Array, ""]:
        """The value to minimise, estimated from a minibatch."""

    def validate(self, member: PyTree, member_data: PyTree, X: Array, y: Array) -> Float[Array, ""]:
        """The mean negative log likelihood of the validation rows."""
        raise NotImplementedError


class State(NamedTuple):
    """All that changes during training; every leaf has a leading axis over members."""

    members: PyTree
    optimiser: optax.OptState
    best: PyTree  # the members when their validation loss was lowest
    score: Float[Array, " members"]  # that loss
    waited: Int[Array, " members"]  # epochs since then


class Part(NamedTuple):
    """Some steps of an epoch, from one to before another."""

    epoch: Int[Array, "*parts"]
    begin: Int[Array, "*parts"]
    end: Int[Array, "*parts"]
    rate: Float[Array, "*parts"]


@eqx.filter_jit
def start_training(members: PyTree) -> State:
    count = len(jax.tree.leaves(members)[0])
    optimiser = jax.vmap(optax.adam(1.0).init)(members)
    worst = jnp.full(count, jnp.inf)
    return State(members, optimiser, members, worst, jnp.zeros(count, jnp.int32))


@eqx.filter_jit
def take_steps(
    objective: Objective,
    member_data: PyTree,
    data: InMemory,
    validation: InMemory | None,
    state: State,
    key: PRNGKeyArray,
    parts: Part,
    batch_size: int,
    patience: Int[Array, ""] | None,
) -> tuple[State, Float[Array, " members"]]:
    """Some parts of epochs of all members, and the sums of their losses.

    An epoch's last batch is filled up with rows of its first.
    """
    batches = -(-data.rows // batch_size)

    def part_of_one(
        member: PyTree,
        optimiser: optax.OptState,
        member_data: PyTree,
        key: PRNGKeyArray,
        part: Part,
    ) -> tuple[PyTree, optax.OptState, Array]:
        key_rows, key_steps = jax.random.split(key)
        order = jax.random.permutation(key_rows, data.rows)
        rows = jnp.resize(order, (batches, batch_size))
        keys = jax.random.split(key_steps, batches)

        def step(
            i: Array, carry: tuple[PyTree, optax.OptState, Array]
        ) -> tuple[PyTree, optax.OptState, Array]:
            member, optimiser, losses = carry
            batch = data.gather(rows[i])
            loss, grad = jax.value_and_grad(objective)(member, member_data, keys[i], *batch)
            updates, optimiser = optax.adam(part.rate).update(grad, optimiser, member)
            return (
                optax.apply_updates(member, updates),
                optimiser,
                losses + loss.astype(losses.dtype),
            )  # type: ignore[return-value]

        carry = (member, optimiser, jnp.zeros(()))
        return jax.lax.fori_loop(part.begin, part.end, step, carry)

    def steps_of(state: State, part: Part) -> tuple[State, Array]:
        keys = jax.random.split(jax.random.fold_in(key, part.epoch), len(state.score))
        members, optimiser, losses = _each_member(
            part_of_one, state.members, state.optimiser, member_data, keys, part
        )
        state = state._replace(members=members, optimiser=optimiser)
        if validation is not None and patience is not None:
            keep = partial(_keep_best, objective, member_data, validation, patience=patience)
            state = jax.lax.cond(part.end == batches, keep, lambda state: state, state)
        return state, losses

    def take(state: State, part: Part) -> tuple[State, Array]:
        nothing = jnp.zeros(len(state.score))
        some = partial(steps_of, part=part)
        return jax.lax.cond(part.begin < part.end, some, lambda state: (state, nothing), state)

    state, losses = jax.lax.scan(take, state, parts)
    return state, losses.sum(axis=0)


def _each_member(
    part_of_one: Callable[..., Any],
    members: PyTree,
    optimiser: PyTree,
    member_data: PyTree,
    keys: Array,
    part: Part,
) -> tuple[PyTree, PyTree, Array]:
    """All members at once; a single one without `vmap`, which does not take double precision."""
    arrays, rest = eqx.partition((members, optimiser, member_data, keys), eqx.is_array)

    def one(arrays: PyTree) -> tuple[PyTree, PyTree, Array]:
        return part_of_one(*eqx.combine(arrays, rest), part)

    if len(keys) > 1:
        return vectorize(member_data)(one)(arrays)
    alone = jax.tree.map(lambda leaf: leaf[0], arrays)
    return jax.tree.map(lambda leaf: leaf[None], one(alone))


def _keep_best(
    objective: Objective,
    member_data: PyTree,
    validation: InMemory,
    state: State,
    patience: Int[Array, ""],
) -> State:
    """Keep each member whose validation loss is the lowest so far, unless it has stopped."""
    arrays, rest = eqx.partition(member_data, eqx.is_array)

    def one(member: PyTree, arrays: PyTree) -> Array:
        return objective.validate(member, eqx.combine(arrays, rest), *validation.batch)

    score = vectorize(member_data)(one)(state.members, arrays)
    better = (score < state.score) & (state.waited < patience)

    def pick(new: Array, old: Array) -> Array:
        return jnp.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return state._replace(
        best=jax.tree.map(pick, state.members, state.best),
        score=jnp.where(better, score, state.score),
        waited=jnp.where(better, 0, state.waited + 1),
    )
