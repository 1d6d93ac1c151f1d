"""Reading model files, which runs nothing that is in them."""

from os import PathLike
from typing import Any

import numpy as np

from goodprior import storage
from goodprior.beliefs.spec import ParsedBelief
from goodprior.data.table.encode import Columns
from goodprior.estimators.classifier import BNNClassifier
from goodprior.estimators.files import FITTED
from goodprior.estimators.regressor import BNNRegressor

_CLASSES: dict[str, type[Any]] = {cls.__name__: cls for cls in (BNNRegressor, BNNClassifier)}


def load(path: str | PathLike[str], *, network: Any = None) -> Any:
    """Read what `save` wrote: a `BNNRegressor`, a `BNNClassifier` or a prior.

    A network of your own is not in the file: give it again as `network`. A file that is damaged,
    hostile or of another kind gives a `ValueError` and runs nothing.

    Parameters
    ----------
    path
        Of the file.
    network
        One of the same class and shapes as the network of your own, with any weights.

    Examples
    --------
    >>> import jax, tempfile
    >>> from goodprior import MLP, GaussianPrior, save
    >>> prior = GaussianPrior(MLP(1, (5,), 1, key=jax.random.key(0)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(prior, f"{folder}/prior.safetensors")
    ...     type(load(f"{folder}/prior.safetensors")).__name__
    'GaussianPrior'
    """
    content = storage.read(path, kind="model", network=network)
    try:
        if content["model"] == "prior":
            return content["prior"]
        model = _CLASSES[content["model"]](**content["settings"])
        for key, value in content["fitted"].items():
            if key not in FITTED:
                raise ValueError(f"unknown entry {key!r}")
            setattr(model, key, value)
        _read_columns(model)
        model.belief_ = ParsedBelief(*content["belief"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is no model file of goodprior: {error!r}") from error
    model.diagnostics_ = model._diagnose()
    return model


def _read_columns(model: Any) -> None:
    """How the columns of a table become numbers, from what the file says."""
    about = vars(model).get("columns_")
    if about is None:
        return
    model.columns_ = Columns.from_dict(about)
    if "targets" in about:  # written by version 0.2, where names were those of the numbers
        model.table_ = {"targets": about["targets"], "rows": about["rows"]}
        model.feature_names_in_ = np.array([each.name for each in model.columns_.columns], object)
        model.n_features_in_ = len(model.feature_names_in_)
