"""Requests that follow each other: while one is worked on, only the newest other one waits."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

STALE = {"stale": True}


class Channels:
    """Drops requests that a newer one has overtaken.

    Requests of one name and page carry a growing `seq`. They are worked on one after another;
    those that are no longer the newest when their turn comes are answered with `{"stale": True}`.

    Examples
    --------
    >>> channels = Channels()
    >>> channels.newest("draws", {"seq": 2}, lambda request: "new"), channels.newest(
    ...     "draws", {"seq": 1}, lambda request: "old")
    ('new', {'stale': True})
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.latest: dict[tuple[str, str], int] = {}
        self.turns: dict[tuple[str, str], threading.Lock] = {}

    def newest(
        self, name: str, request: Mapping[str, Any], work: Callable[[Mapping[str, Any]], Any]
    ) -> Any:
        """The answer to a request, unless there is a newer one; without a `seq`, always."""
        number = request.get("seq")
        if not isinstance(number, int):
            return work(request)
        channel = (name, str(request.get("page", ""))[:40])
        with self.lock:
            self.latest[channel] = max(number, self.latest.get(channel, number))
            turn = self.turns.setdefault(channel, threading.Lock())
        with turn:
            return STALE if number < self.latest[channel] else work(request)
