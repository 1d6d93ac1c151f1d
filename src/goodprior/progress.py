"""Progress of long computations: a bar on a terminal, log lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LOG_EVERY = 10.0  # seconds between two log lines

Tracker = Callable[[int, int, str], None]
Listener = Callable[[str, int, int, str], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let a function of (task, done, in all, a few words) see all progress in this thread.

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
        To be called with (done, in all, a few words) as the task goes on.

    Examples
    --------
    >>> with tracking("matching", quiet=True) as track:
    ...     track(1, 10, "step 1")
    """
    listener = _listener.get()
    if listener is not None:
        yield lambda done, total, words: listener(task, done, total, words)
    elif quiet:
        yield lambda done, total, words: None
    elif sys.stderr.isatty():
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True)) as bars:
            bar = bars.add_task(task, total=None, words="compiling")
            yield lambda done, total, words: bars.update(
                bar, completed=done, total=total, words=words
            )
    else:
        started = last = time.monotonic()
        print(f"{task} …", file=sys.stderr, flush=True)

        def log(done: int, total: int, words: str) -> None:
            nonlocal last
            now = time.monotonic()
            if done < total and now - last < LOG_EVERY:
                return
            last = now
            print(
                f"{task}: {done}/{total} {words} ({now - started:.0f} s)",
                file=sys.stderr,
                flush=True,
            )

        yield log
