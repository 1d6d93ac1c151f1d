"""Named benchmark data sets, read from the folder that `GOODPRIOR_DATA` names."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

REGRESSION = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine")
CLASSIFICATION = ("eeg", "htru2", "magic", "letter", "miniboo", "drive", "mocap")


class Dataset(NamedTuple):
    """A table with its targets; `test_masks` marks the test rows of each published split."""

    name: str
    X: np.ndarray
    y: np.ndarray
    test_masks: np.ndarray | None = None

    def split(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """`X_train, y_train, X_test, y_test` of the k-th published split."""
        if self.test_masks is None:
            raise ValueError(f"{self.name} has no published splits")
        if not 0 <= k < len(self.test_masks):
            raise ValueError(f"{self.name} has splits 0 to {len(self.test_masks) - 1}, got {k}")
        test = self.test_masks[k]
        return self.X[~test], self.y[~test], self.X[test], self.y[test]


def data_folder() -> Path | None:
    """The folder with the benchmark files, or None if `GOODPRIOR_DATA` does not name one."""
    folder = os.environ.get("GOODPRIOR_DATA")
    return Path(folder) if folder else None


def file_of(name: str) -> Path:
    """Where the file of a named benchmark set is, or an error that says where it should be."""
    known = (*REGRESSION, *CLASSIFICATION, "banana")
    if name not in known:
        raise ValueError(f"unknown data set {name!r}; known are {', '.join(sorted(known))}")
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(
            f"{name} is a benchmark file that is not shipped with goodprior: set the environment "
            "variable GOODPRIOR_DATA to the folder that holds it"
        )
    path = folder / f"{name}.npz" if name == "banana" else folder / "uci" / f"{name}.npz"
    if not path.exists():
        raise FileNotFoundError(f"{name} is looked for at {path}, and there is no such file")
    return path


def load(name: str) -> Dataset:
    """A named benchmark set, such as `boston` or `banana`."""
    with np.load(file_of(name), allow_pickle=False) as arrays:
        return Dataset(name, arrays["X"], arrays["y"], arrays.get("test_mask"))
