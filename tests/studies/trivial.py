"""Jobs that take no time to compute, for tests of the engine; also a runner to be killed."""

import os
import signal
import sys
import time
from pathlib import Path

from goodprior.studies.engine.dask_cluster import Dask
from goodprior.studies.engine.local import Local
from goodprior.studies.engine.run import run_jobs
from goodprior.studies.engine.store import Job, Store

HERE = "tests.studies.trivial"


def square(settings):
    _log(settings)
    return {"square": settings["x"] ** 2}


def slow(settings):
    time.sleep(settings.get("seconds", 0.15))
    return square(settings)


def touchy(settings):
    """Fails for x = 3 while the file `trouble` is there."""
    if settings["x"] == 3 and Path(settings["folder"], "trouble").exists():
        raise ArithmeticError("three is too many")
    return square(settings)


def deadly(settings):
    """Takes its worker along for x = 3, while another job is under way."""
    time.sleep(0.1 if settings["x"] == 3 else 0.4)
    if settings["x"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(settings)


def threads(settings):
    import jax

    found = {"flags": os.environ["XLA_FLAGS"], "pages": os.environ["GLIBC_TUNABLES"]}
    return {"x": float(jax.numpy.ones(3).sum()), **found}


def jobs(folder, n=6, **more):
    return [Job({"x": x, "folder": str(folder), **more}) for x in range(n)]


def runs(folder):
    """Which x were run, in order, as the jobs themselves say."""
    path = Path(folder, "log")
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def _log(settings):
    with Path(settings["folder"], "log").open("a") as log:
        log.write(f"{settings['x']}\n")


if __name__ == "__main__":
    folder, engine, n = sys.argv[1:]
    where = Local(2) if engine == "local" else Dask(engine)
    run_jobs(f"{HERE}:slow", jobs(folder, int(n)), Store(folder), where)
