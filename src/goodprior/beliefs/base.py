"""The contract of a belief, and what it sees of images."""

from typing import Protocol, runtime_checkable

from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks


@runtime_checkable
class Belief(Protocol):
    """A distribution over functions; anything with this one method is a belief.

    It is called from Python, never inside a compiled program, so it may use any library and need
    not be differentiable.

    Examples
    --------
    >>> import jax
    >>> class Lines:
    ...     def sample(self, key, x, n):
    ...         return jax.random.normal(key, (n, 1, 1)) * x
    >>> isinstance(Lines(), Belief)
    True
    """

    def sample(
        self, key: PRNGKeyArray, x: Float[Array, "points ..."], n: int
    ) -> Float[Array, "n points out"]:
        """Draw functions, all evaluated at the same points.

        Parameters
        ----------
        key : PRNGKeyArray
            Of the random numbers.
        x : Array
            Points in rows.
        n : int
            How many functions.

        Returns
        -------
        Array
            Independent draws, (n, points, outputs).
        """
        ...


def as_points(name: str, x: object) -> Float[Array, "points in"]:
    """Rows of a table as they are; of an image all pixels, one after another."""
    rows = checks.rows(name, x)
    return rows.reshape(len(rows), -1)
