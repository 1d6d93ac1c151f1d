"""The regressor: numbers with error bars."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from goodprior import checks
from goodprior.beliefs.spec import Task
from goodprior.estimators.base import BNN
from goodprior.estimators.known_noise import noise_table, with_known_noise, with_noise_of_rows
from goodprior.estimators.validation import input_count
from goodprior.evaluation.loo import LOO
from goodprior.inference import Likelihood, Prediction
from goodprior.inference.predictive import Of, thresholds
from goodprior.pipeline import Method, ObservationModel, Problem
from goodprior.pipeline.observation import regression_model, regression_problems


@dataclass(eq=False, repr=False, kw_only=True)
class BNNRegressor(MultiOutputMixin, RegressorMixin, BNN):
    """Bayesian neural network regression with a prior that says what functions are like.

    Parameters
    ----------
    prior
        `gpi-g`, `gpi-h` or `gpi-nf` (Gaussian, hierarchical, normalising flow), matched to the
        belief; `fg` or `fh` (fixed Gaussian, fixed hierarchical), not matched; or a prior object,
        such as the `prior_` of another estimator.
    belief
        What functions are like: by default smooth, over lengths that are to each other as the rows
        say (it has then seen the targets); `smooth`, the same over all columns, `rough`, `trend`,
        a table such as `{"lengthscale": {"age": 10}, "amplitude": 3}` in the columns' and the
        target's units, a list of such words and tables, which are added, `fit` to fit one to the
        rows (it has then seen the targets), or a belief object in standard units.
    method
        A name or an object with settings of its own. `mclmc`, `MCLMC(...)`, `sghmc`, `SGHMC(...)`,
        and `nuts`, `NUTS(...)`, sample the posterior; the first integrates the last layer out where
        the noise is Gaussian, or Student-t and learned, and is what `auto` takes where that can be
        done. Others
        approximate it: `laplace`, `Laplace(...)`, a Gaussian around the mode, for the priors `fg`
        and `gpi-g`; `fbnn`, `FBNN(...)`, variational functions under a belief with a density (None
        fits one to the rows), without a prior over weights; `ensemble`, `Ensemble(...)`, several
        networks without prior or belief; `map`, `MAP(...)`, one network, with no error bars of the
        function.
    hidden, activation
        Widths and activation of an MLP, whose prior is matched to the belief in steps. By default
        (None) the network is chosen for the belief: one hidden layer of sines and cosines with a
        prior in closed form where the belief allows it, otherwise an MLP with two layers of 50.
    network
        Any equinox module instead.
    likelihood
        `heteroscedastic-t` (Student-t noise whose scale is learned and depends on the inputs, the
        default `auto` of samplers), `heteroscedastic` (Gaussian noise, that of other methods),
        `gaussian` (that of `laplace` and `fbnn`), `student-t`, or a likelihood object.
    noise_variance
        Of standardised targets for `gaussian` and `student-t`, or `auto` to learn it.
    distance
        By which the prior is matched: `energy`, or `wasserstein`, the paper's critic.
    match_schedule
        A `MatchSchedule`: steps and draws of the match (None: the distance's own).
    chains, draws
        How many chains, and draws of each (None: the method's own numbers).
    rhat, ess
        Of draws that are to be trusted, over function values and noise. Where `draws` is None,
        samplers go on in ever longer runs until R-hat is at most `rhat` and the effective sample
        size at least `ess`, or until `budget` ends it, or a limit on the work. `fit` warns where
        draws have not got there.
    temperature
        Of the posterior.
    budget
        Seconds after which the fit ends with what there is, whatever the method.
    encode
        What becomes of the columns of a table (a DataFrame of pandas or polars). `auto`: where any
        is not numbers they become so, as `goodprior fit` does it, which `columns_` describes: text
        as categories, dates as days, true and false as 1 and 0; without columns that have the same
        value in every row. `True`: also where all are numbers. `impute`: the same, and missing
        values become medians and most frequent values. `False`: all columns must be numbers.
    keep_rows
        Whether a pickle carries the training rows, which `sample_more` needs.
    random_state
        Seed of all random numbers.
    verbose
        Whether progress is shown.

    Examples
    --------
    >>> import numpy as np
    >>> from goodprior import SGHMC
    >>> X = np.linspace(-2, 2, 40)[:, None]
    >>> sampler = SGHMC(burn_in=50, thinning=20, batch_size=None)
    >>> model = BNNRegressor(hidden=(10,), method=sampler, chains=2, draws=5, random_state=0)
    >>> mean, std = model.fit(X, np.sin(X[:, 0])).predict(X, return_std=True)
    >>> mean.shape, bool((std > 0).all())
    ((40,), True)
    """

    TASK: ClassVar[Task] = "regression"

    noise_variance: Any = "auto"

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        noise_std: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> "BNNRegressor":
        """Match the prior to the belief, then sample the posterior (or what `method` says).

        Parameters
        ----------
        X, y
            Training rows (an array or a DataFrame) and targets.
        sample_weight
            How often each row counts.
        noise_std
            The standard deviation of each row's noise, in the target's units, where it is known:
            no noise is learned then (None: it is, or as `likelihood` says).
        checkpoint
            A folder. A fit that was killed goes on from there when it is started again with the
            same data and settings, and ends with the same draws. With more `draws` or another
            `budget` it goes on as well; with fewer, all draws that were kept are used.

        Returns
        -------
        The estimator itself.
        """
        self._noise = None
        if noise_std is not None:
            if self.likelihood not in ("auto", "gaussian") or self.noise_variance != "auto":
                raise ValueError(
                    "noise_std says what the noise of each row is: leave likelihood and "
                    "noise_variance out"
                )
            targets = np.shape(y)[1] if np.ndim(y) > 1 else 1
            self._noise = noise_table(noise_std, len(np.asarray(y)), targets)
        try:
            return super().fit(X, y, sample_weight, checkpoint=checkpoint)
        finally:
            self._noise = None

    def _problem(
        self, X: np.ndarray, y: np.ndarray | None, method: Method, **given: Any
    ) -> Problem:
        problem = super()._problem(X, y, method, **given)
        if self._noise is not None:
            return with_known_noise(problem, self._noise)
        return problem if isinstance(self.likelihood, Likelihood) else problem.with_rounding()

    def _likelihood_problems(self, method: Method | None) -> list[str]:
        default = "heteroscedastic" if method is None else method.likelihood
        found = regression_problems(self.likelihood, self.noise_variance, default)
        if found or method is None:
            return found
        return method.refuses_likelihood(self._observation(1, method, inputs=1).likelihood)

    def _observation(
        self, targets: int, method: Method, inputs: int | None = None
    ) -> ObservationModel:
        return regression_model(
            self.likelihood,
            self.noise_variance,
            targets=targets,
            inputs=input_count(self) if inputs is None else inputs,
            default=method.likelihood,
            constant_noise=method.constant_noise,
        )

    def _targets(self, y: Any) -> np.ndarray:
        numbers = self._known_targets(y)
        self._vector = numbers.ndim == 1
        if (constant := np.ptp(numbers.reshape(len(numbers), -1), axis=0) == 0).any():
            of = "y" if self._vector else f"column {int(constant.argmax())} of y"
            value = numbers.reshape(len(numbers), -1)[0, constant.argmax()]
            warnings.warn(
                f"{of} is {value:g} in every row: there is nothing to learn from it",
                UserWarning,
                stacklevel=3,
            )
        return numbers

    def _known_targets(self, y: Any) -> np.ndarray:
        return check_array(y, dtype="float64", ensure_2d=False, input_name="y")

    def _shape(self, values: Any, axis: int = -1) -> np.ndarray:
        """Numbers as wide as `y` was: one target has no axis of its own."""
        array = np.asarray(values, np.float64)
        return np.asarray(array.take(0, axis=axis)) if self._vector else array

    def _prediction(self, X: Any, noise_std: Any = None) -> Prediction:
        check_is_fitted(self, "posterior_")
        prediction = self.posterior_.predict(self._check_new(X))
        assert isinstance(prediction, Prediction)
        if noise_std is None:
            return prediction
        return with_noise_of_rows(prediction, self.posterior_.likelihood, noise_std)

    def predict_distribution(self, X: Any, *, noise_std: Any = None) -> Prediction:
        """The whole predictive distribution: a mixture with one component per posterior draw.

        Means, deviations, intervals, quantiles and probabilities are all of this one mixture.

        Parameters
        ----------
        X
            New rows.
        noise_std
            Of each row's observation, where `fit` was given that of the training rows (None: the
            root mean square of those).
        """
        return self._prediction(X, noise_std)

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
        low, high = self._prediction(X).interval(checks.fraction("level", level), of)
        return self._shape(low), self._shape(high)

    def predict_probability(
        self,
        X: Any,
        *,
        above: float | None = None,
        below: float | None = None,
        of: Of = "observation",
        noise_std: Any = None,
    ) -> np.ndarray:
        """The probability that an observation, or the function, is above and below thresholds.

        Parameters
        ----------
        X
            New rows.
        above, below
            One of them, or both: then the probability of lying between.
        of
            `observation`, with its noise, or `function`.
        noise_std
            As in `predict_distribution`.
        """
        thresholds(above, below)  # refused before any work
        found = self._prediction(X, noise_std).probability(above=above, below=below, of=of)
        return self._shape(found)

    def loo(self, X: Any = None, y: Any = None, *, noise_std: Any = None) -> LOO:
        """PSIS-LOO on the training rows: the expected log density of new rows, with its error.

        Parameters
        ----------
        X, y
            The training rows.
        noise_std
            Their noise, if `fit` was given it.
        """
        if noise_std is not None:
            numbers = self._known_targets(y).reshape(len(X), -1)
            y = np.concatenate([numbers, noise_table(noise_std, *numbers.shape)], axis=1)
        return super().loo(X, y)

    def _functions(self, X: np.ndarray) -> np.ndarray:
        prediction = self.posterior_.likelihood.predict(self.posterior_.functions(X))
        assert isinstance(prediction, Prediction)
        return self._shape(prediction.rescale(self.scaling_.y_mean, self.scaling_.y_std).functions)

    def _target_number(self, target: Any) -> int:
        count = 1 if self._vector else len(self.scaling_.y_std)
        number = 0 if target is None and count == 1 else target
        if not (isinstance(number, int | np.integer) and 0 <= number < count):
            known = f"{count} target{'s' * (count > 1)}"
            raise ValueError(
                f"y had {known} in training: target must be a whole number from 0 to {count - 1}, "
                f"got {target!r}"
            )
        return int(number)

    def _target_draws(self, X: np.ndarray, number: int) -> np.ndarray:
        values = self._functions(X)
        return values.reshape(*values.shape[:2], -1)[..., number]
