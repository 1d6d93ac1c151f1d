"""What regressor and classifier share: settings, the course of a fit, draws and pictures."""

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable
from os import PathLike
from typing import Any, ClassVar, NamedTuple, TypeVar

import jax
import numpy as np
from arviz_stats.base.array import array_stats
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from goodprior import checks
from goodprior.baselines import fit_map
from goodprior.beliefs import Belief, Stacked, rows_and_box
from goodprior.data.scaling import Scaling
from goodprior.devices import use_all_cores
from goodprior.estimators.checkpoint import Checkpoint
from goodprior.estimators.interrupts import Deadline
from goodprior.estimators.words import Task, Understood, understand
from goodprior.evaluation.diagnostics import Diagnostics, diagnose
from goodprior.inference import (
    NUTS,
    SGHMC,
    Likelihood,
    Posterior,
    SamplingError,
    sample_posterior,
)
from goodprior.matching import match
from goodprior.networks import MLP
from goodprior.priors import HierarchicalPrior, Prior, is_matched, named_prior
from goodprior.progress import Tracker, tracking

Fitted = TypeVar("Fitted", bound="BNN")

METHODS = ("sghmc", "nuts", "map")
FEW_ROWS = 2000  # up to so many rows every step of SGHMC uses all of them
MODE_STEPS = 5000  # Adam steps, at most, to the mode where a chain starts
MODE_BATCH = 64
LEAST_DRAWS = 25  # of all chains together: fewer have no tail for PSIS to smooth
FAR = 1.0  # a row this many ranges outside a column of the training data is far away


class Model(NamedTuple):
    """How outputs explain targets: what `fit` needs to know beside network and prior."""

    likelihood: Likelihood
    outputs: int  # of the network, for functions
    noise: Belief | None = None  # about further outputs: log noise variances
    wrap: Callable[[Prior], Prior] | None = None  # puts a learned noise level beside the prior


