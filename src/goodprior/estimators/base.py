"""What regressor and classifier share: the course of a fit, and what can be asked of it after."""

import warnings
from abc import abstractmethod
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import jax
import numpy as np
from jaxtyping import PRNGKeyArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from goodprior import checks
from goodprior.baselines import LaplacePosterior
from goodprior.beliefs.spec import ParsedBelief, Task, fitted_to_rows, parse_belief
from goodprior.data.scaling import Scaling
from goodprior.devices import keep_compiled_programs, use_all_cores
from goodprior.estimators.validation import column_name, refuse_bad_columns, warn_if_far
from goodprior.evaluation.diagnostics import Diagnostics
from goodprior.evaluation.loo import loo
from goodprior.inference import Posterior
from goodprior.inference.export import to_datatree
from goodprior.matching.match import History
from goodprior.pipeline import training as trained
from goodprior.pipeline.checkpoint import Checkpoint
from goodprior.pipeline.deadline import Deadline
from goodprior.pipeline.problem import Model, Problem, fit_prior
from goodprior.pipeline.sampling import diagnosed, is_sampled, sample
from goodprior.pipeline.settings import Settings
from goodprior.priors import Prior

if TYPE_CHECKING:
    from xarray import DataTree

Fitted = TypeVar("Fitted", bound="BNN")

METHODS = ("sghmc", "nuts", *trained.METHODS)


