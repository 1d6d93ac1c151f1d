"""The images of a job: how many of which set, to train on and to test on."""

from typing import TYPE_CHECKING, Any

from goodprior.studies.protocols.problems import Problem, image_problem

if TYPE_CHECKING:
    import numpy as np


def image_problem_and_test(
    settings: dict[str, Any],
) -> "tuple[Problem, np.ndarray, np.ndarray]":
    """The job's training images as a problem, and the test images with their labels.

    `rows` training images are drawn by the job's split, as many of each class; all that there are
    if there are not more. Of the test images the first `test_rows`, or all.
    """
    from goodprior.data import load

    X, y, X_test, y_test = load(settings["dataset"]).split(0)
    picked = balanced(y, settings["rows"], seed=settings["split"])
    some = slice(settings.get("test_rows"))
    return image_problem(X[picked], y[picked]), X_test[some], y_test[some]


def balanced(y: "np.ndarray", rows: int, seed: int) -> "np.ndarray":
    """So many row numbers, as many of each label; all, in their order, if there are not more.

    >>> import numpy as np
    >>> labels = np.arange(20) % 2
    >>> labels[balanced(labels, 10, seed=0)].sum()
    np.int64(5)
    """
    import numpy as np

    if rows >= len(y):
        return np.arange(len(y))
    rng = np.random.default_rng(seed)
    classes = np.unique(y)
    each = [rng.permutation(np.flatnonzero(y == c))[: rows // len(classes)] for c in classes]
    return np.sort(np.concatenate(each))
