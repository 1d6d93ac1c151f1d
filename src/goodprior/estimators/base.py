"""What regressor and classifier share: they validate, build a `Problem` and read a `Fit`."""

import sys
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from os import PathLike
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np
from jaxtyping import PRNGKeyArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from goodprior import checks, devices
from goodprior.beliefs.from_rows import fitted_to_rows
from goodprior.beliefs.spec import amplitudes_of
from goodprior.data.scaling import Scaling
from goodprior.estimators.beliefs import belief_for
from goodprior.estimators.explain import Explanations
from goodprior.estimators.pickles import Pickles
from goodprior.estimators.prior_draws import Matched, PriorDraws
from goodprior.estimators.settings import Settings, refuse
from goodprior.matching.match import History
from goodprior.pipeline import (
    Fit,
    Hooks,
    Method,
    ObservationModel,
    Problem,
    Target,
    fit_posterior,
    fit_prior,
)
from goodprior.pipeline.checkpoint import Checkpoint
from goodprior.pipeline.deadline import Deadline
from goodprior.priors import Prior, is_matched

Fitted = TypeVar("Fitted", bound="BNN")


class _Continuation(NamedTuple):
    """What `sample_more` goes on with; it holds the training rows."""

    problem: Problem
    method: Method
    fit: Fit
    key: PRNGKeyArray


