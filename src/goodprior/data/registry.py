"""Named data sets: benchmarks from the folder that `GOODPRIOR_DATA` names, and scikit-learn's."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from goodprior.data.images import PLACES, find_images, read_images

REGRESSION = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine")
MORE_REGRESSION = ("airfoil", "autompg", "bike", "pendulum", "servo", "stock")  # not the paper's
CLASSIFICATION = ("eeg", "htru2", "magic", "letter", "miniboo", "drive", "mocap")
IMAGES = tuple(PLACES)
BUNDLED = ("breast_cancer", "diabetes", "digits", "iris")  # with scikit-learn


class Dataset(NamedTuple):
    """Rows with their targets.

    Attributes
    ----------
    name : str
        Of the set.
    X : ndarray
        Rows of a table, or images of 32 by 32 pixels with their channels, in bytes.
    y : ndarray
        Targets or labels.
    test_masks : ndarray or None
        A row for each published split, True for its test rows.
    """

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
    known = (*REGRESSION, *MORE_REGRESSION, *CLASSIFICATION, "banana", *IMAGES)
    if name not in known:
        every = ", ".join(sorted((*known, *BUNDLED)))
        raise ValueError(f"unknown data set {name!r}; known are {every}")
    place = f"{name}.npz" if name == "banana" else f"uci/{name}.npz"
    arrays = (
        "a NumPy archive with the arrays X (rows by columns), y and, where splits are published, "
        "test_mask (splits by rows)"
    )
    if name in IMAGES:
        place = " or ".join(PLACES[name])
        arrays = "original files, or a NumPy archive with x_train, y_train, x_test and y_test"
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(
            f"{name} is a benchmark file that is not shipped with goodprior: set the environment "
            f"variable GOODPRIOR_DATA to a folder that holds {place}, {arrays}"
        )
    if name in IMAGES:
        return find_images(name, folder)
    if not (folder / place).exists():
        raise FileNotFoundError(
            f"{name} is looked for at {folder / place}, and there is no such file"
        )
    return folder / place


def load(name: str) -> Dataset:
    """A named data set: a benchmark such as `boston`, or one that comes with scikit-learn.

    Of `mnist` and `cifar10`, split 0 is the published one; `notmnist` is for testing only.

    Parameters
    ----------
    name : str
        Of the set.

    Returns
    -------
    Dataset
        With its published splits, if there are any.

    Raises
    ------
    FileNotFoundError
        If the benchmark's file is not in the folder that `GOODPRIOR_DATA` names.

    Examples
    --------
    >>> load("diabetes").X.shape
    (442, 10)
    """
    if name in BUNDLED:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return Dataset(name, X, y)
    if name in IMAGES:
        X, y, training = read_images(name, file_of(name))
        masks = (np.arange(len(X)) >= training)[None] if training else None
        return Dataset(name, X, y, masks)
    with np.load(file_of(name), allow_pickle=False) as arrays:
        return Dataset(name, arrays["X"], arrays["y"], arrays.get("test_mask"))
