"""The data of a job: training rows or images as a problem, and what to test on (imports JAX)."""

import numpy as np

from goodprior.pipeline import Problem
from goodprior.studies.engine.study import Settings
from goodprior.studies.protocols import tables
from goodprior.studies.protocols.problems import (
    classification_problem,
    image_problem,
    regression_problem,
)


def problem_and_test(settings: Settings) -> tuple[Problem, np.ndarray, np.ndarray]:
    """The training rows of the job's split as a problem, and the test rows `X, y`."""
    dataset, split = settings["dataset"], settings["split"]
    if "network" in settings:
        return image_problem_and_test(settings)
    if dataset in tables.NOISE_VARIANCE:
        X, y, X_test, y_test = regression_split(dataset, split)
        noise_variance = settings.get("noise_variance", tables.NOISE_VARIANCE[dataset])
        return regression_problem(X, y, noise_variance, settings), X_test, y_test
    X, y, X_test, y_test = classification_split(dataset, split)
    return (
        classification_problem(X, y, tables.CLASSES.get(dataset, 2), settings),
        X_test,
        y_test,
    )


def regression_split(dataset: str, split: int) -> tuple[np.ndarray, ...]:
    """`X, y, X_test, y_test` of a published split."""
    from goodprior.data import load

    return load(dataset).split(split)


def classification_split(dataset: str, split: int) -> tuple[np.ndarray, ...]:
    """`X, y, X_test, y_test`, drawn with the split's number as the seed."""
    from goodprior.data import load
    from goodprior.data.splits import random_parts

    data = load(dataset)
    train, test = random_parts(len(data.X), tables.SIZES[dataset], seed=split)
    return data.X[train], data.y[train], data.X[test], data.y[test]


def image_problem_and_test(settings: Settings) -> tuple[Problem, np.ndarray, np.ndarray]:
    """The job's training images as a problem, and the test images with their labels.

    `rows` training images are drawn by the job's split, as many of each class; all that there are
    if there are not more. Of the test images the first `test_rows`, or all.
    """
    from goodprior.data import load

    X, y, X_test, y_test = load(settings["dataset"]).split(0)
    picked = balanced(y, settings["rows"], seed=settings["split"])
    some = slice(settings.get("test_rows"))
    return image_problem(X[picked], y[picked], settings), X_test[some], y_test[some]


def balanced(y: np.ndarray, rows: int, seed: int) -> np.ndarray:
    """So many row numbers, as many of each label; all, in their order, if there are not more.

    >>> labels = np.arange(20) % 2
    >>> labels[balanced(labels, 10, seed=0)].sum()
    np.int64(5)
    """
    if rows >= len(y):
        return np.arange(len(y))
    rng = np.random.default_rng(seed)
    classes = np.unique(y)
    each = [rng.permutation(np.flatnonzero(y == c))[: rows // len(classes)] for c in classes]
    return np.sort(np.concatenate(each))
