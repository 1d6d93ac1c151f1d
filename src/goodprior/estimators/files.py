"""Writing model files: fitted estimators and matched priors."""

from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from goodprior import storage
from goodprior.priors import Prior

ESTIMATORS = ("BNNRegressor", "BNNClassifier")
FITTED = (
    "posterior_",
    "prior_",
    "scaling_",
    "box_",
    "n_features_in_",
    "feature_names_in_",
    "classes_",
    "n_iter_",
    "columns_",
    "table_",
    "stopped_",
    "_vector",
)


def save(thing: Any, path: str | PathLike[str], table: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator, or a matched prior, to a `.safetensors` file.

    The file is replaced as a whole or not at all. Data are not in it, draws are.

    Parameters
    ----------
    thing
        A fitted `BNNRegressor` or `BNNClassifier`, or a prior.
    path
        Of the file.
    table
        About the training table, such as its `targets` and `rows`; the model that is read has it as
        `table_`.

    Examples
    --------
    >>> import jax, tempfile
    >>> from goodprior import MLP, GaussianPrior
    >>> prior = GaussianPrior(MLP(1, (5,), 1, key=jax.random.key(0)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(prior, f"{folder}/prior.safetensors")
    """
    if isinstance(thing, Prior):
        storage.write(path, {"model": "prior", "prior": thing}, kind="model")
        return
    name = type(thing).__name__
    if name not in ESTIMATORS:
        raise ValueError(f"only priors, {' and '.join(ESTIMATORS)} can be saved, not {name}")
    check_is_fitted(thing)
    fitted = {key: getattr(thing, key) for key in FITTED if hasattr(thing, key)}
    if (found := fitted.pop("columns_", None)) is not None:
        fitted["columns_"] = found.to_dict()
    if table is not None:
        fitted["table_"] = table
    for key in ("classes_", "feature_names_in_"):
        if key in fitted and fitted[key].dtype == object:
            fitted[key] = fitted[key].astype(str)
    parsed = thing.belief_  # type: ignore[attr-defined]
    content = {
        "model": name,
        "settings": {**thing.get_params(deep=False), "random_state": _plain_seed(thing)},
        "fitted": fitted,
        "belief": [parsed.belief, parsed.sentence],
    }
    storage.write(path, content, kind="model")


def _plain_seed(thing: Any) -> int | None:
    seed = thing.random_state
    return int(seed) if isinstance(seed, int | np.integer) else None
