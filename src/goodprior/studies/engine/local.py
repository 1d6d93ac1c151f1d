"""The engine of one machine: a process per worker."""

import os
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from joblib import cpu_count

from goodprior.studies.engine.attempt import one_thread


class Local:
    """Processes of this machine, each with one thread (joblib's loky).

    Parameters
    ----------
    workers
        How many; one per core by default.

    Examples
    --------
    >>> Local(2).workers
    2
    """

    shares_files = True

    def __init__(self, workers: int | None = None):
        self.workers = workers or cpu_count()
        self.in_flight: int | None = self.workers

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        """Start the processes; they end with the block."""
        from joblib.externals.loky import ProcessPoolExecutor

        # The environment is needed at their start: NumPy counts threads when it is imported, and
        # glibc reads how to allocate before anything else.
        pool = ProcessPoolExecutor(
            self.workers,
            timeout=10,
            env={**one_thread(), **_huge_pages()},
            initializer=_raise_memory_limit,
        )
        with warnings.catch_warnings():
            # Workers that have come to hold much memory are replaced between jobs, as they should.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
            try:
                yield pool
            finally:
                pool.shutdown(wait=True, kill_workers=True)


def _huge_pages() -> dict[str, str]:
    """The large buffers of convolutional networks in huge pages, where glibc and the kernel have
    them: a third of their time were page faults."""
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if "glibc.malloc.hugetlb" in tunables:
        return {}
    return {"GLIBC_TUNABLES": f"{tunables}:glibc.malloc.hugetlb=1".lstrip(":")}


def _raise_memory_limit() -> None:
    """Let a worker hold 1 GiB more than at first before it is replaced, not loky's 0.3: a new one
    takes ten seconds to import and trace everything again."""
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = 2**30
