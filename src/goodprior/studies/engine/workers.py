"""Running jobs: on this machine with one process per worker, or on a Dask cluster.

A job that has finished is never run again. A failing job is kept with its traceback and a lost
worker costs no other job's result. Nothing here imports JAX: workers set their number of threads
before it starts.
"""

import importlib
import os
import platform
import time
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from goodprior.studies.engine.store import Failure, Job, Result, Store

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Outcome:
    """What a run did: how many jobs were finished before, finished now, and what failed."""

    before: int
    finished: int
    failures: list[Failure]


class Local:
    """Processes of this machine, each with one thread (joblib's loky).

    >>> Local(2).workers
    2
    """

    def __init__(self, workers: int | None = None):
        self._workers = workers or len(os.sched_getaffinity(0))
        self.in_flight: int | None = self._workers

    @property
    def workers(self) -> int:
        return self._workers

    @contextmanager
    def executor(self):
        from joblib.externals.loky import ProcessPoolExecutor

        # They must know it when they start: NumPy counts threads once it is imported, and glibc
        # reads how to allocate before anything else.
        pool = ProcessPoolExecutor(
            self._workers,
            timeout=10,
            env={**_one_thread(), **_huge_pages()},
            initializer=_keep_worker,
        )
        with warnings.catch_warnings():
            # Workers that have come to hold much memory are replaced between jobs, as they should.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
            try:
                yield pool
            finally:
                pool.shutdown(wait=True, kill_workers=True)


class Dask:
    """A Dask cluster that is running already, by the address of its scheduler.

    Start its workers with one thread each: `dask worker ADDRESS --nworkers 8 --nthreads 1`.
    """

    in_flight: int | None = None  # all at once: the scheduler keeps the queue

    def __init__(self, address: str, timeout: str = "10s"):
        try:
            from distributed import Client
        except ImportError as error:
            raise RuntimeError(
                'the Dask engine needs dask.distributed: pip install "goodprior[cluster]"'
            ) from error
        self.client = Client(address, timeout=timeout, set_as_default=False)

    @property
    def workers(self) -> int:
        return max(1, len(self.client.nthreads()))  # pyright: ignore[reportArgumentType]

    @contextmanager
    def executor(self):
        try:
            yield self.client.get_executor(pure=False)
        finally:
            self.client.close()


