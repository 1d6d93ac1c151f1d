"""Deep ensembles."""

from dataclasses import dataclass
from typing import ClassVar

from goodprior import checks
from goodprior.baselines import fit_ensemble
from goodprior.inference import Posterior
from goodprior.pipeline.methods.base import Run
from goodprior.pipeline.methods.trained import Rate, Trained, no_constant_noise
from goodprior.pipeline.problem import Problem

LEAST_STEPS, MOST_STEPS = 1000, 5000  # between them the paper's 50 epochs


@dataclass(frozen=True)
class Ensemble(Trained):
    """Networks that start in different places, each with a weight decay chosen by validation.

    Parameters
    ----------
    epochs, batch_size, learning_rate
        Of their training.
    members
        How many networks.
    weight_decay
        One, or None to choose it by validation.

    Examples
    --------
    >>> Ensemble(members=5).name
    'ensemble'
    """

    batch_size: int | None = 32
    learning_rate: Rate | None = 0.01
    members: int = 8
    weight_decay: float | None = None
    name: ClassVar[str] = "ensemble"
    uses: ClassVar[frozenset[str]] = frozenset({"sample_weight"})
    has_prior: ClassVar[bool] = False

    def __check_init__(self):
        super().__check_init__()
        checks.whole("members", self.members)

    __post_init__ = __check_init__

    def refuses(self, problem: Problem) -> list[str]:
        return [*super().refuses(problem), *no_constant_noise(self.name, problem)]

    def batch(self, rows: int) -> int:
        return max(1, super().batch(rows // 2))  # also of what validation leaves

    def epochs_for(self, rows: int) -> int:
        batch = self.batch(rows)
        steps = min(max(50 * rows // batch, LEAST_STEPS), MOST_STEPS)
        return self.epochs or max(1, steps * batch // rows)

    def train(self, run: Run) -> Posterior:
        problem = run.problem
        decay = {} if self.weight_decay is None else {"weight_decay": self.weight_decay}
        with run.hooks.tracking("training the ensemble") as track:
            return fit_ensemble(
                problem.build_network(),
                problem.likelihood,
                problem.X,
                problem.y,
                members=self.members,
                row_weights=problem.row_weights,
                on_progress=track,
                **decay,
                **self.arguments(run),
            )
