"""One job in a worker: compute its row in one thread, catch its errors, keep the result.

Nothing here imports JAX: a worker sets its number of threads before it starts.
"""

import hashlib
import importlib
import os
import platform
import subprocess
import time
import traceback
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from goodprior.studies.engine.store import Failure, Job, Result, Store

PACKAGES = ("goodprior", "jax", "jaxlib", "numpy", "scipy", "equinox", "optax", "tinygp",
            "blackjax", "arviz-stats", "scikit-learn")  # fmt: skip


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
        The row with run time, versions and provenance, or the error with its traceback.
    """
    os.environ.update(one_thread())  # has an effect until JAX computes something
    started = time.perf_counter()
    try:
        module, name = function.split(":")
        row = getattr(importlib.import_module(module), name)(dict(job.settings))
        seconds = time.perf_counter() - started
        made = provenance(job.settings.get("dataset"))
        outcome = Result(job.settings, row, seconds, versions(), made)
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
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def provenance(dataset: str | None) -> dict[str, Any]:
    """Return when, where and from what a result is computed.

    Parameters
    ----------
    dataset
        A named data set, whose file's SHA-256 is `data` (None where there is no file).

    Returns
    -------
    dict
        `commit` ends in `+` where files of the package had been changed, and is None outside of a
        repository.
    """
    return {
        "commit": _commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "threads": int(os.environ.get("NPROC", 0)) or os.cpu_count(),
        "data": _sha256(dataset) if dataset else None,
    }


@cache
def _commit() -> str | None:
    here = Path(__file__).parents[2]
    try:
        commit, changed = (
            subprocess.run(["git", *words], cwd=here, capture_output=True, text=True, check=True)
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--", "."))
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.stdout.strip() + ("+" if changed.stdout.strip() else "")


@cache
def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


@cache
def _sha256(dataset: str) -> str | None:
    from goodprior.data.registry import file_of

    try:
        path = file_of(dataset)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
