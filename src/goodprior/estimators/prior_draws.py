"""What estimators say about belief and prior: draws of functions, a report and a picture."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from goodprior import checks
from goodprior.beliefs.spec import ParsedBelief
from goodprior.estimators.figures import plot_prior
from goodprior.estimators.rows import Rows
from goodprior.estimators.validation import column_name
from goodprior.matching.report import POINTS, MatchReport, report_match
from goodprior.pipeline import Problem
from goodprior.pipeline.prior import unmatched_prior
from goodprior.priors import Prior


class Matched(NamedTuple):
    """What the report on a match needs; it holds the training rows."""

    problem: Problem
    key: PRNGKeyArray
    how: str


class PriorDraws(Rows):
    """Belief and prior of a fitted estimator, in the user's units."""

    belief_: ParsedBelief
    prior_: Prior
    random_state: Any
    _matched: Matched | None = None
    _report: MatchReport | None = None

    def sample_prior(self, X: Any, n: int = 100, random_state: Any = None) -> np.ndarray:
        """Draws of the function from the prior, before any data.

        Parameters
        ----------
        X
            Rows, in the columns' units.
        n
            How many draws.
        random_state
            Seed of the draws (None: the estimator's).

        Returns
        -------
        numpy.ndarray
            Of shape (n, rows) or (n, rows, targets) on the scale of the targets; for a classifier
            these are logits.
        """
        self._check_prior()
        return self._draws(self.prior_.functions, X, n, random_state)

    def sample_belief(self, X: Any, n: int = 100, random_state: Any = None) -> np.ndarray:
        """Draws of the function from the belief, which the prior should be like.

        Parameters
        ----------
        X
            Rows, in the columns' units.
        n
            How many draws.
        random_state
            Seed of the draws (None: the estimator's).

        Returns
        -------
        numpy.ndarray
            As those of `sample_prior`.
        """
        check_is_fitted(self, "belief_")
        return self._draws(self.belief_.belief.sample, X, n, random_state)

    @property
    def match_report_(self) -> MatchReport:
        """How like the belief the prior is, column by column; made when it is first asked for."""
        if self._report is None:
            if self._matched is None:
                raise AttributeError(
                    "there is no report: it is made after fit or fit_prior with a prior that is "
                    "matched (gpi-…), in the program that matched it"
                )
            self._report = self._make_report(self._matched)
        return self._report

    def plot_prior(self, n: int = 8) -> Any:
        """A figure: functions of the belief beside functions of the prior, along the columns.

        Parameters
        ----------
        n
            How many functions.
        """
        self._check_prior()
        return plot_prior(self, n, None if self._matched is None else self.match_report_)

    def _check_prior(self) -> None:
        if hasattr(self, "posterior_") and not hasattr(self, "prior_"):
            name = getattr(self, "method_name", None)
            raise ValueError(f"method {name} has no prior over weights to draw from")
        check_is_fitted(self, "prior_")

    def _draws(self, draw: Any, X: Any, n: int, random_state: Any) -> np.ndarray:
        rows = self._check_new(X)
        rng = check_random_state(self.random_state if random_state is None else random_state)
        key = jax.random.key(rng.randint(2**31 - 1))
        x = jnp.asarray(self.scaling_.inputs(rows), jnp.float32)
        functions = np.asarray(draw(key, x, checks.whole("n", n)), np.float64)
        if self.TASK == "classification":
            return functions
        scale = np.atleast_1d(self.scaling_.y_std)
        values = self.scaling_.y_mean + scale * functions[..., : len(scale)]
        return values[..., 0] if getattr(self, "_vector", True) else values

    def _make_report(self, matched: Matched) -> MatchReport:
        problem = matched.problem
        low, high = self.box_
        varying = [i for i in range(len(low)) if high[i] > low[i]] or [0]
        lines = []
        for column in varying:
            rows = np.tile(self.scaling_.x_mean, (POINTS, 1))
            rows[:, column] = np.linspace(low[column], high[column] + 1e-9, POINTS)
            lines.append(np.asarray(self.scaling_.inputs(rows)))
        return report_match(
            self.prior_,
            problem.belief,
            problem.measurement_set(),
            lines=lines,
            names=[column_name(self, column) for column in varying],
            outputs=problem.observation.functions,
            unmatched=unmatched_prior(problem, matched.key),
            how=matched.how,
            key=jax.random.key(0),
        )
