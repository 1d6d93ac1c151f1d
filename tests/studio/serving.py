"""A studio's server for a test, none of whose computations outlives it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goodprior.studio.server import Handler, Server
from goodprior.studio.studio import Studio


class _Brief(Handler):
    timeout = 5  # connections that a browser leaves open do not hold a test up


@contextmanager
def serving(table: Path | None) -> Iterator[Server]:
    """A server that answers until the block ends."""
    made = Server(lambda: Studio(table))
    made.RequestHandlerClass = _Brief
    made.daemon_threads, made.block_on_close = False, True
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    try:
        yield made
    finally:
        made.shutdown()
        thread.join()
        made.making.join()
        made.server_close()
