"""The training loop that the baselines share: Adam on minibatches, all members in one program.

Members (of an ensemble, say) are trained side by side. Epochs are compiled in chunks and driven
from Python; early stopping happens inside, member by member.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.inference.batches import InMemory
from goodprior.inference.chains import Progress
from goodprior.networks import vectorize

CHUNK = 10  # epochs between two looks at the progress

Rate = float | Callable[[int], float]  # a learning rate, or one for each epoch


class Objective(eqx.Module):
    """What one member minimises. `own` is what differs between members and is not trained."""

    @abstractmethod
    def __call__(
        self, member: PyTree, own: PyTree, key: PRNGKeyArray, X: Array, y: Array
    ) -> Float[Array, ""]:
        """The value to minimise, estimated from a minibatch."""

    def validate(self, member: PyTree, own: PyTree, X: Array, y: Array) -> Float[Array, ""]:
        """The mean negative log likelihood of rows that were kept aside."""
        raise NotImplementedError


class State(NamedTuple):
    """All that changes during training; every leaf has a leading axis over members."""

    members: PyTree
    optimiser: optax.OptState
    best: PyTree  # the members when they did best on the validation rows
    score: Float[Array, " members"]
    waited: Int[Array, " members"]  # epochs since then


class Training:
    """Members in training: settings that stay, and a `state` that goes on from chunk to chunk."""

    def __init__(
        self,
        objective: Objective,
        members: PyTree,
        data: InMemory,
        *,
        key: PRNGKeyArray,
        own: PyTree = None,
        learning_rate: Rate = 0.01,
        batch_size: int | None = 32,
        validation: InMemory | None = None,
        patience: int | None = None,
    ):
        if batch_size is not None and checks.whole("batch_size", batch_size) > data.rows:
            raise ValueError(
                f"batch_size is {batch_size}, but there are only {data.rows} rows to train on; "
                "use a smaller one, or None for all rows"
            )
        if patience is not None:
            checks.whole("patience", patience)
        if not callable(learning_rate):
            checks.positive("learning_rate", learning_rate)
        self.objective, self.own, self.data, self.key = objective, own, data, key
        self.learning_rate, self.validation, self.patience = learning_rate, validation, patience
        self.batch_size = data.rows if batch_size is None else batch_size
        self.state = _start(members)
        self.epochs = 0

    def advance(self, epochs: int) -> Float[np.ndarray, "epochs members"]:
        """Go on by so many epochs; returns the mean of each member's minibatch losses."""
        which = range(self.epochs, self.epochs + epochs)
        rate = self.learning_rate
        rates = jnp.array([rate(i) if callable(rate) else rate for i in which], jnp.float32)
        self.state, losses = _advance(
            self.objective,
            self.own,
            self.data,
            self.validation,
            self.state,
            self.key,
            (jnp.array(which), rates),
            self.batch_size,
            None if self.patience is None else jnp.asarray(self.patience),
        )
        self.epochs += epochs
        return np.asarray(losses)

    def run(self, epochs: int, on_progress: Progress | None = None) -> PyTree:
        """Train for so many epochs, or until all members have stopped early; returns them."""
        checks.whole("epochs", epochs)
        while self.epochs < epochs and not self.stopped:
            losses = self.advance(min(CHUNK, epochs - self.epochs))
            if not np.isfinite(losses).all():
                raise FloatingPointError(
                    f"training left the finite numbers by epoch {self.epochs}: try a smaller "
                    "learning_rate, or check the scale of X and y"
                )
            if on_progress is not None:
                on_progress(self.epochs, epochs, "training")
        return self.members

    @property
    def stopped(self) -> bool:
        """Whether every member has waited in vain for as long as its patience lasts."""
        return self.patience is not None and bool((self.state.waited >= self.patience).all())

    @property
    def members(self) -> PyTree:
        """The trained members: as they are, or as they were best under early stopping."""
        return self.state.members if self.patience is None else self.state.best


