"""What estimators say of their posterior: function draws, LOO, diagnostics, files and pictures."""

from abc import abstractmethod
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from goodprior import checks
from goodprior.beliefs.spec import Task
from goodprior.data.scaling import Scaling
from goodprior.estimators.figures import plot_posterior
from goodprior.estimators.files import save
from goodprior.evaluation import Diagnostics, diagnose
from goodprior.evaluation.loo import LOO, loo
from goodprior.inference import Posterior
from goodprior.inference.export import to_datatree

if TYPE_CHECKING:
    from xarray import DataTree


class PosteriorDraws:
    """Questions to the posterior of a fitted estimator."""

    TASK: ClassVar[Task]
    posterior_: Any  # a `Posterior`, or a `LaplacePosterior`
    scaling_: Scaling
    random_state: Any
    rhat: Any
    ess: Any
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

    def _check_new(self, X: Any) -> np.ndarray:
        raise NotImplementedError

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

    def loo(self, X: Any, y: Any) -> LOO:
        """PSIS-LOO on the training rows: the expected log density of new rows, with its error.

        Parameters
        ----------
        X, y
            The training rows.
        """
        check_is_fitted(self, "posterior_")
        if not self._is_sampled:
            raise ValueError(
                "PSIS-LOO weighs draws of the posterior, which samplers have and method "
                f"{self.method_name} has not"
            )
        return loo(self._log_likelihoods(self._check_new(X), self._known_targets(y)))

    def save(self, path: str | PathLike[str], *, columns: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a `.safetensors` file; `goodprior.load` reads it.

        Parameters
        ----------
        path
            Of the file, which is replaced as a whole or not at all.
        columns
            How columns of a table became inputs; the model that is read has it as `columns_`.
        """
        save(self, path, columns)

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
        return to_datatree(posterior, observed_data={"y": y}, log_likelihood={"y": each})

    def plot_posterior(self, X: Any = None, y: Any = None) -> Any:
        """A figure: what is predicted along each column, the others at their means.

        Parameters
        ----------
        X, y
            Rows to show as dots (None: no dots).
        """
        check_is_fitted(self, "posterior_")
        return plot_posterior(self, X, y)

    @property
    def _is_sampled(self) -> bool:
        posterior = getattr(self, "posterior_", None)
        return isinstance(posterior, Posterior) and posterior.is_sampled

    def _diagnose(self) -> Diagnostics | None:
        """Whether to trust the draws, where there are enough to say."""
        if not self._is_sampled or self.posterior_.probe.shape[1] < 4:
            return None
        return diagnose(self.posterior_, max_rhat=float(self.rhat), min_ess=float(self.ess))

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
