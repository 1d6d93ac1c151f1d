"""What happens beside the work: progress, checkpoints, and an end when it is time."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from goodprior.pipeline.checkpoint import Checkpoint
from goodprior.pipeline.deadline import Deadline
from goodprior.priors import Prior
from goodprior.progress import Tracker, tracking


@dataclass(frozen=True)
class Hooks:
    """Progress bars, a checkpoint and a deadline; by default none of them.

    Parameters
    ----------
    verbose
        Whether progress is shown.
    checkpoint
        Where finished stages and draws are kept.
    deadline
        When each stage ends with what there is.
    on_prior
        `on_prior(step, prior)` sees the prior while it is matched.

    Examples
    --------
    >>> with Hooks().tracking("matching") as track:
    ...     track(1, 10, "nothing is shown")
    """

    verbose: bool = False
    checkpoint: Checkpoint = field(default_factory=lambda: Checkpoint(None))
    deadline: Deadline = field(default_factory=lambda: Deadline(None))
    on_prior: Callable[[int, Prior], None] | None = None

    def tracking(self, task: str) -> AbstractContextManager[Tracker]:
        """Progress of a task, where it is wanted."""
        return tracking(task, quiet=not self.verbose)

    @contextmanager
    def stage(self, task: str, *, share: float = 1.0, keeps: bool = False) -> Iterator[Tracker]:
        """Progress of a stage, which ends when its share of the time that is left is spent.

        Parameters
        ----------
        task
            What is being done.
        share
            Of the time until the deadline.
        keeps
            Whether what there is by then is worth keeping at Ctrl-C.
        """
        with self.tracking(task) as track, self.deadline.stage(task, share=share, keeps=keeps):

            def track_and_look(done: int, total: int, words: str) -> None:
                track(done, total, words)
                if done < total:
                    self.deadline.look()

            yield track_and_look
