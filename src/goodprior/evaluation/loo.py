"""Leave-one-out cross-validation by Pareto-smoothed importance sampling (PSIS-LOO)."""

from typing import NamedTuple

import numpy as np
from arviz_stats.base.array import array_stats
from jaxtyping import Float

LEAST_DRAWS = 25  # of all chains together: fewer have no tail for PSIS to smooth


class LOO(NamedTuple):
    """An estimate of the log density of new rows, and whether to trust it.

    Attributes
    ----------
    elpd
        Expected log predictive density, summed over rows.
    se
        Its standard error.
    p_loo
        Effective number of parameters.
    pareto_k
        Of each row's importance weights.
    pareto_k_limit
        Above which a row's part is unreliable: `min(0.7, 1 - 1 / log10(draws))` (Vehtari et al.,
        2024).
    pareto_k_high
        Share of the rows above the limit.
    reliable
        Whether there are none.
    """

    elpd: float
    se: float
    p_loo: float
    pareto_k: Float[np.ndarray, " rows"]
    pareto_k_limit: float
    pareto_k_high: float
    reliable: bool


def loo(log_likelihoods: Float[np.ndarray, "chains draws rows"]) -> LOO:
    """Estimate the log density of new rows from the posterior given all rows.

    Parameters
    ----------
    log_likelihoods
        The log density of each row under each draw.

    Returns
    -------
    LOO
        The estimate with its error and diagnostics.

    Raises
    ------
    ValueError
        If there are fewer than 25 draws in all.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> means, y = 0.1 * rng.normal(size=(4, 100, 1)), rng.normal(size=100)
    >>> found = loo(-0.5 * (y - means) ** 2 - 0.5 * np.log(2 * np.pi))
    >>> round(found.elpd / 100, 1), found.reliable, round(found.pareto_k_limit, 2)
    (-1.5, True, 0.62)
    """
    values = np.moveaxis(np.asarray(log_likelihoods, np.float64), -1, 0)
    draws = values[0].size
    if draws < LEAST_DRAWS:
        raise ValueError(
            f"PSIS-LOO needs at least {LEAST_DRAWS} draws of all chains together, there are "
            f"{draws}: increase draws"
        )
    elpd, pareto_k, p_loo = map(np.asarray, array_stats.loo(values))
    limit = min(0.7, 1 - 1 / float(np.log10(draws)))
    high = float(np.mean(~(pareto_k <= limit)))  # a NaN is as bad
    return LOO(
        elpd=float(elpd.sum()),
        se=float(elpd.std() * len(elpd) ** 0.5),
        p_loo=float(p_loo.sum()),
        pareto_k=pareto_k,
        pareto_k_limit=limit,
        pareto_k_high=high,
        reliable=high == 0,
    )
