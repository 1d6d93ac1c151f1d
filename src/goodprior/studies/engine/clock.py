"""How far a run is, and how long the rest will take."""

import time
from collections.abc import Callable, Sequence

from goodprior.studies.engine.store import Failure, Job, Result

Progress = Callable[[int, int, str], None]  # jobs done, jobs in all, a line of text


class Clock:
    """Counts jobs and estimates the time left from the cost of what is done.

    Parameters
    ----------
    missing
        The jobs to run.
    total
        All jobs, with those that had finished before.
    cost
        Of a job, in any unit.
    on_progress
        Called at the beginning and after each job.
    """

    def __init__(
        self,
        missing: Sequence[Job],
        total: int,
        cost: Callable[[Job], float],
        on_progress: Progress | None,
    ):
        self.cost, self.on_progress, self.total = cost, on_progress, total
        self.cost_left = sum(map(cost, missing))
        self.cost_done = 0.0
        self.done = total - len(missing)
        self.finished = 0
        self.started = time.monotonic()
        if on_progress is not None:
            on_progress(self.done, total, f"{len(missing)} to run")

    def record(self, job: Job, outcome: Result | Failure) -> None:
        """Count a job that has finished or failed."""
        self.done += 1
        self.finished += isinstance(outcome, Result)
        self.cost_left -= self.cost(job)
        self.cost_done += self.cost(job)
        if self.on_progress is not None:
            rate = (time.monotonic() - self.started) / max(self.cost_done, 1e-12)
            ended = "finished" if isinstance(outcome, Result) else "FAILED"
            left = duration(rate * max(self.cost_left, 0.0))
            self.on_progress(self.done, self.total, f"{ended}: {_short(job)}; about {left} left")


def _short(job: Job) -> str:
    names = ("dataset", "method", "depth", "split", "sampler")
    known = [str(job.settings[n]) for n in names if job.settings.get(n) is not None]
    return " ".join(known) or str(job)


def duration(seconds: float) -> str:
    """Return a time as text.

    >>> duration(50.0), duration(600.0), duration(9000.0), duration(300_000.0)
    ('50 s', '10 min', '2.5 h', '3.5 days')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"
