"""Several estimators on the same cross-validation folds: a table, a picture, a recommendation."""

from goodprior.comparison.compare import compare_models
from goodprior.comparison.differences import Difference
from goodprior.comparison.result import ModelComparison

__all__ = ["Difference", "ModelComparison", "compare_models"]
