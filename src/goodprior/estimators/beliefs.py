"""The belief that an estimator's settings name, fitted to the rows where it is to be."""

from typing import Any

import numpy as np

from goodprior.beliefs.from_rows import default_for_rows, fit_to_rows
from goodprior.beliefs.spec import ParsedBelief, parse_belief
from goodprior.estimators.validation import column_name
from goodprior.pipeline import Method, NetworkSpec
from goodprior.priors import is_matched


def belief_for(
    model: Any, X: np.ndarray, y: np.ndarray | None, method: Method, outputs: int
) -> ParsedBelief:
    """The belief about so many outputs; the rows are on their original scale.

    The default for numbers has columns that matter as much as the rows say, where there is an MLP
    whose prior is matched to it.
    """
    table = X.reshape(-1, X.shape[-1])  # of images: the pixels, with a column for each channel
    names = [column_name(model, i) for i in range(table.shape[1])]
    if isinstance(model.belief, str) and model.belief == "fit":
        return fit_to_rows(X, y, model.scaling_, names, task=model.TASK)
    matched = method.has_prior and isinstance(model.prior, str) and is_matched(model.prior)
    matched = matched and isinstance(model.network_spec(), NetworkSpec)
    regression = model.TASK == "regression" and y is not None and X.ndim == 2
    if model.belief is None and regression and matched:
        return default_for_rows(X, y, model.scaling_, names, outputs=outputs)
    return parse_belief(
        model.belief,
        model.scaling_,
        names,
        task=model.TASK,
        outputs=outputs,
        images=X.ndim == 4,
        dates=() if model.columns_ is None else model.columns_.dates,
    )
