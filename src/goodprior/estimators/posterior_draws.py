"""What estimators say of their posterior: function draws, LOO, diagnostics, calibration, files."""

from abc import abstractmethod
from os import PathLike
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from goodprior import checks
from goodprior.estimators.calibration import calibrate_estimator
from goodprior.estimators.figures import plot_posterior
from goodprior.estimators.files import save
from goodprior.estimators.rows import Rows
from goodprior.evaluation import Calibration, Diagnostics, diagnose
from goodprior.evaluation.loo import LOO, loo
from goodprior.inference import Posterior
from goodprior.inference.export import to_datatree
from goodprior.pipeline.calibrate import MOST_ROWS, POINTS

if TYPE_CHECKING:
    from xarray import DataTree


class PosteriorDraws(Rows):
    """Questions to the posterior of a fitted estimator."""

    posterior_: Any  # a `Posterior`, or a `LaplacePosterior`
    random_state: Any
    rhat: Any
    ess: Any
    diagnostics_: Diagnostics | None
    _continuation: Any = None

    @abstractmethod
    def _functions(self, X: np.ndarray) -> np.ndarray:
        """Function draws on the scale of the targets (logits for classes), chain after chain."""

    @abstractmethod
    def _known_targets(self, y: Any) -> np.ndarray:
        """Targets in the numbers that training gave them."""

    if TYPE_CHECKING:

        @property
        def method_name(self) -> str: ...

    def sample_functions(self, X: Any, n: int = 100, random_state: Any = None) -> np.ndarray:
        """Draws of the function from the posterior, without noise.

        Draws repeat if more are asked for than were kept; an ensemble has as many as members, and
        `map` has one.

        Parameters
        ----------
        X
            New rows.
        n
            How many draws.
        random_state
            Of the choice among the kept draws (None: the estimator's).

        Returns
        -------
        numpy.ndarray
            Of shape (n, rows) or (n, rows, targets); for a classifier these are logits.
        """
        check_is_fitted(self, "posterior_")
        functions = self._functions(self._check_new(X))
        rng = check_random_state(self.random_state if random_state is None else random_state)
        count = len(functions)
        picked = rng.choice(count, checks.whole("n", n), replace=n > count)
        return functions[picked]

    def loo(self, X: Any = None, y: Any = None) -> LOO:
        """PSIS-LOO on the training rows: the expected log density of new rows, with its error.

        Parameters
        ----------
        X, y
            The training rows; in the program that fitted the model they may be left out.
        """
        check_is_fitted(self, "posterior_")
        if not self._is_sampled:
            raise ValueError(
                "PSIS-LOO weighs draws of the posterior, which samplers have and method "
                f"{self.method_name} has not"
            )
        if X is None and y is None and self._continuation is not None:
            X, y = self._continuation.problem.X, self._continuation.problem.y
            return loo(self._log_likelihoods(X, y))
        if X is None or y is None:
            raise ValueError(
                "loo needs the training rows, loo(X, y): a model that was read from a file or a "
                "pickle does not have them"
            )
        return loo(self._log_likelihoods(self._check_new(X), self._known_targets(y)))

    def calibrate(
        self,
        X: Any,
        y: Any = None,
        *,
        simulations: int = 100,
        rows: int = MOST_ROWS,
        points: int = POINTS,
        budget: float | None = None,
    ) -> Calibration:
        """Simulation-based calibration: would the sampler find answers that are known?

        Targets are simulated at the rows with draws of the model's own prior, again and again, and
        fitted with its settings. Ranks of what they were simulated with, among the draws of these
        fits, are uniform where the sampler is right. It takes as long as so many fits.

        Parameters
        ----------
        X
            The training rows, or others like them.
        y
            Their targets, for simulations around this fit ("posterior SBC") instead of from the
            prior: then X must be the training rows.
        simulations
            How many.
        rows
            Of more rows so many are used, evenly spread over the table in its order.
        points
            At how many rows function values are ranked.
        budget
            Seconds after which it ends with the simulations so far, as Ctrl-C does.
        """
        check_is_fitted(self, "posterior_")
        return calibrate_estimator(
            self, X, y, simulations=simulations, rows=rows, points=points, budget=budget
        )

    def save(self, path: str | PathLike[str], *, table: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a `.safetensors` file; `goodprior.load` reads it.

        Parameters
        ----------
        path
            Of the file, which is replaced as a whole or not at all.
        table
            About the training table, such as its `targets` and `rows`; the model that is read has
            it as `table_`.
        """
        save(self, path, table)

    def to_datatree(self) -> "DataTree":
        """The draws as an `xarray.DataTree`, for ArviZ or, by its `to_netcdf`, for a file.

        In the program that fitted the model, with `observed_data` and each row's `log_likelihood`.
        """
        check_is_fitted(self, "posterior_")
        posterior = self.posterior_
        if not isinstance(posterior, Posterior):
            raise ValueError(f"method {self.method_name} keeps no draws of the weights")
        if not self._is_sampled or self._continuation is None:
            return to_datatree(posterior)
        X, y = self._continuation.problem.X, self._continuation.problem.y
        assert y is not None
        each = self._log_likelihoods(X, y)
        if y.ndim > 1:  # what is known of the noise is no observation
            y = y[:, : len(self.scaling_.y_std)]
        return to_datatree(posterior, observed_data={"y": y}, log_likelihood={"y": each})

    def plot_posterior(self, X: Any = None, y: Any = None) -> Any:
        """A figure: what is predicted along each column, the others at their means.

        Parameters
        ----------
        X, y
            Rows to show as dots (None: no dots).
        """
        check_is_fitted(self, "posterior_")
        return plot_posterior(self, None if X is None else self._check_new(X), y)

    @property
    def _is_sampled(self) -> bool:
        posterior = getattr(self, "posterior_", None)
        return isinstance(posterior, Posterior) and posterior.is_sampled

    def _diagnose(self) -> Diagnostics | None:
        """Whether to trust the draws, where there are enough to say."""
        if not self._is_sampled or self.posterior_.probe.shape[1] < 4:
            return None
        return diagnose(self.posterior_, max_rhat=float(self.rhat), min_ess=float(self.ess))

    def _early_end(self, why: str) -> str:
        """What an end before time left."""
        if not self._is_sampled:
            return f"the fit ended early because {why}: what was trained by then is kept"
        draws = self.posterior_.draws_per_chain
        if self.diagnostics_ is None:  # hardly any
            return (
                f"sampling ended early because {why}: {draws} draw{'s' * (draws > 1)} of each "
                "chain, too few to tell whether chains had got to the posterior: give it more "
                "time, or take a faster method (laplace, map)"
            )
        return (
            f"sampling ended early because {why}: {draws} draws per chain were kept; sample_more "
            "goes on from there"
        )

    def _log_likelihoods(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The log density of each row under each draw, on the targets' own scale."""
        posterior = self.posterior_
        likelihood = posterior.likelihood
        scaling = self.scaling_ if self.TASK == "regression" else None
        targets = likelihood.scaled_targets(y, scaling)
        each = jax.vmap(jax.vmap(likelihood.log_prob), in_axes=(0, None))
        values = np.asarray(each(posterior.functions(X), targets), np.float64)
        if self.TASK == "regression":
            values = values - np.log(self.scaling_.y_std).sum()
        return values.reshape(posterior.chains, posterior.draws_per_chain, -1)
