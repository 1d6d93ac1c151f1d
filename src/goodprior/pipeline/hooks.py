"""What happens beside the work: progress, checkpoints, and an end when it is time."""

from collections.abc import Callable
from contextlib import AbstractContextManager
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
        When sampling ends with what there is.
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
