"""A safetensors file with a seal: the SHA-256 of all its bytes, with the seal itself as zeros.

It is written as a whole or not at all. At reading nothing is allocated because a header claims it,
and no array is made before the seal has been checked.
"""

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES, EDQUOT, ENOENT, ENOSPC, EPERM, EROFS
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

LARGEST_HEADER = 16 * 2**20  # bytes; a large network needs some thousand
NAME = "goodprior"  # all is under this one name: the order of several would be random
UNSEALED = "0" * 64


class Content(NamedTuple):
    """A file's bytes, not yet verified: its description and the seal that it claims."""

    data: bytes
    about: str
    seal: str


def write(path: str | os.PathLike[str], arrays: dict[str, np.ndarray], about: str) -> None:
    """Seal the arrays and their description, and put them in the place of the file."""
    data = safetensors.numpy.save(arrays, {NAME: UNSEALED + about})
    header = int.from_bytes(data[:8], "little")
    if header > LARGEST_HEADER:
        raise ValueError(
            f"the description of what is to be stored takes {header:,} bytes, and at most "
            f"{LARGEST_HEADER:,} can be stored: keep long lists of numbers in arrays"
        )
    unsealed = f'"{NAME}":"{UNSEALED}'.encode()
    sealed = f'"{NAME}":"{hashlib.sha256(data).hexdigest()}'.encode()
    replace_file(path, data.replace(unsealed, sealed, 1))


def read(path: str | os.PathLike[str]) -> Content:
    """The bytes of a file of ours, and what they claim to be; refuses anything else."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is not a file")
    with open(path, "rb") as file:
        start = file.read(8)
        size = int.from_bytes(start, "little")
        if len(start) < 8 or size > LARGEST_HEADER:
            raise ValueError("it is no model file of goodprior, or only the beginning of one")
        header = file.read(size)
        text = _description(header)
        data = start + header + file.read()
    return Content(data, text[len(UNSEALED) :], text[: len(UNSEALED)])


def _description(header: bytes) -> str:
    try:
        text = json.loads(header)["__metadata__"][NAME]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("it is no model file of goodprior, or a damaged one") from None
    if not isinstance(text, str):
        raise ValueError("it is no model file of goodprior, or a damaged one")
    return text


def unseal(content: Content) -> dict[str, np.ndarray]:
    """The arrays, once the seal has been found to fit."""
    claimed = f'"{NAME}":"{content.seal}'.encode()
    unsealed = f'"{NAME}":"{UNSEALED}'.encode()
    found = hashlib.sha256(content.data.replace(claimed, unsealed, 1)).hexdigest()
    if found != content.seal:
        raise ValueError("its checksum does not fit, so it was changed, damaged or cut short")
    try:
        return safetensors.numpy.load(content.data)
    except (safetensors.SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"its arrays make no sense: {error}") from None


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace a file's bytes as a whole: after a crash it has either the old ones or the new.

    Parameters
    ----------
    path
        The file, which need not exist.
    data
        All of its new bytes.

    Raises
    ------
    OSError
        If it cannot be written, with advice.
    """
    with replacing_file(path) as file, _advised(Path(os.path.realpath(path))):
        file.write(data)


@contextmanager
def replacing_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a stream of new bytes that replace a file as a whole, when the block ends well.

    The bytes go to a temporary file in the same folder, made by `open` so that it has the
    permissions of any new file, and renamed at the end.

    Parameters
    ----------
    path
        The file, which need not exist.

    Raises
    ------
    OSError
        If it cannot be written, with advice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.txt")
    ...     with replacing_file(path) as file:
    ...         _ = file.write(b"all of it")
    ...         there = path.exists()
    ...     there, path.read_text()
    (False, 'all of it')
    """
    path = Path(os.path.realpath(path))
    beside = path.with_name(f".{NAME}-{secrets.token_hex(8)}.tmp")
    with _advised(path):
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder: add a file name")
        file = open(beside, "xb")  # noqa: SIM115
    try:
        with file:
            yield file
            with _advised(path):
                file.flush()
                os.fsync(file.fileno())
        with _advised(path):
            os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    with _advised(path):
        _sync_folder(path.parent)


@contextmanager
def _advised(path: Path) -> Iterator[None]:
    """Errors of writing this file, with advice."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"{path} cannot be written: {_advice(error, path)}") from error


def _sync_folder(folder: Path) -> None:
    """Make the new name last, too, where the system lets a folder be opened for that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _advice(error: OSError, path: Path) -> str:
    if error.errno in (ENOSPC, EDQUOT):
        return "the disk is full; free some space or write to another disk (the old file is kept)"
    if error.errno in (EACCES, EPERM, EROFS):
        return f"no permission to write in {path.parent}; choose another folder"
    if error.errno == ENOENT and not path.parent.exists():
        return f"there is no folder {path.parent}; make it first"
    return error.strerror or str(error)
