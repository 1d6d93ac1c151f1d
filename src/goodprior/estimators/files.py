"""Model files: fitted estimators and matched priors, safe to open."""

from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from goodprior import storage
from goodprior.beliefs.spec import ParsedBelief
from goodprior.estimators.classifier import BNNClassifier
from goodprior.estimators.regressor import BNNRegressor
from goodprior.pipeline.sampling import diagnosed
from goodprior.priors import Prior

ESTIMATORS: dict[str, type[Any]] = {
    "BNNRegressor": BNNRegressor,
    "BNNClassifier": BNNClassifier,
}
_FITTED = (
    "posterior_",
    "prior_",
    "scaling_",
    "box_",
    "n_features_in_",
    "feature_names_in_",
    "classes_",
    "n_iter_",
    "columns_",
    "stopped_",
    "_vector",
)


def save(thing: Any, path: str | PathLike[str]) -> None:
    """Write a fitted estimator, or a matched prior, to a `.safetensors` file.

    The file is replaced as a whole or not at all. Data are not in it, draws are.
    """
    if isinstance(thing, Prior):
        storage.write(path, {"model": "prior", "prior": thing}, kind="model")
        return
    name = type(thing).__name__
    if name not in ESTIMATORS:
        raise ValueError(f"only priors, {' and '.join(ESTIMATORS)} can be saved, not {name}")
    check_is_fitted(thing)
    fitted = {key: getattr(thing, key) for key in _FITTED if hasattr(thing, key)}
    for key in ("classes_", "feature_names_in_"):
        if key in fitted and fitted[key].dtype == object:
            fitted[key] = fitted[key].astype(str)
    understood = thing.belief_  # type: ignore[attr-defined]
    content = {
        "model": name,
        "settings": {**thing.get_params(deep=False), "random_state": _plain_seed(thing)},
        "fitted": fitted,
        "belief": [understood.belief, understood.sentence],
    }
    storage.write(path, content, kind="model")


def _plain_seed(thing: Any) -> int | None:
    seed = thing.random_state
    return int(seed) if isinstance(seed, int | np.integer) else None


def load(path: str | PathLike[str], *, network: Any = None) -> Any:
    """Read what `save` wrote: a `BNNRegressor`, a `BNNClassifier` or a prior.

    A network of your own is not in the file: give it again as `network`. A file that is damaged,
    hostile or of another kind gives a `ValueError` and runs nothing.
    """
    content = storage.read(path, kind="model", network=network)
    try:
        if content["model"] == "prior":
            return content["prior"]
        model = ESTIMATORS[content["model"]](**content["settings"])
        for key, value in content["fitted"].items():
            if key not in _FITTED:
                raise ValueError(f"unknown entry {key!r}")
            setattr(model, key, value)
        model.belief_ = ParsedBelief(*content["belief"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is no model file of goodprior: {error!r}") from error
    model.diagnostics_ = diagnosed(getattr(model, "posterior_", None))
    return model
