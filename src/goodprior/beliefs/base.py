"""The contract of a belief."""

from typing import Protocol, runtime_checkable

from jaxtyping import Array, Float, PRNGKeyArray


@runtime_checkable
class Belief(Protocol):
    """A distribution over functions. Anything with this one method is a belief.

    It is called from Python, never inside a compiled program, so it may use any library and need
    not be differentiable.
    """

    def sample(
        self, key: PRNGKeyArray, x: Float[Array, "points in"], n: int
    ) -> Float[Array, "n points out"]:
        """`n` independent functions, each evaluated at the same points."""
        ...
