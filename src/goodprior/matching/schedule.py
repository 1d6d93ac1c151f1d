"""How fast a match goes, and when it has arrived."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

CHUNK = 10  # steps of the prior between two looks at the progress


class Pace:
    """How fast to go: at full pace until the plateau or the end is near, then slower and slower.

    The plateau is where the last 50 values are on average no lower than the 50 before them, by
    more than the standard error of that difference. Settling takes 50 steps.
    """

    WINDOW = 50

    def __init__(self, steps: int, settles: bool):
        self.end = steps
        self.settling = min(self.WINDOW, steps // 2) if settles else 0
        self.settles = settles

    def next_chunk(self, values: Float[np.ndarray, " steps"]) -> Float[Array, " chunk"] | None:
        """The paces of the next steps (zero beyond the end), or None when it is reached."""
        done = len(values)
        if done >= self.end:
            return None
        if self.settles and done < self.end - self.settling and self._at_plateau(values):
            self.end = done + self.settling
        left = self.end - done - np.arange(CHUNK)
        paces = np.clip(left / max(self.settling, 1), 0, 1)
        return jnp.asarray(paces, jnp.float32)

    def _at_plateau(self, values: Float[np.ndarray, " steps"]) -> bool:
        if len(values) < 2 * self.WINDOW:
            return False
        earlier, later = np.split(values[-2 * self.WINDOW :], 2)
        error = np.sqrt((np.nanvar(earlier) + np.nanvar(later)) / self.WINDOW)
        return bool(np.nanmean(earlier) - np.nanmean(later) < error)
