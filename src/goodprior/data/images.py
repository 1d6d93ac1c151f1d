"""Image sets from their files: NumPy archives, MNIST's idx files, CIFAR-10's binary batches.

Nothing is ever unpickled, so CIFAR-10's python version is refused by name.
"""

import gzip
import struct
import tarfile
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8

# Where each set is looked for in the data folder; what comes first counts.
PLACES = {
    "mnist": ("mnist", "mnist.npz"),
    "notmnist": ("notmnist.npz",),
    "cifar10": ("cifar-10-batches-bin", "cifar-10-binary.tar.gz", "cifar10_20k.npz"),
}
PICKLED = ("cifar-10-batches-py", "cifar-10-python.tar.gz")
BATCHES = (*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin")
SIDE = 32  # of every image; MNIST's 28 are padded with two dark pixels all round
RECORD = 1 + 3 * SIDE * SIDE  # a label, and the three colours one after the other

Pixels = UInt8[np.ndarray, "images 32 32 channels"]


class Images(NamedTuple):
    """Images with their labels, those for training first."""

    X: Pixels
    y: UInt8[np.ndarray, " images"]
    training: int


def find_images(name: str, folder: Path) -> Path:
    """The file or folder of the set, or an error that says what it may be."""
    for place in PLACES[name]:
        if (folder / place).exists():
            return folder / place
    found = [place for place in PICKLED if (folder / place).exists()]
    if name == "cifar10" and found:
        raise FileNotFoundError(
            f"cifar10 is there as {folder / found[0]}, pickled files that could run any code when "
            "they are opened: put the binary version, cifar-10-binary.tar.gz, beside it"
        )
    every = " or ".join(str(folder / place) for place in PLACES[name])
    raise FileNotFoundError(f"{name} is looked for at {every}, and there is no such file")


def read_images(name: str, path: Path) -> Images:
    """The images of a set, 32 by 32 pixels each.

    Parameters
    ----------
    name : str
        `mnist`, `notmnist` or `cifar10`.
    path : Path
        As `find_images` found it.

    Returns
    -------
    Images
        Those for training first.

    Raises
    ------
    ValueError
        If the files are not what they should be.
    """
    if path.suffix == ".npz":
        return _from_arrays(path)
    if name == "mnist":
        return _from_idx_files(path)
    return _from_batches(path)


def _from_arrays(path: Path) -> Images:
    with np.load(path, allow_pickle=False) as arrays:
        parts = [part for part in ("train", "test") if f"x_{part}" in arrays]
        if not parts:
            raise ValueError(f"{path} must hold the arrays x_test and y_test, or x_train as well")
        pairs = [(arrays[f"x_{part}"], arrays[f"y_{part}"]) for part in parts]
    return _joined(path, pairs, training=len(pairs[0][1]) if "train" in parts else 0)


def _from_idx_files(folder: Path) -> Images:
    pairs = [
        (_idx(folder, f"{part}-images-idx3-ubyte"), _idx(folder, f"{part}-labels-idx1-ubyte"))
        for part in ("train", "t10k")
    ]
    return _joined(folder, pairs, training=len(pairs[0][1]))


def _idx(folder: Path, name: str) -> np.ndarray:
    """One idx file of bytes: two zeros, the type 8, the number of axes, their sizes, the data."""
    path = folder / name
    packed = folder / f"{name}.gz"
    if not path.exists() and not packed.exists():
        raise FileNotFoundError(f"there is neither {path} nor {packed}")
    with path.open("rb") if path.exists() else gzip.open(packed) as file:
        kind, axes = struct.unpack(">HBB", _exactly(file.read, 4, path))[1:]
        if kind != 8 or axes != (3 if "idx3" in name else 1):
            raise ValueError(f"{path} is not an idx file of bytes with the axes its name says")
        shape = struct.unpack(f">{axes}I", _exactly(file.read, 4 * axes, path))
        data = _exactly(file.read, prod(shape), path)
    return np.frombuffer(data, np.uint8).reshape(shape)


def _from_batches(path: Path) -> Images:
    if path.is_dir():
        parts = [(path / name).read_bytes() for name in BATCHES]
    else:
        with tarfile.open(path) as archive:  # read in place, nothing is unpacked
            parts = [_member(archive, f"cifar-10-batches-bin/{name}", path) for name in BATCHES]
    for name, part in zip(BATCHES, parts, strict=True):
        if not part or len(part) % RECORD:
            raise ValueError(f"{name} of {path} must be records of {RECORD} bytes; has {len(part)}")
    records = [np.frombuffer(part, np.uint8).reshape(-1, RECORD) for part in parts]
    pairs = [(r[:, 1:].reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1), r[:, 0]) for r in records]
    return _joined(path, pairs, training=sum(len(r) for r in records[:-1]))


def _member(archive: tarfile.TarFile, name: str, path: Path) -> bytes:
    try:
        file = archive.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise ValueError(f"{path} has no file {name}")
    return file.read()


def _exactly(read: Callable[[int], bytes], count: int, path: Path) -> bytes:
    data = read(count)
    if len(data) != count:
        raise ValueError(f"{path} ends too early: it may not have been copied whole")
    return data


def _joined(path: Path, pairs: list[tuple[np.ndarray, np.ndarray]], training: int) -> Images:
    """All parts as one array of 32 by 32 pixels with channels, once they fit together."""
    for X, y in pairs:
        if len(X) != len(y) or X.dtype != np.uint8 or X.shape[1:3] not in ((28, 28), (32, 32)):
            raise ValueError(
                f"{path} must hold bytes of 28 by 28 or 32 by 32 pixels with a label for each "
                f"image; it has {X.dtype} of shape {X.shape} and {len(y)} labels"
            )
        if y.max(initial=0) > 9:
            raise ValueError(f"{path} must have labels from 0 to 9, found {y.max()}")
    X = np.concatenate([X for X, _ in pairs])
    X = X[..., None] if X.ndim == 3 else X
    edge = (SIDE - X.shape[1]) // 2
    padded = np.pad(X, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    return Images(padded, np.concatenate([y for _, y in pairs]).astype(np.uint8), training)
