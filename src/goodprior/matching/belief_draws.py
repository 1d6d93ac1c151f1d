"""What the prior's functions are compared with in each step: points, and the belief's functions."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from goodprior.beliefs.base import Belief
from goodprior.beliefs.measurement import MeasurementSet
from goodprior.matching.schedule import CHUNK, MatchSchedule


class BeliefDraws:
    """Points of each step and the belief's functions there, from its cache after a while."""

    def __init__(
        self,
        belief: Belief,
        points: MeasurementSet,
        schedule: MatchSchedule,
        redraw: int,
        key: PRNGKeyArray,
    ):
        self.belief, self.points, self.key = belief, points, key
        self.draws, self.samples = schedule.draws, redraw + 1
        self.points_seen = min(schedule.points or points.size, points.size)
        self.period = schedule.belief_cache
        self.cache: dict[int, tuple[Array, Array]] = {}

    def __call__(self, step: int) -> tuple[Array, Array]:
        """Those of the chunk that begins at this step."""
        if self.period is not None and step >= self.period:
            return self.cache[step % self.period]
        keys = jax.random.split(jax.random.fold_in(self.key, step), CHUNK)
        x, functions = zip(*map(self._one_step, keys), strict=True)
        found = jnp.stack(x), jnp.stack(functions)
        if self.period is not None:
            self.cache[step] = found
        return found

    def _one_step(self, key: PRNGKeyArray) -> tuple[Array, Array]:
        """The step's points, and the belief's functions: one sample, or one more per redraw."""
        key_points, key_some, key_belief = jax.random.split(key, 3)
        x, n = self.points.sample(key_points), self.draws * self.samples
        if self.points_seen < len(x):
            x = x[jax.random.choice(key_some, len(x), (self.points_seen,), replace=False)]
        functions = self.belief.sample(key_belief, x, n)
        if functions.ndim != 3 or functions.shape[:2] != (n, self.points_seen):
            raise ValueError(
                "belief.sample(key, x, n) must return an array of shape (n, points, outputs); for "
                f"n={n} and {self.points_seen} points it gave {functions.shape}"
            )
        return x, jnp.asarray(functions).reshape(self.samples, self.draws, *functions.shape[1:])
