"""A belief about columns that matter to different degrees."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior import checks
from goodprior.beliefs.base import Belief, as_points
from goodprior.beliefs.fit import fit_belief

ROWS = 600  # random rows to which proportions are fitted, at most
LONGEST = 1000.0  # a column that matters less is taken to have this lengthscale


class Stretched(eqx.Module):
    """Another belief, whose inputs are multiplied by a factor for each column first.

    Parameters
    ----------
    belief : Belief
        About the columns after that.
    factors : tuple of float
        One for each column: functions vary faster along those with large ones.

    Examples
    --------
    >>> import jax
    >>> from goodprior.beliefs import GaussianProcess, rbf
    >>> belief = Stretched(GaussianProcess(rbf(1.0)), (2.0, 0.1))
    >>> belief.sample(jax.random.key(0), jax.numpy.zeros((5, 2)), 3).shape
    (3, 5, 1)
    """

    belief: Belief
    factors: tuple[float, ...] = eqx.field(static=True)

    def __check_init__(self):
        for factor in self.factors:
            checks.positive("a factor", factor)

    def sample(
        self, key: PRNGKeyArray, x: Float[Array, "points ..."], n: int
    ) -> Float[Array, "n points out"]:
        """`n` functions at the points `x`."""
        x = as_points("x", x)
        if x.shape[1] != len(self.factors):
            raise ValueError(
                f"the belief has factors for {len(self.factors)} columns, but x has {x.shape[1]}"
            )
        return self.belief.sample(key, x * jnp.array(self.factors, x.dtype), n)


def fit_proportions(X: object, y: object, *, rows: int = ROWS, seed: int = 0) -> tuple[float, ...]:
    """Factors for `Stretched` that say how much each column matters, with a mean square of 1.

    They are the inverse lengthscales of a Matern 3/2 process with the largest penalised marginal
    likelihood (`fit_belief`).

    Parameters
    ----------
    X, y : array_like
        Standardised inputs and targets.
    rows : int
        Random rows to use, at most.
    seed : int
        Of the choice of rows.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(60, 2))
    >>> first, second = fit_proportions(x, np.sin(2 * x[:, 0]))
    >>> first > 5 * second
    True
    """
    fitted = fit_belief(X, y, kernels=("matern32",), trend=False, rows=rows, seed=seed)
    lengths = np.array([factor.lengthscale.median for factor in fitted.belief.terms[0].factors])
    inverse = 1 / np.minimum(lengths, LONGEST)
    return tuple((inverse / np.sqrt(np.mean(inverse**2))).tolist())
