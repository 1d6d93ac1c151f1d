"""The classifier: probabilities that know what they do not know."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from goodprior.beliefs.spec import Task
from goodprior.estimators.base import BNN
from goodprior.inference import Binary, Categorical, ClassPrediction, Likelihood
from goodprior.pipeline import Method, ObservationModel


class BNNClassifier(ClassifierMixin, BNN):
    """Bayesian neural network classification with a prior that says what functions are like.

    Labels may be numbers or text. The settings are those of `BNNRegressor`, without the noise and
    without the method `fbnn`, which is for regression; a belief is about the logits, and the
    default is `smooth`.

    X may be images, of shape (rows, height, width, channels), with `network` one of `lenet5`,
    `vgg16`, `preresnet20`, or any equinox module that takes one image.

    Examples
    --------
    >>> import numpy as np
    >>> from goodprior import SGHMC
    >>> X = np.linspace(-2, 2, 40)[:, None]
    >>> y = np.where(X[:, 0] > 0, "high", "low")
    >>> sampler = SGHMC(burn_in=50, thinning=20, batch_size=None)
    >>> model = BNNClassifier(hidden=(10,), method=sampler, chains=2, draws=5, random_state=0)
    >>> model = model.fit(X, y)
    >>> model.predict([[-2.0], [2.0]]).tolist(), model.predict_proba(X).shape
    (['low', 'high'], (40, 2))
    """

    TASK: ClassVar[Task] = "classification"

    def _likelihood_problems(self, method: Method | None) -> list[str]:
        likelihood = self.likelihood
        if isinstance(likelihood, str) and likelihood == "auto":
            likelihood = Binary()
        if isinstance(likelihood, Likelihood) and likelihood.is_classification:
            return [] if method is None else method.refuses_likelihood(likelihood)
        return [f"likelihood must be auto or one for classes, such as Binary(); got {likelihood!r}"]

    def _observation(self, targets: int, method: Method) -> ObservationModel:
        likelihood = self.likelihood
        if not isinstance(likelihood, Likelihood):
            classes = len(getattr(self, "classes_", (0, 1)))
            likelihood = Binary() if classes == 2 else Categorical(classes)
        return ObservationModel(likelihood, likelihood.outputs(1))

    def _targets(self, y: Any) -> np.ndarray:
        check_classification_targets(y)
        labels = column_or_1d(y, warn=True)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has only one class, {self.classes_[0]!r}: a classifier needs two or more"
            )
        return numbers

    def _known_targets(self, y: Any) -> np.ndarray:
        labels = column_or_1d(y)
        numbers = np.searchsorted(self.classes_, labels)
        numbers = np.minimum(numbers, len(self.classes_) - 1)
        unknown = self.classes_[numbers] != labels
        if unknown.any():
            found = sorted(set(labels[unknown].tolist()))
            raise ValueError(f"y has labels {found}, training had {self.classes_.tolist()}")
        return numbers

    def _prediction(self, X: Any) -> ClassPrediction:
        check_is_fitted(self, "posterior_")
        prediction = self.posterior_.predict(self._check_new(X))
        assert isinstance(prediction, ClassPrediction)
        return prediction

    def predict_distribution(self, X: Any) -> ClassPrediction:
        """The class probabilities of every posterior draw.

        Parameters
        ----------
        X
            New rows.
        """
        return self._prediction(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of `classes_`.

        Parameters
        ----------
        X
            New rows.
        """
        found = np.asarray(self._prediction(X).probabilities, np.float64)
        return found / found.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class.

        Parameters
        ----------
        X
            New rows.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_uncertainty(self, X: Any) -> dict[str, np.ndarray]:
        """The `entropy` of the probabilities in nats, and its `epistemic` part.

        More data could remove the latter (the mutual information).

        Parameters
        ----------
        X
            New rows.
        """
        prediction = self._prediction(X)
        return {
            "entropy": np.asarray(prediction.entropy, np.float64),
            "epistemic": np.asarray(prediction.mutual_information, np.float64),
        }

    def _functions(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.posterior_.functions(X), np.float64)

    def _target_number(self, target: Any) -> int:
        known = self.classes_.tolist()
        if target is None and len(known) == 2:
            return 1
        if target not in known:
            raise ValueError(f"target must be one of the classes {known}, got {target!r}")
        return known.index(target)

    def _target_draws(self, X: np.ndarray, number: int) -> np.ndarray:
        prediction = self.posterior_.predict(X)
        assert isinstance(prediction, ClassPrediction)
        return np.exp(np.asarray(prediction.log_probabilities, np.float64)[..., number])
