"""Ending a fit early: Ctrl-C and a budget of seconds, both with what was sampled so far."""

import os
import signal
import threading
import time
from types import FrameType, TracebackType

from goodprior.inference import StopSampling

ANSWER = b"\nending as soon as a few draws are kept; Ctrl-C again stops at once\n"


class Deadline:
    """Raises `StopSampling` at the next `look` after the budget is spent or Ctrl-C was pressed.

    A second Ctrl-C interrupts at once, as usual. `reason` says what ended the run, if anything did.
    With `say`, the first one is answered on the standard error. Where nothing looks at it, it is
    not `active`, and Ctrl-C interrupts as usual.

    >>> with Deadline(None) as deadline:
    ...     deadline.look()
    >>> deadline.reason is None
    True
    """

    def __init__(self, seconds: float | None, *, say: bool = False, active: bool = True):
        self.end = None if seconds is None else time.monotonic() + seconds
        self.pressed = False
        self.say, self.active = say, active
        self.reason: str | None = None
        self._before = None

    def __enter__(self) -> "Deadline":
        if self.active and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def _press(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True
        if self.say:
            os.write(2, ANSWER)  # unlike print, safe wherever the program is just now
        signal.signal(signal.SIGINT, self._before)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def look(self) -> None:
        """End the run if it is time."""
        if self.pressed:
            self.reason = "it was interrupted"
        elif self.end is not None and time.monotonic() > self.end:
            self.reason = "its budget of seconds was spent"
        if self.reason is not None:
            raise StopSampling(self.reason)
