"""The scikit-learn front door: `BNNRegressor` and `BNNClassifier`.

A short composition of `match` and `sample_posterior`, for people with a table and a question.
"""

from goodprior.estimators.classifier import BNNClassifier
from goodprior.estimators.files import load, save
from goodprior.estimators.regressor import BNNRegressor

__all__ = ["BNNClassifier", "BNNRegressor", "load", "save"]