Engine = Local | Dask


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

    `function` is a name, `"module:function"`, of a function from settings to a row: workers look it
    up themselves. Jobs that failed before are left alone unless `retry` is set. `cost`, in any
    unit, serves the order and the estimate of the time left, which `on_progress(done, in all,
    words)` is told after each job.
    """
    finished, failed = store.results(), store.failures()
    known = finished if retry else {**finished, **failed}
    unique = {job.hash: job for job in jobs}
    missing = sorted((job for key, job in unique.items() if key not in known), key=cost)
    clock = _Clock(missing, len(unique), cost, on_progress)
    if missing:
        _run(function, missing, store, engine, clock)
    failures = [failure for key, failure in store.failures().items() if key in unique]
    before = sum(key in finished for key in unique)
    return Outcome(before, clock.finished, failures)


def _run(function: str, jobs: Sequence[Job], store: Store, engine: Engine, clock: "_Clock") -> None:
    """Hand jobs over as workers become free. When a worker dies, those in flight go again, alone:
    the one that dies with its worker a second time has failed."""
    waiting, strikes = deque(jobs), Counter[str]()
    while waiting:
        lost: list[Job] = []
        with engine.executor() as executor:
            for job, outcome in _fly(executor, function, waiting, strikes, store, engine):
                if outcome is None:
                    lost.append(job)
                else:
                    clock.tell(job, outcome)
        already = store.results()
        for job in lost:
            strikes[job.hash] += 1
            if job.hash in already:  # it had just finished when another one broke the pool
                clock.tell(job, already[job.hash])
            elif strikes[job.hash] > 1:
                failure = Failure(job.settings, "its worker died twice: killed, or out of memory?")
                store.add(failure)
                clock.tell(job, failure)
            else:
                waiting.appendleft(job)


def _fly(
    executor: Executor,
    function: str,
    waiting: deque[Job],
    strikes: Counter[str],
    store: Store,
    engine: Engine,
):
    """Yield jobs with their outcome, or with None for those that were lost with a worker."""
    shared = isinstance(engine, Local)  # workers see the store, and write to it themselves
    flying: dict[Any, Job] = {}
    broken = False
    while flying or (waiting and not broken):
        while waiting and not broken:
            alone = any(strikes[job.hash] for job in (waiting[0], *flying.values()))
            limit = 1 if alone else engine.in_flight
            if limit is not None and len(flying) >= limit:
                break
            job = waiting.popleft()
            flying[executor.submit(attempt, function, job, store if shared else None)] = job
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            job = flying.pop(future)
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
                outcome = Failure(job.settings, _last_line(error), traceback.format_exc())
                store.add(outcome)
            else:
                if not shared:
                    store.add(outcome)
            yield job, outcome


def attempt(function: str, job: Job, store: Store | None) -> Result | Failure:
    """In a worker: run one job. Errors are caught, and a given store has it before we return."""
    use_one_thread()
    started = time.perf_counter()
    try:
        module, name = function.split(":")
        row = getattr(importlib.import_module(module), name)(dict(job.settings))
        outcome = Result(job.settings, row, time.perf_counter() - started, versions())
    except Exception as error:
        outcome = Failure(job.settings, _last_line(error), traceback.format_exc())
    if store is not None:
        store.add(outcome)
    return outcome


def use_one_thread() -> None:
    """Let a worker compute in one thread; it works until JAX computes something."""
    os.environ.update(_one_thread())


def _one_thread() -> dict[str, str]:
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_cpu_multi_thread_eigen" not in flags:
        flags = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
    names = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    # NPROC is the size of XLA's own pool.
    return {"XLA_FLAGS": flags, **{name: os.environ.get(name, "1") for name in names}}


def _huge_pages() -> dict[str, str]:
    """The large buffers of convolutional networks in huge pages, where glibc and the kernel have
    them: a third of their time were page faults."""
    said = os.environ.get("GLIBC_TUNABLES", "")
    if "glibc.malloc.hugetlb" in said:
        return {}
    return {"GLIBC_TUNABLES": f"{said}:glibc.malloc.hugetlb=1".lstrip(":")}


def _keep_worker() -> None:
    """Let a worker hold 1 GiB more than at first before it is replaced, not loky's 0.3: a new one
    takes ten seconds to import and trace everything again."""
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = 2**30


def versions() -> dict[str, str]:
    """What a result was computed with."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("goodprior", "jax", "jaxlib", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()


class _Clock:
    """Counts jobs and estimates the time left from the cost of what is done."""

    def __init__(
        self,
        missing: Sequence[Job],
        total: int,
        cost: Callable[[Job], float],
        on_progress: Progress | None,
    ):
        self.cost, self.on_progress, self.total = cost, on_progress, total
        self.left = sum(map(cost, missing))
        self.done_cost = 0.0
        self.done = total - len(missing)
        self.finished = 0
        self.started = time.monotonic()
        if on_progress is not None:
            on_progress(self.done, total, f"{len(missing)} to run")

    def tell(self, job: Job, outcome: Result | Failure) -> None:
        self.done += 1
        self.finished += isinstance(outcome, Result)
        self.left -= self.cost(job)
        self.done_cost += self.cost(job)
        if self.on_progress is not None:
            rate = (time.monotonic() - self.started) / max(self.done_cost, 1e-12)
            ended = "finished" if isinstance(outcome, Result) else "FAILED"
            words = f"{ended}: {_short(job)}; about {duration(rate * max(self.left, 0.0))} left"
            self.on_progress(self.done, self.total, words)


def _short(job: Job) -> str:
    names = ("dataset", "method", "depth", "split", "sampler")
    return " ".join(str(job.settings[n]) for n in names if job.settings.get(n) is not None) or str(
        job
    )


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(50.0), duration(600.0), duration(9000.0), duration(300_000.0)
    ('50 s', '10 min', '2.5 h', '3.5 days')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"
