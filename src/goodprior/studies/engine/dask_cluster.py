"""The engine of a Dask cluster."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager


class Dask:
    """A Dask cluster that is running already.

    Start its workers with one thread each: `dask worker ADDRESS --nworkers 8 --nthreads 1`.

    Parameters
    ----------
    address
        Of its scheduler, such as `tcp://host:8786`.
    timeout
        How long to wait for the scheduler.

    Raises
    ------
    RuntimeError
        If dask.distributed is not installed.
    OSError
        If there is no scheduler at the address.
    """

    shares_files = False
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
        """How many workers the cluster has now; at least one."""
        return max(1, len(self.client.nthreads()))  # pyright: ignore[reportArgumentType]

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        """Connect to the cluster; the connection ends with the block."""
        try:
            yield self.client.get_executor(pure=False)
        finally:
            self.client.close()
