"""The training loop that the baselines share: Adam on minibatches, all members in one program.

Members (of an ensemble, say) are trained at the same time. Epochs are compiled in chunks and driven
from Python; early stopping happens inside, member by member.
"""

import time
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.baselines.training_steps import Objective, Part, start_training, take_steps
from goodprior.inference.batches import InMemory
from goodprior.inference.sample import Progress
from goodprior.progress import Pace, StopSampling

CHUNK = 10  # epochs, or parts of one, per compiled chunk; progress is reported between chunks

Rate = float | Callable[[int], float]  # a learning rate, or one for each epoch


class Training:
    """A training run: fixed settings, and a `state` that is carried from chunk to chunk.

    However the steps fall into chunks, the result is the same.

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
        self.state = start_training(members)
        self.batches = -(-data.rows // self.batch_size)  # of an epoch
        self.steps, self.ended = 0, False
        self.pace = Pace()

    @property
    def epochs(self) -> int:
        """How many have been finished."""
        return self.steps // self.batches

    def advance(self, steps: int) -> Float[np.ndarray, " members"]:
        """Take so many more steps, in one compiled chunk; returns the sum of each member's losses.

        A chunk holds ten epochs or parts of them, so there may be fewer steps.
        """
        first, parts = self.steps, []
        while len(parts) < CHUNK:
            epoch, begin = divmod(self.steps, self.batches)
            end = min(self.batches, begin + first + steps - self.steps)
            rate = self.learning_rate(epoch) if callable(self.learning_rate) else self.learning_rate
            parts.append((epoch, begin, end, rate))
            self.steps += end - begin
        epochs, begins, ends, rates = zip(*parts, strict=True)
        which = Part(*map(jnp.array, (epochs, begins, ends)), rate=jnp.array(rates, jnp.float32))
        self.state, losses = take_steps(
            self.objective,
            self.member_data,
            self.data,
            self.validation,
            self.state,
            self.key,
            which,
            self.batch_size,
            None if self.patience is None else jnp.asarray(self.patience),
        )
        return np.asarray(losses)

    def run(self, epochs: int, on_progress: Progress | None = None) -> PyTree:
        """Train until so many epochs are done, or all members have stopped early; returns them.

        `on_progress` may end it by raising `StopSampling`.
        """
        last = checks.whole("epochs", epochs) * self.batches
        try:
            while self.steps < last and not (self.stopped or self.ended):
                started, before = time.monotonic(), self.steps
                losses = self.advance(min(self.pace.pieces, self._to_look(last)))
                if not np.isfinite(losses).all():
                    raise FloatingPointError(
                        f"the training loss is not finite in epoch {before // self.batches + 1}: "
                        "use a smaller learning_rate, or standardise X and y"
                    )
                self.pace.took(self.steps - before, time.monotonic() - started)
                if on_progress is not None:
                    on_progress(self.steps, last, "training")
        except StopSampling:
            self.ended = True
        return self.members

    def _to_look(self, last: int) -> int:
        """Steps until the end, or until members are next asked whether they have stopped early."""
        if self.patience is None:
            return last - self.steps
        every = (
            CHUNK * self.batches
        )  # whatever the pace, so that the same run ends at the same step
        return min(last, (self.steps // every + 1) * every) - self.steps

    @property
    def stopped(self) -> bool:
        """Whether every member has stopped early."""
        if self.patience is None or self.steps % (CHUNK * self.batches):
            return False
        return bool((self.state.waited >= self.patience).all())

    @property
    def members(self) -> PyTree:
        """The trained members: the present ones, or those of the lowest validation loss."""
        return self.state.members if self.patience is None else self.state.best
