"""Methods that train by gradients, and the two simplest: a mode, and early stopping."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from goodprior import checks
from goodprior.baselines import LaplacePosterior, fit_early_stopping, fit_map
from goodprior.inference import Posterior
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.methods.base import Method, Run
from goodprior.pipeline.problem import Problem
from goodprior.priors.hierarchical import Form

MODE_STEPS = 5000  # Adam steps, at most, to a mode
MODE_EPOCHS = 200  # at most
START_SHARE = 0.2  # of the time, where there is a budget, for modes at which chains start

Rate = float | Callable[[int], float]


@dataclass(frozen=True)
class Trained(Method):
    """What methods share that train by gradients.

    Parameters
    ----------
    epochs
        Passes over the rows (None: chosen by their number).
    batch_size
        Rows of a minibatch, at most all; None uses all rows in each step.
    learning_rate
        Of Adam, or a function of the epoch (None: 0.01, falling in the second half).
    """

    epochs: int | None = None
    batch_size: int | None = 64
    learning_rate: Rate | None = None

    learns_constant_noise: ClassVar[bool] = True

    def __check_init__(self):
        for name in ("epochs", "batch_size"):
            if getattr(self, name) is not None:
                checks.whole(name, getattr(self, name))

    __post_init__ = __check_init__  # files that hold a method are checked by the former

    @property
    def chains(self) -> int:
        return 1

    @property
    def draws(self) -> int:
        return 1

    def refuses(self, problem: Problem) -> list[str]:
        found = super().refuses(problem)
        if problem.observation.constant_noise is not None and not self.learns_constant_noise:
            found.append(
                f"method {self.name} does not learn one noise level for all rows: give a "
                'noise_variance, or use likelihood="heteroscedastic"'
            )
        return found

    def fit(self, run: Run) -> Posterior | LaplacePosterior:
        keep = run.hooks.checkpoint
        found = keep.get("posterior", run.problem.network)
        if found is None:
            found = self.train(run)
            if run.hooks.deadline.stopped is None:  # else the same fit begins anew
                keep.put("posterior", found)
        return found

    @abstractmethod
    def train(self, run: Run) -> Posterior | LaplacePosterior:
        """The posterior, where no checkpoint has it."""

    def batch(self, rows: int) -> int:
        """The batch size for so many rows."""
        return rows if self.batch_size is None else min(self.batch_size, rows)

    def epochs_for(self, rows: int) -> int:
        """Passes over the rows: as given, or as many as lead to a mode."""
        return self.epochs or max(1, min(MODE_EPOCHS, MODE_STEPS * self.batch(rows) // rows))

    def arguments(self, run: Run, stage: str = "train") -> dict[str, Any]:
        """What all functions that train are given."""
        rows = run.problem.rows
        epochs = self.epochs_for(rows)
        return {
            "key": stage_key(run.key, stage),
            "epochs": epochs,
            "learning_rate": _falling(epochs) if self.learning_rate is None else self.learning_rate,
            "batch_size": None if self.batch_size is None else self.batch(rows),
            "scaling": run.problem.scaling,
        }


def _falling(epochs: int) -> Rate:
    """A learning rate that falls in the second half."""
    return lambda epoch: 0.01 * min(1.0, 2 * (1 - epoch / epochs) + 0.02)


@dataclass(frozen=True)
class MAP(Trained):
    """The mode of the posterior: one network, with no error bars of the function.

    Examples
    --------
    >>> MAP(epochs=10).name
    'map'
    """

    name: ClassVar[str] = "map"
    uses: ClassVar[frozenset[str]] = frozenset({"prior", "belief", "sample_weight", "budget"})
    prior_form: ClassVar[Form | None] = "marginal"

    def train(self, run: Run) -> Posterior:
        return self.find_modes(run, 1, "finding the mode", "train")

    def find_modes(self, run: Run, members: int, task: str, stage: str) -> Posterior:
        """Several modes, as chains of one draw: prior draws are poor starts with little noise."""
        problem, starting = run.problem, stage == "start"
        assert run.prior is not None
        share = START_SHARE if starting else 1.0
        with run.hooks.stage(task, share=share, keeps=not starting) as track:
            return fit_map(
                run.prior,
                problem.likelihood,
                problem.X,
                problem.y,
                members=members,
                row_weights=problem.row_weights,
                on_progress=track,
                **self.arguments(run, stage),
            )


@dataclass(frozen=True)
class EarlyStopping(Trained):
    """Maximum likelihood, stopped when a validation part gets no better for `patience` epochs.

    Examples
    --------
    >>> EarlyStopping().patience
    10
    """

    epochs: int | None = 150
    batch_size: int | None = 32
    learning_rate: Rate | None = 0.01
    patience: int = 10
    name: ClassVar[str] = "early-stopping"
    uses: ClassVar[frozenset[str]] = frozenset({"sample_weight", "budget"})
    has_prior: ClassVar[bool] = False
    learns_constant_noise: ClassVar[bool] = False

    def batch(self, rows: int) -> int:
        return max(1, super().batch(rows * 4 // 5))  # also of what validation leaves

    def train(self, run: Run) -> Posterior:
        problem = run.problem
        with run.hooks.stage("training the network", keeps=True) as track:
            return fit_early_stopping(
                problem.build_network(),
                problem.likelihood,
                problem.X,
                problem.y,
                patience=self.patience,
                row_weights=problem.row_weights,
                on_progress=track,
                **self.arguments(run),
            )
