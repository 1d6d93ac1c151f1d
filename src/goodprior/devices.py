"""Using the machine: one JAX device per core, and compiled programs kept between runs."""

import os
from contextlib import suppress
from pathlib import Path

import jax


def use_all_cores(cores: int | None = None) -> int:
    """Let JAX see each CPU core as a device, so that chains are spread over them.

    Call it before anything is computed; afterwards JAX has counted its devices and it is too late.
    The command line does so by itself. Returns how many devices there are.

    >>> use_all_cores() >= 1
    True
    """
    wanted = cores or len(os.sched_getaffinity(0))
    with suppress(RuntimeError):  # JAX is running already, or XLA_FLAGS has said how many
        jax.config.update("jax_num_cpu_devices", wanted)
    return jax.local_device_count()


def keep_compiled_programs(folder: Path | None = None) -> None:
    """Keep what JAX compiles in a folder (default: the user's cache), so that it is done once.

    The estimators and the command line do so by themselves. A folder that JAX was given before
    stays (JAX_COMPILATION_CACHE_DIR); JAX_ENABLE_COMPILATION_CACHE=false keeps nothing.
    """
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        # By JAX's own second hardly any of ours would be kept: they are many and small.
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    if folder is None:
        if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
            return
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = home / "goodprior" / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a machine without a writable home compiles every time
    jax.config.update("jax_compilation_cache_dir", str(folder))
