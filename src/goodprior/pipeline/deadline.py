"""Ending a fit early: Ctrl-C and a budget of seconds, both with what there is by then."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from goodprior.progress import StopBurnIn, StopSampling

ANSWER = b"\nending with what there is; Ctrl-C again stops at once\n"
BURN_IN_SHARE = 0.5  # of the time of a sampler, at most
SPENT = "its budget of seconds was spent"


class Deadline:
    """Raises `StopSampling` at the next `look` after the budget is spent or Ctrl-C was pressed.

    The clock starts when it is made. A stage that `keeps` something ends with that at the first
    Ctrl-C, and with `say` this is answered on the standard error; in any other stage, and at the
    second one, Ctrl-C interrupts at once, as usual.

    Attributes
    ----------
    reason
        What ended the run, if anything did.
    cut
        Stages that would have gone on but for the budget.

    Examples
    --------
    >>> with Deadline(None) as deadline, deadline.stage("sampling", keeps=True):
    ...     deadline.look()
    >>> deadline.reason is None, deadline.cut
    (True, [])
    """

    def __init__(self, seconds: float | None, *, say: bool = False):
        self.began = time.monotonic()
        self.end = None if seconds is None else self.began + seconds
        self.pressed, self.say = False, say
        self.reason: str | None = None
        self.cut: list[str] = []
        self._stage: tuple[str, float, float | None] = ("", self.began, self.end)
        self._keeps = False
        self._before = None

    def __enter__(self) -> "Deadline":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def _press(self, number: int, frame: FrameType | None) -> None:
        before = self._before
        signal.signal(signal.SIGINT, before)
        if not self._keeps:
            if callable(before):
                before(number, frame)
            return
        self.pressed = True
        if self.say:
            os.write(2, ANSWER)  # unlike print, safe wherever the program is just now

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def stage(self, task: str, *, share: float = 1.0, keeps: bool = False) -> Iterator[None]:
        """What is done meanwhile may take this share of the time that is left."""
        before, kept, now = self._stage, self._keeps, time.monotonic()
        end = None if self.end is None else now + share * max(0.0, self.end - now)
        self._stage, self._keeps = (task, now, end), keeps
        try:
            yield
        finally:
            self._stage, self._keeps = before, kept

    def look(self, *, burning_in: bool = False) -> None:
        """End the stage if it is time, or the burn-in that it begins with."""
        task, began, end = self._stage
        now = time.monotonic()
        if self.pressed:
            self.reason = "it was interrupted" + " during burn-in" * burning_in
        elif self.end is not None and now > self.end:
            self.reason = SPENT
        if self.reason is not None:
            raise StopSampling(self.reason)
        if end is not None and now > end:
            self.cut.append(task)
            raise StopSampling(SPENT)
        if burning_in and end is not None and now > began + BURN_IN_SHARE * (end - began):
            self.cut.append("burn-in")
            raise StopBurnIn

    @property
    def stopped(self) -> str | None:
        """What ended early and why, in words (None: nothing did)."""
        cut = ", ".join(dict.fromkeys(self.cut))
        if not cut:
            return self.reason
        return f"{self.reason or SPENT} (which cut short: {cut})"
