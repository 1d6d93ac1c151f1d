"""The training loop that the baselines share: Adam on minibatches, all members in one program.

Members (of an ensemble, say) are trained at the same time. Epochs are compiled in chunks and driven
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
from goodprior.inference.sample import Progress
from goodprior.networks import vectorize

CHUNK = 10  # epochs per compiled chunk; progress is reported between chunks

Rate = float | Callable[[int], float]  # a learning rate, or one for each epoch


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


class Training:
    """A training run: fixed settings, and a `state` that is carried from chunk to chunk.

    Parameters
    ----------
    objective
        What each member minimises.
    members
        Where training starts; every leaf has a leading axis over members.
    data
        The rows to train on.
    key
        Determines the order of the rows, and the objective's random numbers.
    member_data
        What the objective needs of each member besides what is trained, such as its prior.
    learning_rate
        Of Adam: a number, or a function of the epoch.
    batch_size
        Rows per step; None: all.
    validation, patience
        Rows to validate on, and the number of epochs without a lower validation loss after which
        a member stops; None: no early stopping.
    """

    def __init__(
        self,
        objective: Objective,
        members: PyTree,
        data: InMemory,
        *,
        key: PRNGKeyArray,
        member_data: PyTree = None,
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
        self.objective, self.member_data, self.data, self.key = objective, member_data, data, key
        self.learning_rate, self.validation, self.patience = learning_rate, validation, patience
        self.batch_size = data.rows if batch_size is None else batch_size
        self.state = _start(members)
        self.epochs = 0

    def advance(self, epochs: int) -> Float[np.ndarray, "epochs members"]:
        """Train for so many more epochs; returns the mean of each member's minibatch losses."""
        which = range(self.epochs, self.epochs + epochs)
        rate = self.learning_rate
        rates = jnp.array([rate(i) if callable(rate) else rate for i in which], jnp.float32)
        self.state, losses = _advance(
            self.objective,
            self.member_data,
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
                    f"the training loss is not finite by epoch {self.epochs}: use a smaller "
                    "learning_rate, or standardise X and y"
                )
            if on_progress is not None:
                on_progress(self.epochs, epochs, "training")
        return self.members

    @property
    def stopped(self) -> bool:
        """Whether every member has stopped early."""
        return self.patience is not None and bool((self.state.waited >= self.patience).all())

    @property
    def members(self) -> PyTree:
        """The trained members: the present ones, or those of the lowest validation loss."""
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
    member_data: PyTree,
    data: InMemory,
    validation: InMemory | None,
    state: State,
    key: PRNGKeyArray,
    epochs: tuple[Int[Array, " epochs"], Float[Array, " epochs"]],
    batch_size: int,
    patience: Int[Array, ""] | None,
) -> tuple[State, Float[Array, "epochs members"]]:
    """Some epochs of all members; an epoch's last batch is filled up with rows of its first."""
    batches = -(-data.rows // batch_size)

    def epoch_of_one(
        member: PyTree,
        optimiser: optax.OptState,
        member_data: PyTree,
        key: PRNGKeyArray,
        rate: Array,
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
            loss, grad = jax.value_and_grad(objective)(member, member_data, key, *batch)
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
            epoch_of_one, state.members, state.optimiser, member_data, keys, rate
        )
        state = state._replace(members=members, optimiser=optimiser)
        if validation is not None and patience is not None:
            state = _keep_best(objective, member_data, validation, state, patience)
        return state, losses

    return jax.lax.scan(epoch, state, epochs)


def _each_member(
    epoch: Callable[..., Any],
    members: PyTree,
    optimiser: PyTree,
    member_data: PyTree,
    keys: Array,
    rate: Array,
) -> tuple[PyTree, PyTree, Array]:
    """All members at once; a single one without `vmap`, which does not take double precision."""
    arrays, rest = eqx.partition((members, optimiser, member_data, keys), eqx.is_array)

    def one(arrays: PyTree) -> tuple[PyTree, PyTree, Array]:
        return epoch(*eqx.combine(arrays, rest), rate)

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
