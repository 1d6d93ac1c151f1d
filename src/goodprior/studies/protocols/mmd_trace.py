"""A prior watched while it is matched: squared MMD to a Gaussian process at test rows (A.8)."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array

from goodprior.beliefs import GaussianProcess, rbf
from goodprior.matching import squared_mmd
from goodprior.matching.distances import median_distance
from goodprior.priors import Prior
from goodprior.studies.protocols.data import problem_and_test


class MMDTrace:
    """Call it with a step and the prior by then; `values` has what was computed.

    The belief is the appendix's, a process with lengthscale sqrt(2 D). The MMD has the paper's
    kernel width sqrt(2 D), and the median distance, which does not depend on the number of points.
    """

    def __init__(self, settings: dict[str, Any], draws: int):
        problem, self.X_test, self.y_test = problem_and_test(settings)
        self.width = (2.0 * problem.X.shape[1]) ** 0.5
        self.problem = replace(problem, belief=GaussianProcess(rbf(self.width, 1.0)))
        self.key = jax.random.fold_in(jax.random.key(settings["seed"]), settings["split"])
        key_belief, self._key_prior = jax.random.split(jax.random.fold_in(self.key, 1))
        self._draws = draws
        assert problem.scaling is not None
        self._x = problem.scaling.inputs(self.X_test[: settings["points"]])
        self._target = self.problem.belief.sample(key_belief, self._x, self._draws)
        self._median = float(median_distance(self._target))
        self.values: dict[str, list[float]] = {"step": [], "mmd": [], "mmd_paper": []}

    def __call__(self, step: int, prior: Prior) -> None:
        functions = eqx.filter_jit(prior.functions)(self._key_prior, self._x, self._draws)
        self.values["step"].append(step)
        self.values["mmd"].append(self._mmd(functions, self._median))
        self.values["mmd_paper"].append(self._mmd(functions, self.width))

    def _mmd(self, functions: Array, width: float) -> float:
        return float(jax.jit(squared_mmd)(functions, self._target, width))

    def calibration(self) -> dict[str, float]:
        """What the belief's MMD is to itself, and to one with a doubled lengthscale."""
        found = {}
        for name, factor in (("itself", 1.0), ("doubled", 2.0)):
            other = GaussianProcess(rbf(factor * self.width, 1.0))
            draws = other.sample(jax.random.fold_in(self.key, 2), self._x, self._draws)
            found[f"mmd_{name}"] = self._mmd(draws, self.width)
        return found
