"""Progress of long computations: a bar on a terminal, log lines elsewhere, and how to end them."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LOG_EVERY = 10.0  # seconds between two log lines
FIRST_LOG = 2.0  # seconds after which the first line says how long it will take

Tracker = Callable[[int, int, str], None]
Listener = Callable[[str, int, int, str], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


class StopSampling(Exception):
    """Raised by a callback to end a run early, with what there is by then.

    A match then has the prior as it is, training the weights, and sampling the draws kept so far.

    Examples
    --------
    >>> def on_draw(*_):
    ...     raise StopSampling("that is enough")
    >>> on_draw()
    Traceback (most recent call last):
        ...
    goodprior.progress.StopSampling: that is enough
    """


class StopBurnIn(Exception):
    """Raised by a callback of a sampler to have its burn-in end early, and draws be kept.

    Examples
    --------
    >>> def on_progress(done, total, phase):
    ...     if phase == "burn-in" and done > 100:
    ...         raise StopBurnIn
    """


class Pace:
    """How many pieces of work to do between two looks at a clock: about a second's worth.

    Examples
    --------
    >>> pace = Pace(1.0)
    >>> pace.took(1, 30.0)  # which includes compiling, so it says nothing
    >>> pace.took(1, 0.25)
    >>> pace.pieces
    4
    """

    GROWTH = 8  # from one measurement to the next, at most

    def __init__(self, seconds: float = 1.0):
        self.seconds, self.pieces, self._compiled = seconds, 1, False

    def took(self, pieces: int, seconds: float) -> None:
        """So many pieces have taken so long."""
        if self._compiled:
            affordable = self.seconds * pieces / max(seconds, 1e-6)
            self.pieces = max(1, int(min(affordable, self.GROWTH * self.pieces)))
        self._compiled = True


def duration(seconds: float) -> str:
    """A length of time in words.

    >>> duration(42.3), duration(75.0), duration(430.0), duration(9000.0)
    ('42 s', '75 s', '7 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class TimeLeft:
    """The seconds left, from the pace since the first news: compiling comes before that.

    Examples
    --------
    >>> left = TimeLeft()
    >>> left(30.0, 1, 101) is None, left(31.0, 2, 101)
    (True, 99.0)
    """

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None

    def __call__(self, now: float, done: int, total: int) -> float | None:
        if self._first is None or done < self._first[1]:
            self._first = now, done
            return None
        since, before = self._first
        return None if done == before else (now - since) * (total - done) / (done - before)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let a function of (task, done, in all, a short message) see all progress in this thread.

    Nothing is printed meanwhile.

    Parameters
    ----------
    listener
        Called wherever a bar would move.

    Examples
    --------
    >>> with listening(print), tracking("matching") as track:
    ...     track(1, 10, "step 1")
    matching 1 10 step 1
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


@contextmanager
def tracking(task: str, *, quiet: bool = False) -> Iterator[Tracker]:
    """Show the progress of a task on the standard error stream.

    Parameters
    ----------
    task
        What is being done.
    quiet
        Whether to show nothing.

    Yields
    ------
    Callable
        To be called with (done, in all, a short message) as the task goes on.

    Examples
    --------
    >>> with tracking("matching", quiet=True) as track:
    ...     track(1, 10, "step 1")
    """
    listener = _listener.get()
    if listener is not None:
        yield lambda done, total, message: listener(task, done, total, message)
    elif quiet:
        yield lambda done, total, message: None
    elif sys.stderr.isatty():
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[message]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True)) as bars:
            bar = bars.add_task(task, total=None, message="compiling")
            yield lambda done, total, message: bars.update(
                bar, completed=done, total=total, message=message
            )
    else:
        yield _log(task)


def _log(task: str) -> Tracker:
    """Lines on the standard error stream: the first one soon, with an estimate of the time."""
    started = time.monotonic()
    due, left_of = started + FIRST_LOG, TimeLeft()
    print(f"{task} …", file=sys.stderr, flush=True)

    def log(done: int, total: int, message: str) -> None:
        nonlocal due
        now = time.monotonic()
        left = left_of(now, done, total)
        if done < total and (now < due or left is None):
            return
        due = now + LOG_EVERY
        more = f", about {duration(left)} left" if left and done < total else ""
        print(
            f"{task}: {done}/{total} {message} ({now - started:.0f} s{more})",
            file=sys.stderr,
            flush=True,
        )

    return log
