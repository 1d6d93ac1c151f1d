"""One job in a worker: compute its row in one thread, catch its errors, keep the result.

Nothing here imports JAX: a worker sets its number of threads before it starts.
"""

import importlib
import os
import platform
import time
import traceback
from importlib.metadata import PackageNotFoundError, version

from goodprior.studies.engine.store import Failure, Job, Result, Store


def attempt(function: str, job: Job, store: Store | None) -> Result | Failure:
    """Run one job; its errors are caught, and a given store has the outcome before this returns.

    Parameters
    ----------
    function
        `"module:function"` of a function from settings to a row.
    job
        The job, whose settings the function is given.
    store
        Where to keep the outcome; None if the caller does that.

    Returns
    -------
    Result | Failure
        The row with run time and versions, or the error with its traceback.
    """
    os.environ.update(one_thread())  # has an effect until JAX computes something
    started = time.perf_counter()
    try:
        module, name = function.split(":")
        row = getattr(importlib.import_module(module), name)(dict(job.settings))
        outcome = Result(job.settings, row, time.perf_counter() - started, versions())
    except Exception as error:
        outcome = failure_of(job, error)
    if store is not None:
        store.add(outcome)
    return outcome


def failure_of(job: Job, error: Exception) -> Failure:
    """Return the failure of a job by an error that is being handled."""
    last_line = traceback.format_exception_only(error)[-1].strip()
    return Failure(job.settings, last_line, traceback.format_exc())


def one_thread() -> dict[str, str]:
    """Return the environment in which JAX, XLA and NumPy compute in one thread."""
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_cpu_multi_thread_eigen" not in flags:
        flags = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
    names = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    # NPROC is the size of XLA's own pool.
    return {"XLA_FLAGS": flags, **{name: os.environ.get(name, "1") for name in names}}


def versions() -> dict[str, str]:
    """Return the versions of what a result was computed with."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("goodprior", "jax", "jaxlib", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
