"""Global settings of JAX: one device per CPU core, and a cache of compiled programs."""

import os
from contextlib import suppress
from pathlib import Path

import jax
from joblib import cpu_count


def use_all_cores(cores: int | None = None) -> int:
    """Make each CPU core a JAX device, so that chains are spread over them.

    Parameters
    ----------
    cores
        How many; None: all that this process may use.

    Returns
    -------
    int
        The number of devices that JAX has.

    Notes
    -----
    This changes the global `jax.config` (`jax_num_cpu_devices`) and works only before JAX has
    computed anything; later it has no effect. Estimators and the command line call it.

    Examples
    --------
    >>> use_all_cores() >= 1
    True
    """
    wanted = cores or cpu_count()
    with suppress(RuntimeError):  # JAX is running already, or XLA_FLAGS has said how many
        jax.config.update("jax_num_cpu_devices", wanted)
    return jax.local_device_count()


def prepare() -> None:
    """Use all cores, and compile each program only once on this machine."""
    use_all_cores()
    keep_compiled_programs()


def keep_compiled_programs() -> None:
    """Keep what JAX compiles in a folder, so that later processes need not compile it again.

    It is the folder that JAX was given before (`JAX_COMPILATION_CACHE_DIR`), or else
    `goodprior/compiled` in the user's cache.

    Notes
    -----
    This changes the global `jax.config` (`jax_compilation_cache_dir` and
    `jax_persistent_cache_min_compile_time_secs`) for all that this process compiles. Estimators and
    the command line call it; JAX_ENABLE_COMPILATION_CACHE=false keeps nothing.
    """
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        # JAX's default of one second would keep hardly any of these programs: many, and small.
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = home / "goodprior" / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # without a writable folder there is no cache
    jax.config.update("jax_compilation_cache_dir", str(folder))
