"""How a prior follows a distance: for how long, with which draws and optimiser, until when."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from goodprior import checks

CHUNK = 10  # steps that are compiled as one loop; progress is looked at between chunks

Optimiser = str | Callable[[float], optax.GradientTransformation]
OPTIMISERS: dict[str, Callable[[float], optax.GradientTransformation]] = {
    "adam": optax.adam,
    "rmsprop": partial(optax.rmsprop, decay=0.99, eps=1e-8),
}


@dataclass(frozen=True)
class MatchSchedule:
    """Steps, draws, optimiser and stopping rule of a match.

    The defaults are those of the distances without a critic. Their steps are small, with other
    points in each: twice the draws at twice the points come about as near to the belief and cost
    four times as much. `MatchSchedule.published` has the paper's.

    Parameters
    ----------
    steps : int
        Steps of the prior, at most.
    draws : int
        Functions drawn from the belief and from the prior in each step.
    points : int or None
        Points of the measurement set that a step looks at, chosen anew each time; None for all.
    belief_cache : int or None
        Reuse the belief's draws after this many steps, a multiple of ten; None for new draws in
        every step. The prior's draws are always new.
    optimiser : str or callable
        `"adam"`, `"rmsprop"`, or a function of the learning rate that gives an optax optimiser.
    learning_rate : float
        Of the optimiser.
    stop_at_plateau : bool
        Stop once the value no longer falls, with a learning rate that decays over the last 50
        steps.
    stop_below : float or None
        Stop as soon as the value, averaged over the last ten steps, is not above this.
    scale_penalty : float
        Weight of the prior's `scale_penalty`, in units of the mean distance between two draws of
        the belief: keeps scales near 1 along flat valleys of the distance.

    Examples
    --------
    >>> MatchSchedule(steps=50).draws
    64
    >>> MatchSchedule.published(learning_rate=0.01).steps
    200
    """

    steps: int = 400
    draws: int = 64
    points: int | None = 50
    belief_cache: int | None = 100
    optimiser: Optimiser = "adam"
    learning_rate: float = 0.2
    stop_at_plateau: bool = True
    stop_below: float | None = None
    scale_penalty: float = 5e-5

    def __check_init__(self):
        checks.whole("steps", self.steps)
        checks.whole("draws", self.draws, least=2)
        checks.positive("learning_rate", self.learning_rate)
        if self.points is not None:
            checks.whole("points", self.points)
        cache = self.belief_cache
        if cache is not None and checks.whole("belief_cache", cache) % CHUNK:
            raise ValueError(f"belief_cache must be a multiple of {CHUNK}, got {cache}")
        if isinstance(self.optimiser, str):
            checks.one_of("optimiser", self.optimiser, OPTIMISERS)
        if not (np.isfinite(self.scale_penalty) and self.scale_penalty >= 0):
            raise ValueError(
                f"scale_penalty must be a finite number, zero or above, got {self.scale_penalty!r}"
            )

    __post_init__ = __check_init__  # files that hold a schedule are checked by the former

    @classmethod
    def published(cls, **changes: Any) -> "MatchSchedule":
        """The paper's schedule: RMSprop for 200 steps, with new draws at all points in each.

        Parameters
        ----------
        **changes
            Fields that are to differ.
        """
        paper = {
            "steps": 200,
            "draws": 128,
            "points": None,
            "belief_cache": None,
            "optimiser": "rmsprop",
            "learning_rate": 0.05,
            "stop_at_plateau": False,
            "scale_penalty": 0.0,
        }
        return cls(**{**paper, **changes})

    def transformation(self) -> optax.GradientTransformation:
        """The optimiser as optax knows it; steps whose gradient is not finite are left out."""
        return _transformation(self.optimiser, self.learning_rate)

    def reached(self, values: Float[np.ndarray, " steps"]) -> bool:
        """Whether to stop after these values because they are low enough."""
        return self.stop_below is not None and (
            float(np.nanmean(values[-CHUNK:])) <= self.stop_below
        )


@cache  # the same object every time, so that what was compiled with it is found again
def _transformation(optimiser: Optimiser, learning_rate: float) -> optax.GradientTransformation:
    make = OPTIMISERS[optimiser] if isinstance(optimiser, str) else optimiser
    return optax.apply_if_finite(make(learning_rate), max_consecutive_errors=2**30)


class PlateauDecay:
    """Factors of the learning rate: 1 until the plateau or the end is near, then falling to 0.

    The plateau is where the last 50 values are on average no lower than the 50 before them, by
    more than the standard error of that difference. The decay takes 50 steps.
    """

    WINDOW = 50

    def __init__(self, schedule: MatchSchedule):
        self.end, self.enabled = schedule.steps, schedule.stop_at_plateau
        self.decay = min(self.WINDOW, schedule.steps // 2) if self.enabled else 0

    def next_chunk(self, values: Float[np.ndarray, " steps"]) -> Float[Array, " chunk"] | None:
        """The factors of the next steps (zero beyond the end), or None when it is reached."""
        done = len(values)
        if done >= self.end:
            return None
        if self.enabled and done < self.end - self.decay and self._at_plateau(values):
            self.end = done + self.decay
        left = self.end - done - np.arange(CHUNK)
        return jnp.asarray(np.clip(left / max(self.decay, 1), 0, 1), jnp.float32)

    def _at_plateau(self, values: Float[np.ndarray, " steps"]) -> bool:
        if len(values) < 2 * self.WINDOW:
            return False
        earlier, later = np.split(values[-2 * self.WINDOW :], 2)
        error = np.sqrt((np.nanvar(earlier) + np.nanvar(later)) / self.WINDOW)
        return bool(np.nanmean(earlier) - np.nanmean(later) < error)