class BNN(Settings):
    """The course of a fit; `BNNRegressor` and `BNNClassifier` say the rest."""

    TASK: ClassVar[Task]
    n_features_in_: int
    history_: History
    prior_: Prior
    posterior_: Posterior | LaplacePosterior

    @abstractmethod
    def _model(self, targets: int) -> Model:
        """The likelihood that the settings name."""

    @abstractmethod
    def _targets(self, y: Any) -> np.ndarray:
        """Targets in numbers, once they are known to be fit for the task."""

    @abstractmethod
    def _known_targets(self, y: Any) -> np.ndarray:
        """Targets in the numbers that training gave them."""

    @abstractmethod
    def _functions(self, X: np.ndarray) -> np.ndarray:
        """Function draws on the scale of the targets (logits for classes), chain after chain."""

    def fit(
        self: Fitted,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Fitted:
        """Match the prior to the belief, then sample the posterior (or what `method` says).

        With a `checkpoint` folder a fit that was killed goes on from there when it is started
        again with the same data and settings, and ends with the same draws. With more `draws` or
        another `budget` it goes on as well; with fewer, all draws that were kept are used.
        """
        X, numbers = self._check_rows(X, y)
        weights = None if sample_weight is None else np.asarray(sample_weight, float)
        use_all_cores()
        keep_compiled_programs()
        model = self._model(1 if numbers.ndim == 1 else numbers.shape[1])
        problem = self._describe(model, X, numbers, weights)
        trained.check(problem)
        keep = Checkpoint(checkpoint)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        seed = keep.claim(seed, self.get_params(), X, numbers, weights)
        keys = jax.random.split(jax.random.key(seed), 3)
        if self.method in trained.METHODS:
            self.posterior_ = self._trained(problem, keep, *keys[:2])
            self._look_back(None)
            return self
        with Deadline(self.budget, say=bool(self.verbose)) as deadline:
            prior = self._matched(problem, keep, keys[0])
            start = None
            if self.start == "mode":
                start = keep.once(
                    "start",
                    lambda: trained.find_modes(problem, prior, keys[1], self.chains),
                    self.network,
                )
            self._data, self._plan = (X, numbers, weights), (model, prior, keys[2])
            self.posterior_ = sample(problem, prior, start, self.draws, deadline, keep, keys[2])
        self._look_back(deadline.reason)
        return self

    def fit_prior(self: Fitted, X: Any) -> Fitted:
        """Match the prior to the belief at these inputs, without any targets.

        Afterwards `prior_` can be given to another estimator, which will not match it again.
        """
        checks.one_of("method", self.method, METHODS)
        refuse_bad_columns(X)
        X = validate_data(self, X, dtype=np.float64, allow_nd=True)
        use_all_cores()
        keep_compiled_programs()
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        problem = self._describe(self._model(1), X, None)
        self._matched(problem, Checkpoint(None), jax.random.key(seed))
        return self

    def sample_more(self: Fitted, draws: int) -> Fitted:
        """Go on where `fit` stopped, for so many further draws per chain."""
        check_is_fitted(self, "posterior_")
        before = self.posterior_
        if not is_sampled(before) or not hasattr(self, "_data"):
            raise ValueError(
                "there is nothing to go on with: sample_more works with sghmc and nuts, in the "
                "program that fitted the model (a model file does not hold the data)"
            )
        wanted = before.draws_per_chain + checks.whole("draws", draws)
        model, prior, key = self._plan
        problem = self._describe(model, *self._data)
        with Deadline(self.budget, say=bool(self.verbose)) as deadline:
            self.posterior_ = sample(
                problem, prior, None, wanted, deadline, Checkpoint(None), key, before
            )
        self._look_back(deadline.reason)
        return self

    def sample_functions(self, X: Any, n: int = 100, random_state: Any = None) -> np.ndarray:
        """Draws of the function from the posterior, without noise: (n, rows) or (n, rows, targets).

        For a classifier these are logits. Draws repeat if more are asked for than were kept; an
        ensemble has as many as members, and `map` has one.
        """
        check_is_fitted(self, "posterior_")
        functions = self._functions(self._check_new(X))
        rng = check_random_state(self.random_state if random_state is None else random_state)
        count = len(functions)
        picked = rng.choice(count, checks.whole("n", n), replace=n > count)
        return functions[picked]

    def loo(self, X: Any, y: Any) -> dict[str, float]:
        """PSIS-LOO on the training rows: the expected log density of new rows, with its error.

        `pareto_k_high` is the share of rows for which the estimate cannot be trusted, those with a
        Pareto k above `pareto_k_limit`; `reliable` says whether there are none.
        """
        check_is_fitted(self, "posterior_")
        posterior = self.posterior_
        if not is_sampled(posterior):
            raise ValueError(
                "PSIS-LOO weighs draws of the posterior, which the methods sghmc and nuts have and "
                f"{self.method} has not"
            )
        each = self._log_likelihoods(posterior, self._check_new(X), self._known_targets(y))
        found = loo(each)._asdict()
        del found["pareto_k"]
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a `.safetensors` file; `goodprior.load` reads it."""
        from goodprior.estimators.files import save

        save(self, path)

    def to_datatree(self) -> "DataTree":
        """The draws as an `xarray.DataTree`, for ArviZ or, by its `to_netcdf`, for a file.

        In the program that fitted the model, with `observed_data` and each row's `log_likelihood`.
        """
        check_is_fitted(self, "posterior_")
        posterior = self.posterior_
        if not isinstance(posterior, Posterior):
            raise ValueError(f"method {self.method} keeps no draws of the weights")
        if not is_sampled(posterior) or not hasattr(self, "_data"):
            return to_datatree(posterior)
        X, y, _ = self._data
        each = self._log_likelihoods(posterior, X, y)
        return to_datatree(posterior, observed_data={"y": y}, log_likelihood={"y": each})

    def plot_prior(self, n: int = 8) -> Any:
        """A figure: functions of the belief beside functions of the prior, along the columns."""
        from goodprior.estimators.figures import plot_prior

        if hasattr(self, "posterior_") and not hasattr(self, "prior_"):
            raise ValueError(f"method {self.method} has no prior over weights to draw from")
        check_is_fitted(self, "prior_")
        return plot_prior(self, n)

    def plot_posterior(self, X: Any = None, y: Any = None) -> Any:
        """A figure: what is predicted along each column, the others at their means."""
        from goodprior.estimators.figures import plot_posterior

        check_is_fitted(self, "posterior_")
        return plot_posterior(self, X, y)

    # The course of a fit

    def _check_rows(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        checks.one_of("method", self.method, METHODS)
        checks.one_of("start", self.start, ("mode", "prior"))
        refuse_bad_columns(X)
        X, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, ensure_min_samples=2, allow_nd=True
        )
        return X, self._targets(y)

    def _describe(
        self,
        model: Model,
        X: np.ndarray,
        y: np.ndarray | None,
        weights: np.ndarray | None = None,
    ) -> Problem:
        """The problem that these rows pose, and what it says of units and beliefs."""
        self.scaling_ = Scaling.fit(X, y if self.TASK == "regression" else None)
        table = X.reshape(-1, X.shape[-1])  # of images: the pixels, with a column for each channel
        self.box_ = np.stack([table.min(axis=0), table.max(axis=0)])
        names = [column_name(self, i) for i in range(table.shape[1])]
        self.belief_: ParsedBelief = parse_belief(
            self.belief,
            self.scaling_,
            names,
            task=self.TASK,
            outputs=model.outputs,
            images=X.ndim == 4,
        )
        return Problem(self, model, self.belief_.belief, self.scaling_, X, y, weights)

    def _matched(self, problem: Problem, keep: Checkpoint, key: PRNGKeyArray) -> Prior:
        """The prior, with a learned noise level beside it if there is one."""

        def make() -> Prior:
            prior, history = fit_prior(problem, key)
            if history is not None:
                self.history_ = history
            return prior

        self.prior_ = keep.once("prior", make, self.network)
        wrap = problem.model.wrap
        return wrap(self.prior_) if wrap else self.prior_

    def _trained(
        self, problem: Problem, keep: Checkpoint, key_prior: PRNGKeyArray, key: PRNGKeyArray
    ) -> Posterior | LaplacePosterior:
        """The posterior of a method that does not sample."""
        prior = None
        if self.method in trained.NO_PRIOR:
            vars(self).pop("prior_", None)
        else:
            prior = self._matched(problem, keep, key_prior)
        if self.method == "fbnn":
            key_belief, key = jax.random.split(key)
            problem = trained.with_fitted_belief(problem, key_belief)
            if self.belief is None:
                self.belief_ = fitted_to_rows(problem.belief)
        method = trained.METHODS[self.method]
        return keep.once("posterior", lambda: method(problem, prior, key), self.network)

    def _look_back(self, reason: str | None) -> None:
        """Say how the draws are."""
        report = self.posterior_.report
        self.n_iter_ = int(report.get("steps", report.get("epochs", 0))) or 1
        self.stopped_: str | None = reason
        self.diagnostics_: Diagnostics | None = diagnosed(self.posterior_)
        if self.diagnostics_ is None:
            return
        if reason is not None:
            assert is_sampled(self.posterior_)
            warnings.warn(
                f"sampling ended early because {reason}: {self.posterior_.draws_per_chain} draws "
                "per chain were kept; sample_more goes on from there",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.verbose:
            for text in self.diagnostics_.warnings:
                warnings.warn(text, ConvergenceWarning, stacklevel=3)

    # New rows

    def _check_new(self, X: Any) -> np.ndarray:
        refuse_bad_columns(X)
        X = validate_data(self, X, dtype=np.float64, reset=False, allow_nd=True)
        warn_if_far(self, X)
        return X

    def _log_likelihoods(self, posterior: Posterior, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The log density of each row under each draw, on the targets' own scale."""
        likelihood = posterior.likelihood
        targets = likelihood.targets(self.scaling_.targets(y) if self.TASK == "regression" else y)
        each = jax.vmap(jax.vmap(likelihood.log_prob), in_axes=(0, None))
        values = np.asarray(each(posterior.functions(X), targets), np.float64)
        if self.TASK == "regression":
            values = values - np.log(self.scaling_.y_std).sum()
        return values.reshape(posterior.chains, posterior.draws_per_chain, -1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        return tags
