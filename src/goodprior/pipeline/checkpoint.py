"""Checkpoints of a fit: a folder from which the same fit goes on after any interruption."""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import equinox as eqx
import numpy as np

from goodprior import storage

SHARE = 0.05  # of the time that writing may take
# Settings that another run of the same fit may change: how long it is to be, and what it says.
FREE = ("draws", "budget", "verbose", "random_state", "keep_rows")


class Checkpoint:
    """The stages of one fit in a folder, each a sealed file; None: nothing is kept.

    The folder belongs to one fit: other data or settings are refused, and so is a second process
    while one is `held`. Every write replaces a file as a whole, so that a fit killed at any moment
    finds the last complete one. A folder in which nothing can be written any more (the disk is
    full, or it is gone) does not end the fit: there is one warning, and the fit goes on without.
    """

    def __init__(self, folder: str | os.PathLike[str] | None):
        self.folder = None if folder is None else Path(folder)
        self._spent, self._since = 0.0, time.monotonic()
        self._lost = False
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OSError(
                    f"the checkpoint folder {self.folder} cannot be made: {error}"
                ) from error

    def claim(self, seed: int, settings: dict[str, Any], *arrays: np.ndarray | None) -> int:
        """The seed of the fit in this folder: the given one, or that of the fit begun earlier."""
        if self.folder is None:
            return seed
        bound = {name: value for name, value in settings.items() if name not in FREE}
        fingerprint = storage.fingerprint({"settings": bound, "arrays": list(arrays)})
        known = self.get("fit")
        if known is None:
            self._write("fit", {"fingerprint": fingerprint, "seed": seed})
            return seed
        if known["fingerprint"] != fingerprint:
            raise ValueError(
                f"{self.folder} holds a checkpoint of another fit (other data or settings): "
                "choose an empty folder, or delete this one"
            )
        return known["seed"]

    def get(self, stage: str, network: Any = None) -> Any:
        """What was put for this stage, or None."""
        if self.folder is None or not self._path(stage).exists():
            return None
        module = network if isinstance(network, eqx.Module) else None
        return storage.read(self._path(stage), kind=stage, network=module)

    def once(self, stage: str, make: Callable[[], Any], network: Any = None) -> Any:
        """What was put for this stage, or else what is made now, and kept."""
        thing = self.get(stage, network)
        if thing is None:
            thing = make()
            self.put(stage, thing)
        return thing

    def put(self, stage: str, thing: Any) -> None:
        """Keep the thing for this stage, where that can still be done."""
        if self.folder is None or self._lost:
            return
        try:
            self._write(stage, thing)
        except OSError as error:
            self._lost = True
            warnings.warn(
                f"the checkpoint is no longer kept, the fit goes on without it: {error}",
                UserWarning,
                stacklevel=2,
            )

    def _write(self, stage: str, thing: Any) -> None:
        started = time.monotonic()
        storage.write(self._path(stage), thing, kind=stage)
        self._spent += time.monotonic() - started

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes out of the folder meanwhile; a killed one leaves it free."""
        if self.folder is None:
            yield
            return
        with open(self.folder / "in-use", "ab") as file:
            if not _lock(file):
                raise BlockingIOError(
                    f"another fit is at work in {self.folder}: wait until it has ended, or choose "
                    "another folder"
                )
            yield

    def drop(self, stage: str) -> None:
        """Forget what was put for this stage."""
        if self.folder is not None:
            self._path(stage).unlink(missing_ok=True)

    def put_sometimes(self, stage: str, thing: Any) -> None:
        """Keep the thing, unless writing has lately taken too much of the time."""
        if self._spent <= SHARE * (time.monotonic() - self._since):
            self.put(stage, thing)

    def _path(self, stage: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{stage}.safetensors"


def _lock(file: BinaryIO) -> bool:
    """Lock an open file for this process; false where another one has."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a network's file system without locks
        return True
    return True
