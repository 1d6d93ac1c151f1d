"""The regressor: numbers with error bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from goodprior import checks
from goodprior.beliefs.spec import Task
from goodprior.estimators.base import BNN
from goodprior.inference import Gaussian, Heteroscedastic, Likelihood, Prediction, StudentT
from goodprior.inference.predictive import Of
from goodprior.pipeline.problem import Model
from goodprior.priors import LearnedNoise, Prior
from goodprior.priors.learned_noise import (
    LEAST_NOISE_VARIANCE,
    NOISE_VARIANCE,
    log_noise_belief,
)

LIKELIHOODS = ("auto", "gaussian", "heteroscedastic", "student-t")


@dataclass(eq=False, repr=False, kw_only=True)
class BNNRegressor(MultiOutputMixin, RegressorMixin, BNN):
    """Bayesian neural network regression with a prior that says what functions are like.

    prior: `gpi-g`, `gpi-h` or `gpi-nf`, matched to the belief; `fg` or `fh`, not matched; or a
    prior object, such as the `prior_` of another estimator.
    belief: what functions are like: `smooth` (the default), `rough`, `periodic`, a table such as
    `{"lengthscale": {"age": 10}, "amplitude": 3}` in the columns' and the target's units, or a
    belief object in standard units.
    method: `sghmc` or `nuts` sample the posterior. Others approximate it: `laplace`, a Gaussian
    around the mode, for the priors `fg` and `gpi-g`; `fbnn`, variational functions under a belief
    with a density (None fits one to the rows), without a prior over weights; `ensemble`, as many
    networks as `chains`, without prior or belief; `map`, one network, with no error bars of the
    function. They take no notice of the sampler's settings but `chains` and `draws`.
    likelihood: `heteroscedastic` (noise that is learned and depends on the inputs, the default
    `auto` of most methods), `gaussian` (that of `laplace` and `fbnn`), `student-t`, or a likelihood
    object.
    noise_variance: of standardised targets for the latter two, or `auto` to learn it.
    chains, burn_in, draws (per chain), thinning, batch_size, step_size, momentum_decay,
    temperature: of the sampler; `auto` uses all rows in each step for small tables.
    start: chains start near a `mode`, or at draws of the `prior`.
    budget: seconds after which sampling ends with what there is.
    hidden, activation: of the network; or `network`, any equinox module.

    >>> import numpy as np
    >>> X = np.linspace(-2, 2, 40)[:, None]
    >>> model = BNNRegressor(hidden=(10,), chains=2, burn_in=50, draws=5, thinning=20,
    ...                      random_state=0).fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict(X, return_std=True)
    >>> mean.shape, bool((std > 0).all())
    ((40,), True)
    """

    TASK: ClassVar[Task] = "regression"

    noise_variance: Any = "auto"

    def _model(self, targets: int) -> Model:
        if isinstance(self.likelihood, Likelihood):
            return Model(self.likelihood, targets)
        kind = checks.one_of("likelihood", self.likelihood, LIKELIHOODS)
        known_form = self.method in ("laplace", "fbnn")
        if kind == "auto" and known_form:
            kind = "gaussian"
        if self.noise_variance != "auto":
            variance = checks.positive("noise_variance", self.noise_variance)
            if kind == "heteroscedastic":
                raise ValueError("a heteroscedastic noise is learned: noise_variance must be auto")
            if kind == "student-t":
                return Model(StudentT(variance**0.5), targets)
            return Model(Gaussian(variance), targets)
        if kind == "student-t":
            raise ValueError("a student-t noise needs a noise_variance: it is not learned")
        if kind == "gaussian" and known_form:
            return Model(Gaussian(exp(NOISE_VARIANCE.location)), targets, learn_noise=True)
        if kind == "gaussian":
            return Model(
                Heteroscedastic(LEAST_NOISE_VARIANCE), targets, wrap=_LearnedNoise(targets)
            )
        likelihood = Heteroscedastic(LEAST_NOISE_VARIANCE, exp(NOISE_VARIANCE.location))
        return Model(likelihood, targets, noise=log_noise_belief(self.n_features_in_, targets))

    def _targets(self, y: Any) -> np.ndarray:
        numbers = self._known_targets(y)
        self._vector = numbers.ndim == 1
        return numbers

    def _known_targets(self, y: Any) -> np.ndarray:
        return check_array(y, dtype="float64", ensure_2d=False, input_name="y")

    def _shape(self, values: Any, axis: int = -1) -> np.ndarray:
        """Numbers as wide as `y` was: one target has no axis of its own."""
        array = np.asarray(values, np.float64)
        return np.asarray(array.take(0, axis=axis)) if self._vector else array

    def _prediction(self, X: Any) -> Prediction:
        check_is_fitted(self, "posterior_")
        prediction = self.posterior_.predict(self._check_new(X))
        assert isinstance(prediction, Prediction)
        return prediction

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The predictive mean, and the standard deviation of an observation: function and noise."""
        prediction = self._prediction(X)
        mean = self._shape(prediction.mean)
        return (mean, self._shape(prediction.std)) if return_std else mean

    def predict_quantiles(
        self, X: Any, levels: Sequence[float] = (0.05, 0.5, 0.95), of: Of = "observation"
    ) -> np.ndarray:
        """Quantiles of an observation, or of the function: (levels, rows)."""
        return self._shape(self._prediction(X).quantiles(list(levels), of))

    def predict_interval(
        self, X: Any, level: float = 0.95, of: Of = "observation"
    ) -> tuple[np.ndarray, np.ndarray]:
        """The central interval that holds an observation, or the function, so often."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}")
        low, high = self._prediction(X).interval(level, of)
        return self._shape(low), self._shape(high)

    def _functions(self, X: np.ndarray) -> np.ndarray:
        prediction = self.posterior_.likelihood.predict(self.posterior_.functions(X))
        assert isinstance(prediction, Prediction)
        return self._shape(prediction.rescale(self.scaling_.y_mean, self.scaling_.y_std).location)


class _LearnedNoise:
    """Puts a learned noise level beside a prior."""

    def __init__(self, targets: int):
        self.targets = targets

    def __call__(self, prior: Prior) -> Prior:
        return LearnedNoise(prior, NOISE_VARIANCE, self.targets)
