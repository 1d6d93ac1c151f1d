"""Jobs, and the text file that keeps their results: one line of JSON for each finished job.

Lines are only ever appended, each in one write under a lock and flushed to the disk. So a crash
can tear no line but the last, which is then skipped; two processes cannot lose each other's lines;
and two files put one after the other (a merge of two clones) are again a store.
"""

import fcntl
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

RESULTS, FAILURES = "jobs.jsonl", "failures.jsonl"


@dataclass(frozen=True)
class Job:
    """One cell of a study's grid: all that its result depends on.

    The hash is of the settings' content. Settings that are None count as absent, so that a study
    can get a new option and still know its finished jobs.

    >>> a = Job({"dataset": "boston", "split": 0})
    >>> a.hash == Job({"split": 0, "dataset": "boston", "distance": None}).hash
    True
    """

    settings: Mapping[str, Any]

    @cached_property
    def hash(self) -> str:
        known = {k: _number(v) for k, v in self.settings.items() if v is not None}
        text = json.dumps(known, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return " ".join(f"{k}={v}" for k, v in self.settings.items() if v is not None)


@dataclass(frozen=True)
class Result:
    """A finished job: its row, how long it took, with what, and when, where and from which data."""

    settings: Mapping[str, Any]
    row: Mapping[str, Any]
    seconds: float
    versions: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def job(self) -> Job:
        return Job(self.settings)


@dataclass(frozen=True)
class Failure:
    """A job that raised an error, or whose worker was lost."""

    settings: Mapping[str, Any]
    error: str
    traceback: str = ""

    @property
    def job(self) -> Job:
        return Job(self.settings)


class Store:
    """The results of one study, in a folder: `jobs.jsonl`, and `failures.jsonl` beside it.

    Only the first file is worth committing: failures are those of this machine. Jobs of the studies
    `reuses` are kept in their folders, next to this one.

    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> store.add(Result({"split": 0}, {"rmse": 2.5}, seconds=1.0))
    >>> [result.row["rmse"] for result in store.results().values()]
    [2.5]
    """

    def __init__(self, folder: str | Path, reuses: Sequence[str] = ()):
        self.folder = Path(folder)
        self.path = self.folder / RESULTS
        self._reused = {name: self.folder.parent / name for name in reuses}

    def add(self, finished: Result | Failure) -> None:
        """Keep a result, or a failure; it is on the disk when this returns."""
        folder = self._reused.get(finished.settings.get("study", ""), self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (RESULTS if isinstance(finished, Result) else FAILURES)
        content = {"hash": finished.job.hash, **asdict(finished)}
        _append(path, json.dumps(_plain(content), separators=(",", ":"), allow_nan=False))

    def results(self) -> dict[str, Result]:
        """Finished jobs by their hash; where a job is there twice, the later line counts."""
        found = {}
        for line in self._lines(RESULTS, ("settings", "row", "seconds", "versions")):
            found[Job(line["settings"]).hash] = Result(**line)
        return found

    def failures(self) -> dict[str, Failure]:
        """Jobs that failed and have not finished since, by their hash."""
        finished, found = self.results(), {}
        for line in self._lines(FAILURES, ("settings", "error", "traceback")):
            key = Job(line["settings"]).hash
            if key not in finished:
                found[key] = Failure(**line)
        return found

    def _lines(self, name: str, entries: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        for folder in (self.folder, *self._reused.values()):
            yield from _lines(folder / name, entries)


def _append(path: Path, line: str) -> None:
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        data = (("\n" if torn else "") + line + "\n").encode()
        while data:  # a full disk may take a part of it, and raises at the next write
            data = data[os.write(handle, data) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _lines(path: Path, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The whole lines of a file; torn ones, and the marks of a version control, are skipped."""
    if not path.exists():
        return
    for text in path.read_text(errors="replace").splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        if isinstance(line, dict) and set(names) <= line.keys():
            more = {"provenance"} & line.keys()  # which the first rows do not have
            yield {name: line[name] for name in (*names, *more)}


def _plain(value: Any) -> Any:
    """The value as JSON has it: seven digits are enough, and what is not finite is null."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()  # arrays and scalars of NumPy and JAX
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value


def _number(value: Any) -> Any:
    """Whole numbers are whole, however they were written: 1.0 and 1 are one setting."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
