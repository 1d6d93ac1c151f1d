"""Running jobs with an engine: what is missing, cheapest first, each result kept at once.

A job that has finished is never run again. A failing job is kept with its traceback, and a lost
worker costs no other job's result.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from goodprior.studies.engine.attempt import attempt, failure_of
from goodprior.studies.engine.clock import Clock, Progress
from goodprior.studies.engine.store import Failure, Job, Result, Store


@runtime_checkable
class Engine(Protocol):
    """Where jobs run.

    Attributes
    ----------
    in_flight
        How many jobs to hand over at a time; None for all at once.
    shares_files
        Whether workers see the store, and so keep results themselves.
    """

    in_flight: int | None
    shares_files: bool

    def executor(self) -> AbstractContextManager[Executor]:
        """Workers for the time of a block."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What a run did: how many jobs were finished before, finished now, and what failed."""

    before: int
    finished: int
    failures: list[Failure]


def run_jobs(
    function: str,
    jobs: Sequence[Job],
    store: Store,
    engine: Engine,
    *,
    retry: bool = False,
    cost: Callable[[Job], float] = lambda job: 1.0,
    on_progress: Progress | None = None,
) -> Outcome:
    """Run the jobs that have not finished yet, cheapest first, and keep each result at once.

    Parameters
    ----------
    function
        `"module:function"` of a function from settings to a row; workers import it themselves.
    jobs
        What is to be there in the end.
    store
        Where results and failures are kept.
    engine
        Where jobs run: `Local` or `Dask`.
    retry
        Whether to run jobs again that failed before.
    cost
        Of a job, in any unit: for the order and the estimate of the time left.
    on_progress
        Called with jobs done, jobs in all and a line of text after each job.

    Returns
    -------
    Outcome
        What was done, and all failures among the jobs.

    Raises
    ------
    ConnectionError
        If a cluster drops its jobs.
    """
    finished, failed = store.results(), store.failures()
    known = finished if retry else {**finished, **failed}
    unique = {job.hash: job for job in jobs}
    missing = sorted((job for key, job in unique.items() if key not in known), key=cost)
    clock = Clock(missing, len(unique), cost, on_progress)
    if missing:
        _run(function, missing, store, engine, clock)
    failures = [failure for key, failure in store.failures().items() if key in unique]
    before = sum(key in finished for key in unique)
    return Outcome(before, clock.finished, failures)


def _run(function: str, jobs: Sequence[Job], store: Store, engine: Engine, clock: Clock) -> None:
    """Run until nothing waits. When a worker dies, the jobs that were running go again, alone: one
    that loses its worker a second time has failed."""
    waiting, losses = deque(jobs), Counter[str]()
    while waiting:
        lost: list[Job] = []
        with engine.executor() as executor:
            for job, outcome in _outcomes(executor, function, waiting, losses, store, engine):
                if outcome is None:
                    lost.append(job)
                else:
                    clock.record(job, outcome)
        already = store.results()
        for job in lost:
            losses[job.hash] += 1
            if job.hash in already:  # it had just finished when another one broke the pool
                clock.record(job, already[job.hash])
            elif losses[job.hash] > 1:
                failure = Failure(job.settings, "its worker died twice: killed, or out of memory?")
                store.add(failure)
                clock.record(job, failure)
            else:
                waiting.appendleft(job)


def _outcomes(
    executor: Executor,
    function: str,
    waiting: deque[Job],
    losses: Counter[str],
    store: Store,
    engine: Engine,
) -> Iterator[tuple[Job, Result | Failure | None]]:
    """Jobs with their outcome, or with None for those that were lost with a worker."""
    theirs = store if engine.shares_files else None
    running: dict[Any, Job] = {}
    broken = False
    while running or (waiting and not broken):
        while waiting and not broken:
            alone = any(losses[job.hash] for job in (waiting[0], *running.values()))
            limit = 1 if alone else engine.in_flight
            if limit is not None and len(running) >= limit:
                break
            job = waiting.popleft()
            running[executor.submit(attempt, function, job, theirs)] = job
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            job = running.pop(future)
            try:
                outcome = future.result()
            except BrokenExecutor:
                broken, outcome = True, None
            except CancelledError:
                raise ConnectionError(
                    "the cluster dropped its jobs: is its scheduler gone? What has finished is "
                    "kept; run the same command again to go on"
                ) from None
            except Exception as error:  # the cluster gave up on it, say
                outcome = failure_of(job, error)
                store.add(outcome)
            else:
                if theirs is None:
                    store.add(outcome)
            yield job, outcome
