"""Deep ensembles."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from goodprior import checks
from goodprior.baselines import fit_ensemble
from goodprior.baselines.ensemble import weight_decay_nlls
from goodprior.inference import Posterior
from goodprior.pipeline.methods.base import Run
from goodprior.pipeline.methods.trained import Rate, Trained

LEAST_STEPS, MOST_STEPS = 1000, 5000  # between them the paper's 50 epochs
CHOICE_SHARE = 0.8  # of the time, where there is a budget: all weight decays are trained


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
    uses: ClassVar[frozenset[str]] = frozenset({"sample_weight", "budget"})
    has_prior: ClassVar[bool] = False
    learns_constant_noise: ClassVar[bool] = False

    def __check_init__(self):
        super().__check_init__()
        checks.whole("members", self.members)

    __post_init__ = __check_init__

    def batch(self, rows: int) -> int:
        return max(1, super().batch(rows // 2))  # also of what validation leaves

    def epochs_for(self, rows: int) -> int:
        batch = self.batch(rows)
        steps = min(max(50 * rows // batch, LEAST_STEPS), MOST_STEPS)
        return self.epochs or max(1, steps * batch // rows)

    def train(self, run: Run) -> Posterior:
        problem = run.problem
        settings: dict[str, Any] = {
            "members": self.members,
            "row_weights": problem.row_weights,
            **self.arguments(run),
        }
        given = problem.build_network(), problem.likelihood, problem.X, problem.y
        decay, report = self.weight_decay, {}
        if decay is None:
            task = "choosing the weight decay"
            with run.hooks.stage(task, share=CHOICE_SHARE) as track:
                found = weight_decay_nlls(*given, on_progress=track, **settings)
            decay = min(found, key=lambda each: each[1])[0]
            report = {"validation_nll": found}
        with run.hooks.stage("training the ensemble", keeps=True) as track:
            ensemble = fit_ensemble(*given, weight_decay=decay, on_progress=track, **settings)
        return replace(ensemble, report=ensemble.report | report)
