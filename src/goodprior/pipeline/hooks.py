"""What happens beside the work: progress, checkpoints, and an end when it is time."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from goodprior.pipeline.checkpoint import Checkpoint
from goodprior.pipeline.deadline import Deadline
from goodprior.priors import Prior
from goodprior.progress import TimeLeft, Tracker, duration, tracking

LONG = 600.0  # seconds of a stage that are announced
KNOWN = 5.0  # seconds after which the time left is known well enough


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
    announce
        Whether a stage that nobody watches is warned of if it will take more than ten minutes.
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
    announce: bool = False
    on_prior: Callable[[int, Prior], None] | None = None

    @contextmanager
    def tracking(self, task: str) -> Iterator[Tracker]:
        """Progress of a task, where it is wanted."""
        with tracking(task, quiet=not self.verbose) as track:
            unwatched = self.announce and not self.verbose and self.deadline.end is None
            yield _announcing(task, track) if unwatched else track

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

            def track_and_look(done: int, total: int, message: str) -> None:
                track(done, total, message)
                if done < total:
                    self.deadline.look()

            yield track_and_look


def _announcing(task: str, track: Tracker) -> Tracker:
    """The tracker, with a warning as soon as it is known that the task will take long."""
    began, left_of, warned = time.monotonic(), TimeLeft(), False

    def track_and_warn(done: int, total: int, message: str) -> None:
        nonlocal warned
        track(done, total, message)
        now = time.monotonic()
        left = left_of(now, done, total)
        if not warned and left is not None and left > LONG and now - began > KNOWN:
            warned = True
            warnings.warn(
                f"{task} will take about {duration(left)}: budget=SECONDS ends it earlier with "
                "what there is, and verbose=1 shows how far it is",
                UserWarning,
                stacklevel=2,
            )

    return track_and_warn