class BNN(BaseEstimator):
    """The settings and the course of a fit; `BNNRegressor` and `BNNClassifier` say the rest."""

    TASK: ClassVar[Task]
    n_features_in_: int

    def __init__(
        self,
        prior: Any = "gpi-g",
        *,
        belief: Any = None,
        method: Any = "sghmc",
        hidden: Any = (50, 50),
        activation: Any = "tanh",
        network: Any = None,
        likelihood: Any = "auto",
        temperature: Any = 1.0,
        distance: Any = "energy",
        chains: Any = 8,
        burn_in: Any = 1500,
        draws: Any = 25,
        thinning: Any = 200,
        batch_size: Any = "auto",
        step_size: Any = "auto",
        momentum_decay: Any = "auto",
        start: Any = "mode",
        budget: Any = None,
        random_state: Any = None,
        verbose: Any = 0,
    ):
        self.prior = prior
        self.belief = belief
        self.method = method
        self.hidden = hidden
        self.activation = activation
        self.network = network
        self.likelihood = likelihood
        self.temperature = temperature
        self.distance = distance
        self.chains = chains
        self.burn_in = burn_in
        self.draws = draws
        self.thinning = thinning
        self.batch_size = batch_size
        self.step_size = step_size
        self.momentum_decay = momentum_decay
        self.start = start
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def _model(self, targets: int) -> Model:
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
        """Match the prior to the belief, then sample the posterior.

        With a `checkpoint` folder a fit that was killed goes on from there when it is started
        again with the same data and settings, and ends with the same draws.
        """
        X, numbers = self._check_rows(X, y)
        weights = None if sample_weight is None else np.asarray(sample_weight, float)
        use_all_cores()
        keep = Checkpoint(checkpoint)
        settings = {**self.get_params(), "verbose": 0, "random_state": None}
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        seed = keep.claim(seed, settings, X, numbers, weights)
        key_prior, key_start, key_sample = jax.random.split(jax.random.key(seed), 3)
        self.scaling_ = Scaling.fit(X, numbers if self.TASK == "regression" else None)
        self._remember_box(X)
        model = self._model(1 if numbers.ndim == 1 else numbers.shape[1])
        self._understand(model)
        with Deadline(self.budget, say=bool(self.verbose)) as deadline:
            if (prior := keep.get("prior", self.network)) is None:
                prior = self._fit_prior(X, model, key_prior)
                keep.put("prior", prior)
            self.prior_ = prior
            prior = model.wrap(prior) if model.wrap else prior
            start: Posterior | None = keep.get("start", self.network)
            if start is None and (self.start == "mode" or self.method == "map"):
                start = self._find_modes(prior, model, X, numbers, weights, key_start)
                keep.put("start", start)
            self._data = (X, numbers, weights)
            self._plan = (prior, model.likelihood, key_sample)
            self.posterior_: Posterior
            if self.method == "map" and start is not None:
                self.posterior_ = start
            else:
                self.posterior_ = self._sample(start, self.draws, deadline, keep)
        self._look_back(deadline.reason)
        return self

    def fit_prior(self: Fitted, X: Any) -> Fitted:
        """Match the prior to the belief at these inputs, without any targets.

        Afterwards `prior_` can be given to another estimator, which will not match it again.
        """
        X = validate_data(self, X, dtype=np.float64)
        use_all_cores()
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        self.scaling_ = Scaling.fit(X)
        self._remember_box(X)
        model = self._model(1)
        self._understand(model)
        self.prior_ = self._fit_prior(X, model, jax.random.key(seed))
        return self

    def sample_more(self: Fitted, draws: int) -> Fitted:
        """Go on where `fit` stopped, for so many further draws per chain."""
        check_is_fitted(self, "posterior_")
        if self.posterior_.ending is None or not hasattr(self, "_data"):
            raise ValueError(
                "there is nothing to go on with: sample_more works with sghmc and nuts, in the "
                "program that fitted the model (a model file does not hold the data)"
            )
        checks.whole("draws", draws)
        wanted = self.posterior_.draws_per_chain + draws
        with Deadline(self.budget, say=bool(self.verbose)) as deadline:
            self.posterior_ = self._sample(
                None, wanted, deadline, Checkpoint(None), self.posterior_
            )
        self._look_back(deadline.reason)
        return self

    def sample_functions(self, X: Any, n: int = 100, random_state: Any = None) -> np.ndarray:
        """Draws of the function from the posterior, without noise: (n, rows) or (n, rows, targets).

        For a classifier these are logits. Draws repeat if more are asked for than were kept.
        """
        functions = self._functions(X)
        rng = check_random_state(self.random_state if random_state is None else random_state)
        count = len(functions)
        picked = rng.choice(count, checks.whole("n", n), replace=n > count)
        return functions[picked]

    def loo(self, X: Any, y: Any) -> dict[str, float]:
        """PSIS-LOO on the training rows: the expected log density of new rows, with its error.

        `pareto_k_high` is the share of rows for which the estimate cannot be trusted (k > 0.7).
        """
        check_is_fitted(self, "posterior_")
        X = self._check_new(X)
        numbers = self._known_targets(y)
        each = self._log_likelihoods(X, numbers)  # chains, draws, rows
        if each.shape[0] * each.shape[1] < LEAST_DRAWS:
            raise ValueError(
                f"PSIS-LOO needs {LEAST_DRAWS} draws in all, there are "
                f"{each.shape[0] * each.shape[1]}: sample_more"
            )
        elpd, pareto_k, p_loo = array_stats.loo(np.moveaxis(each, -1, 0))
        return {
            "elpd": float(np.sum(elpd)),
            "se": float(np.std(elpd) * len(elpd) ** 0.5),
            "p_loo": float(np.sum(p_loo)),
            "pareto_k_high": float(np.mean(np.asarray(pareto_k) > 0.7)),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a `.safetensors` file; `goodprior.load` reads it."""
        from goodprior.estimators.files import save

        save(self, path)

    def plot_prior(self, n: int = 8) -> Any:
        """A figure: functions of the belief beside functions of the prior, along the columns."""
        from goodprior.estimators.pictures import plot_prior

        check_is_fitted(self, "prior_")
        return plot_prior(self, n)

    def plot_posterior(self, X: Any = None, y: Any = None) -> Any:
        """A figure: what is predicted along each column, the others at their means."""
        from goodprior.estimators.pictures import plot_posterior

        check_is_fitted(self, "posterior_")
        return plot_posterior(self, X, y)

    # The course of a fit

    def _check_rows(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        checks.one_of("method", self.method, METHODS)
        checks.one_of("start", self.start, ("mode", "prior"))
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, ensure_min_samples=2)
        return X, self._targets(y)

    def _understand(self, model: Model) -> None:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"column {i}" for i in range(self.n_features_in_)]
        self.belief_: Understood = understand(
            self.belief, self.scaling_, list(names), task=self.TASK, outputs=model.outputs
        )

    def _fit_prior(self, X: np.ndarray, model: Model, key: jax.Array) -> Prior:
        """The prior over functions: the given one, or a named one, matched if it is to be."""
        keys = jax.random.split(key, 3)
        inputs = X.shape[1]
        noises = 0 if model.noise is None else model.outputs
        if isinstance(self.prior, Prior):
            return self.prior
        network = self.network
        if network is None:
            width = model.outputs + noises
            network = MLP(
                inputs, tuple(self.hidden), width, activation=self.activation, key=keys[0]
            )
        prior = named_prior(self.prior, network, key=keys[1])
        if is_matched(self.prior):
            belief = self.belief_.belief
            whole = belief if model.noise is None else Stacked((belief, model.noise))
            with self._tracking("matching the prior") as track:
                prior, self.history_ = match(
                    prior,
                    whole,
                    rows_and_box(self.scaling_.inputs(X)),
                    distance=self.distance,
                    key=keys[2],
                    held_out=0,
                    on_progress=lambda i, n, value: track(i, n, f"distance {value:.3f}"),
                )
        return prior.in_form(marginal=True) if isinstance(prior, HierarchicalPrior) else prior

    def _find_modes(
        self,
        prior: Prior,
        model: Model,
        X: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None,
        key: jax.Array,
    ) -> Posterior:
        """A mode near which each chain starts: low noise needs a long way from a prior draw."""
        batch = min(MODE_BATCH, len(X))
        epochs = max(1, min(200, MODE_STEPS * batch // len(X)))
        with self._tracking("finding where to start") as track:
            return fit_map(
                prior,
                model.likelihood,
                X,
                y,
                key=key,
                members=1 if self.method == "map" else self.chains,
                epochs=epochs,
                learning_rate=lambda epoch: 0.01 * min(1.0, 2 * (1 - epoch / epochs) + 0.02),
                batch_size=batch,
                scaling=self._rescaling,
                weights=weights,
                on_progress=track,
            )

    def _sample(
        self,
        start: Posterior | None,
        draws: int,
        deadline: Deadline,
        keep: Checkpoint,
        go_on: Posterior | None = None,
    ) -> Posterior:
        X, y, weights = self._data
        prior, likelihood, key = self._plan
        batch: Any = self.batch_size
        if batch == "auto":
            batch = None if len(X) <= FEW_ROWS else 128
        enough = self.burn_in + 4 * self.thinning
        rhat = _RunningRhat()
        go_on = keep.get("sampling", self.network) if go_on is None else go_on

        def run(sampler: SGHMC | NUTS, track: Tracker) -> Posterior:
            def on_progress(done: int, total: int, phase: str) -> None:
                track(done, total, f"{phase}{rhat}")
                if done >= enough:
                    deadline.look()

            def on_chunk(posterior: Posterior) -> None:
                rhat.look(posterior)
                keep.put_sometimes("sampling", posterior)

            return sample_posterior(
                prior,
                likelihood,
                X,
                y,
                key=key,
                sampler=sampler,
                chains=self.chains,
                burn_in=self.burn_in,
                draws=draws,
                thinning=self.thinning,
                batch_size=batch,
                temperature=self.temperature,
                scaling=self._rescaling,
                weights=weights,
                start=start,
                go_on=go_on,
                on_progress=on_progress,
                on_chunk=on_chunk if keep.folder or self.verbose else None,
            )

        with self._tracking("sampling the posterior") as track:
            if self.method == "nuts":
                return run(NUTS(), track)
            step: Any = self.step_size
            if step == "auto":
                step = 0.02 if batch is None else 0.01
            for shorter in (1, 2, 4, 8):
                try:
                    return run(self._sghmc(step / shorter, batch), track)
                except SamplingError:
                    if self.step_size != "auto" or shorter == 8:
                        raise
            raise AssertionError

    def _sghmc(self, step_size: float, batch: int | None) -> SGHMC:
        decay: Any = self.momentum_decay
        if decay == "auto":
            decay = 0.02 if batch is None else 0.01
        return SGHMC(
            step_size=step_size,
            momentum_decay=decay,
            gradient_noise="none" if batch is None else "paper",
        )

    @property
    def _rescaling(self) -> Scaling:
        return self.scaling_

    def _look_back(self, reason: str | None) -> None:
        """Say how the draws are."""
        self.n_iter_ = int(self.posterior_.report.get("steps", 0)) or 1
        self.stopped_: str | None = reason
        self.diagnostics_: Diagnostics | None = None
        if self.posterior_.probe.shape[1] < 4:
            return
        self.diagnostics_ = diagnose(self.posterior_)
        if reason is not None:
            warnings.warn(
                f"sampling ended early because {reason}: {self.posterior_.draws_per_chain} draws "
                "per chain were kept; sample_more goes on from there",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.verbose:
            for text in self.diagnostics_.warnings:
                warnings.warn(text, ConvergenceWarning, stacklevel=3)

    def _tracking(self, task: str) -> Any:
        return tracking(task, quiet=not self.verbose)

    # New rows

    def _remember_box(self, X: np.ndarray) -> None:
        self.box_ = np.stack([X.min(axis=0), X.max(axis=0)])

    def _check_new(self, X: Any) -> np.ndarray:
        X = validate_data(self, X, dtype=np.float64, reset=False)
        low, high = self.box_
        reach = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
        beyond = np.maximum(low - X, X - high) / reach
        far = (beyond > FAR).any(axis=1)
        if far.any():
            column = int(beyond.max(axis=0).argmax())
            names = getattr(self, "feature_names_in_", None)
            name = f"column {column}" if names is None else names[column]
            warnings.warn(
                f"{far.sum()} of {len(X)} rows lie far outside the training data (most of all in "
                f"{name}, where training went from {low[column]:.4g} to {high[column]:.4g}): what "
                "is predicted there comes from the prior and the network's shape, not from data",
                UserWarning,
                stacklevel=3,
            )
        return X

    def _functions(self, X: Any) -> np.ndarray:
        """Function draws on the scale of the targets (logits for classes), chain after chain."""
        raise NotImplementedError

    def _known_targets(self, y: Any) -> np.ndarray:
        raise NotImplementedError

    def _log_likelihoods(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The log density of each row under each draw, on the targets' own scale."""
        posterior = self.posterior_
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


class _RunningRhat:
    """The present R-hat, in words, looked at every few seconds."""

    EVERY = 2.0
    SHARE = 0.05  # of the time that looking may take

    def __init__(self) -> None:
        self.words, self._next = "", 0.0

    def look(self, posterior: Posterior) -> None:
        now = time.monotonic()
        if now > self._next and posterior.probe.shape[1] >= 8:
            self.words = f", R-hat {diagnose(posterior).rhat.max():.2f}"
            done = time.monotonic()
            self._next = done + max(self.EVERY, (done - now) / self.SHARE)

    def __str__(self) -> str:
        return self.words
