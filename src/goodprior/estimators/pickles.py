"""Estimators as pickles: which rows they carry, and which version wrote them."""

import warnings
from typing import Any

import goodprior


class Pickles:
    """What scikit-learn, joblib and Dask do with an estimator between processes."""

    keep_rows: Any

    def __getstate__(self) -> dict[str, Any]:
        """A pickle does not carry the training rows, unless `keep_rows` asks for it."""
        state: dict[str, Any] = {**super().__getstate__()}  # type: ignore[dict-item]
        state["_goodprior_version"] = goodprior.__version__
        if not self.keep_rows:
            state.pop("_continuation", None)
            state.pop("_matched", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Say so where another version wrote the pickle: it may lack what this one needs."""
        writer = state.pop("_goodprior_version", "an older version")
        if writer != goodprior.__version__:
            warnings.warn(
                f"this pickle was written by goodprior {writer} and is read by "
                f"{goodprior.__version__}, which may not know all that is in it: where something "
                "fails, read it with that version, save it with model.save(...) and fit it again "
                "if that file cannot be read either",
                UserWarning,
                stacklevel=2,
            )
        super().__setstate__(state)  # type: ignore[misc]
