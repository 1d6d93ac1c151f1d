"""The constructor that both estimators share: each field is an argument with its default."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.base import BaseEstimator


@dataclass(eq=False, repr=False)  # equality and the way it is printed are scikit-learn's
class Settings(BaseEstimator):
    """What `BNNRegressor` and `BNNClassifier` share; the former says what each is for."""

    prior: Any = "gpi-g"
    _: KW_ONLY
    belief: Any = None
    method: Any = "sghmc"
    hidden: Any = (50, 50)
    activation: Any = "tanh"
    network: Any = None
    likelihood: Any = "auto"
    temperature: Any = 1.0
    distance: Any = "energy"
    match_schedule: Any = None
    chains: Any = 8
    burn_in: Any = 1500
    draws: Any = 25
    thinning: Any = 200
    batch_size: Any = "auto"
    step_size: Any = "auto"
    momentum_decay: Any = "auto"
    start: Any = "mode"
    budget: Any = None
    random_state: Any = None
    verbose: Any = 0