class BNN(PriorDraws, Explanations, Pickles, Settings):
    """The course of a fit; `BNNRegressor` and `BNNClassifier` say the rest."""

    history_: History
    prior_: Prior
    _continuation: _Continuation | None = None
    _noise: np.ndarray | None = None  # of each row, where it is known, while `fit` runs

    @abstractmethod
    def _observation(self, targets: int, method: Method) -> ObservationModel:
        """The likelihood that the settings name."""

    @abstractmethod
    def _targets(self, y: Any) -> np.ndarray:
        """Targets in numbers, once they are known to be fit for the task."""

    def fit(
        self: Fitted,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Fitted:
        """Match the prior to the belief, then sample the posterior (or what `method` says).

        Parameters
        ----------
        X, y
            Training rows (an array, or a table whose columns are encoded as `encode` says) and
            targets.
        sample_weight
            How often each row counts.
        checkpoint
            A folder. A fit that was killed goes on from there when it is started again with the
            same data and settings, and ends with the same draws. With more `draws` or another
            `budget` it goes on as well; with fewer, all draws that were kept are used.

        Returns
        -------
        The estimator itself.
        """
        method = self.check_settings(sample_weight=sample_weight)
        devices.prepare()  # before the problem is built: that computes with JAX
        deadline = Deadline(self.budget, say=bool(self.verbose))
        X, y = self._read_training(X, y, multi_output=True, ensure_min_samples=2)
        numbers = self._targets(y)
        row_weights = None if sample_weight is None else np.asarray(sample_weight, float)
        problem = self._problem(X, numbers, method, row_weights=row_weights)
        refuse(method.refuses(problem))
        if self.verbose and method.has_prior and is_matched(self.prior):
            print(f"belief: {self.belief_}", file=sys.stderr)
        keep = Checkpoint(checkpoint)
        arrays = (X, numbers, row_weights, *(() if self._noise is None else (self._noise,)))
        with keep.held(), deadline:
            seed = keep.claim(self._seed(), self.get_params(deep=False), *arrays)
            key = jax.random.key(seed)
            fit = fit_posterior(
                problem,
                method,
                key=key,
                chains=self.chains,
                draws=self.draws,
                target=Target(float(self.rhat), float(self.ess)),
                temperature=self.temperature,
                hooks=Hooks(bool(self.verbose), keep, deadline, announce=True),
            )
        self._read(fit, problem)
        self._remember_match(problem, key, fit.history)
        self._continuation = _Continuation(problem, method, fit, key)
        if self.verbose and self._matched is not None:
            for text in self.match_report_.warnings:
                warnings.warn(text, UserWarning, stacklevel=2)
        return self

    def fit_prior(
        self: Fitted,
        X: Any,
        *,
        target_mean: float | Sequence[float] | np.ndarray = 0.0,
        target_std: float | Sequence[float] | np.ndarray | None = None,
    ) -> Fitted:
        """Match the prior to the belief at these inputs, without any targets.

        Afterwards `prior_` can be given to another estimator, which will not match it again.

        Parameters
        ----------
        X
            Rows: where functions are compared, and the columns' units.
        target_mean, target_std
            The scale of the targets to come, with a number for each if there are several. Without
            a deviation it is the belief's amplitude.
        """
        method = self.check_settings()
        if not method.has_prior:
            raise ValueError(f"method {method.name} has no prior over weights to match")
        devices.prepare()
        X = self._read_training(X)
        if target_std is None:
            target_std = amplitudes_of(self.belief) or 1.0
        stds = np.array([checks.positive("target_std", std) for std in np.atleast_1d(target_std)])
        means = np.array(np.broadcast_to(np.asarray(target_mean, float), stds.shape))
        problem = self._problem(X, None, method, target=(means, stds))
        hooks = Hooks(bool(self.verbose))
        key = jax.random.key(self._seed())
        self.prior_, history = fit_prior(problem, form=method.prior_form, key=key, hooks=hooks)
        self._vector = len(stds) == 1
        self._remember_match(problem, key, history)
        return self

    def sample_more(self: Fitted, draws: int) -> Fitted:
        """Go on where `fit` stopped, for so many further draws per chain.

        Parameters
        ----------
        draws
            How many more.
        """
        check_is_fitted(self, "posterior_")
        go_on = self._continuation
        if not self._is_sampled or go_on is None:
            raise ValueError(
                "there is nothing to go on with: sample_more works with samplers, in the program "
                "that fitted the model (a model file or a pickle does not hold the data, unless "
                "keep_rows=True)"
            )
        wanted = self.posterior_.draws_per_chain + checks.whole("draws", draws)
        with Deadline(self.budget, say=bool(self.verbose)) as end:
            fit = fit_posterior(
                go_on.problem,
                go_on.method,
                key=go_on.key,
                chains=self.posterior_.chains,
                draws=wanted,
                temperature=self.temperature,
                hooks=Hooks(bool(self.verbose), deadline=end),
                resume=go_on.fit,
            )
        self._read(fit, go_on.problem)
        self._continuation = go_on._replace(fit=fit)
        return self

    # The course of a fit

    def _seed(self) -> int:
        return check_random_state(self.random_state).randint(2**31 - 1)

    def _problem(
        self,
        X: np.ndarray,
        y: np.ndarray | None,
        method: Method,
        *,
        row_weights: np.ndarray | None = None,
        target: tuple[np.ndarray, np.ndarray] = (np.zeros(1), np.ones(1)),
    ) -> Problem:
        """The problem that these rows pose; `target` is the targets' scale where there is no y."""
        self.scaling_ = Scaling.fit(X, y if self.TASK == "regression" else None)
        if y is None and self.TASK == "regression":
            self.scaling_ = self.scaling_.with_targets(*target)
        table = X.reshape(-1, X.shape[-1])  # of images: the pixels, with a column for each channel
        self.box_ = np.stack([table.min(axis=0), table.max(axis=0)])
        observation = self._observation(len(self.scaling_.y_std), method)
        self.belief_ = belief_for(self, X, y, method, observation.functions)
        return Problem(
            X,
            y,
            observation,
            self.belief_.belief,
            belief_is_default=self.belief is None,
            network=self.network_spec(),
            scaling=self.scaling_,
            prior=self.prior,
            distance=self.distance,
            schedule=self.match_schedule,
            row_weights=row_weights,
        )

    def _read(self, fit: Fit, problem: Problem) -> None:
        """Keep what was found, and say how the draws are."""
        vars(self).pop("prior_", None)
        if fit.prior is not None:
            self.prior_ = fit.prior
        if fit.belief is not problem.belief:
            self.belief_ = fitted_to_rows(fit.belief)
        self.posterior_, self.stopped_ = fit.posterior, fit.stopped
        report: Any = fit.posterior.report
        self.n_iter_ = report.steps if self._is_sampled else int(report.get("epochs", 0)) or 1
        self.diagnostics_ = self._diagnose()
        if fit.stopped is not None:
            warnings.warn(self._early_end(fit.stopped), ConvergenceWarning, stacklevel=3)
        for text in self.diagnostics_.warnings if self.diagnostics_ else ():
            warnings.warn(text, ConvergenceWarning, stacklevel=3)

    def _remember_match(self, problem: Problem, key: PRNGKeyArray, history: History | None) -> None:
        """Keep the history, and what a report on the match would need."""
        self._report, self._matched = None, None
        if history is not None:
            self.history_ = history
            tabular = problem.X.ndim == 2
            self._matched = Matched(problem, key, history.how) if tabular else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.encode == "impute"
        return tags
