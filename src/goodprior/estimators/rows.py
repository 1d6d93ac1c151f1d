"""Rows as people have them, as the numbers that estimators work with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from goodprior.beliefs.spec import Task
from goodprior.data.scaling import Scaling
from goodprior.data.table.encode import Columns
from goodprior.data.table.errors import TableError
from goodprior.data.table.frames import as_frame
from goodprior.estimators.validation import is_all_numbers, refuse_bad_columns, warn_if_far

MOST_DENSE = 50_000_000  # numbers of a sparse matrix that is made dense: 400 MB
_ARGUMENTS = {"target": "y", "drop": "X.drop(columns=...)", "impute": 'encode="impute"'}

Numbers = Float[np.ndarray, "rows ..."]


class Rows:
    """From the X that estimators are given to numbers, and how that was done."""

    TASK: ClassVar[Task]
    encode: Any
    scaling_: Scaling
    box_: np.ndarray
    columns_: Columns | None = None
    n_features_in_: int
    feature_names_in_: np.ndarray

    def _read_training(self, X: Any, y: Any = "no_validation", **checks: Any) -> Any:
        """The rows as numbers (and y, if it is given), once they are known to be fit for work.

        What was learned of the columns of a table stays in `columns_`.
        """
        checks = {"y": y, "dtype": np.float64, "allow_nd": True, **checks}
        frame = self._table_to_encode(X)
        self.columns_ = None
        if frame is None:
            refuse_bad_columns(X)
            return validate_data(self, _dense(X), **checks)
        names = [str(name) for name in frame.columns]
        with _arguments_of_estimators():
            self.columns_, matrix = Columns.fit_transform(frame, impute=self.encode == "impute")
        checked = validate_data(self, matrix, **checks)  # type: ignore[arg-type]
        self.n_features_in_ = len(names)
        if as_frame(X) is not None:
            self.feature_names_in_ = np.array(names, object)
        return checked

    def _table_to_encode(self, X: Any) -> pd.DataFrame | None:
        """The table, if its columns are to be encoded."""
        encode = self.encode
        if encode is False:
            return None
        frame = as_frame(X)
        if encode == "auto":
            return None if frame is None or is_all_numbers(frame) else frame
        if frame is None and np.ndim(X) == 2 and not sparse.issparse(X):
            return _named(np.asarray(X))
        return frame

    def _check_new(self, X: Any) -> Numbers:
        """New rows as numbers, as the training rows were."""
        if self.columns_ is None:
            refuse_bad_columns(X)
            rows: Any = validate_data(self, _dense(X), dtype=np.float64, reset=False, allow_nd=True)
        else:
            rows = self._encode_new(X, self.columns_)
        warn_if_far(self, rows)
        return rows

    def _encode_new(self, X: Any, columns: Columns) -> Numbers:
        frame, names = as_frame(X), [column.name for column in columns.columns]
        if frame is None:
            array = np.asarray(_dense(X))
            if array.ndim != 2 or array.shape[1] != self.n_features_in_ or self._has_names:
                return check_array(_inputs_alone(array, columns), dtype="float64")
            frame = _named(array)
        given = {str(name) for name in frame.columns}
        if not given.issuperset(names) and given.issuperset(columns.names):
            return check_array(frame.rename(columns=str)[columns.names], dtype="float64")
        with _arguments_of_estimators():
            return columns.matrix(frame)

    @property
    def _has_names(self) -> bool:
        return hasattr(self, "feature_names_in_")


def _named(array: np.ndarray) -> pd.DataFrame:
    """An array as a table, whose columns are called by their numbers."""
    names = [f"column {i}" for i in range(array.shape[1])]
    return pd.DataFrame(array, columns=names).infer_objects()


def _inputs_alone(array: np.ndarray, columns: Columns) -> np.ndarray:
    """An array that holds the numbers that columns become."""
    if array.ndim != 2 or array.shape[1] != len(columns.names):
        raise ValueError(
            f"X has the shape {array.shape}; the model was fitted to a table with columns "
            f"{', '.join(column.name for column in columns.columns[:8])}: give one with these names"
        )
    return array


def _dense(X: Any) -> Any:
    """A sparse matrix as an array; anything else as it is."""
    if not sparse.issparse(X):
        return X
    if (size := X.shape[0] * X.shape[1]) > MOST_DENSE:
        raise ValueError(
            f"X is sparse, with {X.shape[0]:,} rows and {X.shape[1]:,} columns: {size:,} numbers, "
            f"and at most {MOST_DENSE:,} are made dense; select columns, or reduce them with "
            "sklearn.decomposition.TruncatedSVD"
        )
    return X.toarray()


@contextmanager
def _arguments_of_estimators() -> Iterator[None]:
    """Errors about tables name what users of estimators can set."""
    try:
        yield
    except TableError as error:
        raise error.with_names(_ARGUMENTS) from None