@eqx.filter_jit
def _start(members: PyTree) -> State:
    count = len(jax.tree.leaves(members)[0])
    optimiser = jax.vmap(optax.adam(1.0).init)(members)
    worst = jnp.full(count, jnp.inf)
    return State(members, optimiser, members, worst, jnp.zeros(count, jnp.int32))


@eqx.filter_jit
def _advance(
    objective: Objective,
    own: PyTree,
    data: InMemory,
    validation: InMemory | None,
    state: State,
    key: PRNGKeyArray,
    epochs: tuple[Int[Array, " epochs"], Float[Array, " epochs"]],
    batch_size: int,
    patience: Int[Array, ""] | None,
) -> tuple[State, Float[Array, "epochs members"]]:
    """Some epochs of all members. The last batch of an epoch is filled with rows of its first."""
    batches = -(-data.rows // batch_size)

    def epoch_of_one(
        member: PyTree, optimiser: optax.OptState, own: PyTree, key: PRNGKeyArray, rate: Array
    ) -> tuple[PyTree, optax.OptState, Array]:
        key_rows, key_steps = jax.random.split(key)
        order = jax.random.permutation(key_rows, data.rows)
        rows = jnp.resize(order, (batches, batch_size))

        def step(
            carry: tuple[PyTree, optax.OptState], now: tuple[Array, PRNGKeyArray]
        ) -> tuple[tuple[PyTree, optax.OptState], Array]:
            member, optimiser = carry
            rows, key = now
            batch = data.gather(rows)
            loss, grad = jax.value_and_grad(objective)(member, own, key, *batch)
            updates, optimiser = optax.adam(rate).update(grad, optimiser, member)
            return (optax.apply_updates(member, updates), optimiser), loss  # type: ignore[return-value]

        carry, losses = jax.lax.scan(
            step, (member, optimiser), (rows, jax.random.split(key_steps, batches))
        )
        return *carry, losses.mean()

    def epoch(state: State, now: tuple[Array, Array]) -> tuple[State, Array]:
        number, rate = now
        keys = jax.random.split(jax.random.fold_in(key, number), len(state.score))
        members, optimiser, losses = _each_member(
            epoch_of_one, state.members, state.optimiser, own, keys, rate
        )
        state = state._replace(members=members, optimiser=optimiser)
        if validation is not None and patience is not None:
            state = _look(objective, own, validation, state, patience)
        return state, losses

    return jax.lax.scan(epoch, state, epochs)


def _each_member(
    epoch: Callable[..., Any],
    members: PyTree,
    optimiser: PyTree,
    own: PyTree,
    keys: Array,
    rate: Array,
) -> tuple[PyTree, PyTree, Array]:
    """All members at once; a single one without the batching, which knows no double precision."""
    arrays, rest = eqx.partition((members, optimiser, own, keys), eqx.is_array)

    def one(arrays: PyTree) -> tuple[PyTree, PyTree, Array]:
        return epoch(*eqx.combine(arrays, rest), rate)

    if len(keys) > 1:
        return vectorize(own)(one)(arrays)
    alone = jax.tree.map(lambda leaf: leaf[0], arrays)
    return jax.tree.map(lambda leaf: leaf[None], one(alone))


def _look(
    objective: Objective, own: PyTree, validation: InMemory, state: State, patience: Int[Array, ""]
) -> State:
    """Keep each member that is better than ever before, unless it has stopped."""

    arrays, rest = eqx.partition(own, eqx.is_array)

    def one(member: PyTree, arrays: PyTree) -> Array:
        return objective.validate(member, eqx.combine(arrays, rest), validation.X, validation.y)

    score = vectorize(own)(one)(state.members, arrays)
    better = (score < state.score) & (state.waited < patience)

    def pick(new: Array, old: Array) -> Array:
        return jnp.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return state._replace(
        best=jax.tree.map(pick, state.members, state.best),
        score=jnp.where(better, score, state.score),
        waited=jnp.where(better, 0, state.waited + 1),
    )
