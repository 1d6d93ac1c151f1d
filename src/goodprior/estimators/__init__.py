"""The scikit-learn front door: `BNNRegressor` and `BNNClassifier`.

For people with a table and a question: they validate, build a `Problem` and read a `Fit`.
"""

from goodprior.estimators.classifier import BNNClassifier
from goodprior.estimators.explain import PartialDependence
from goodprior.estimators.files import save
from goodprior.estimators.load import load
from goodprior.estimators.regressor import BNNRegressor
from goodprior.estimators.relevance import Relevance

__all__ = [
    "BNNClassifier",
    "BNNRegressor",
    "PartialDependence",
    "Relevance",
    "load",
    "save",
]
