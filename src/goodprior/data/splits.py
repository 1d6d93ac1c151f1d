"""Parts of a table's rows: random ones to validate or to test on, and evenly spread ones."""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Int, PRNGKeyArray

from goodprior import checks


def hold_out(
    key: PRNGKeyArray, rows: int, share: float = 0.2
) -> tuple[Int[np.ndarray, " kept"], Int[np.ndarray, " held"]]:
    """Row numbers to train on, and row numbers to validate on.

    Parameters
    ----------
    key : PRNGKeyArray
        Of the choice.
    rows : int
        How many rows there are.
    share : float
        The part of them that is held out.

    Returns
    -------
    kept, held : ndarray
        Sorted, disjoint, together all rows.

    Examples
    --------
    >>> import jax
    >>> kept, held = hold_out(jax.random.key(0), 10)
    >>> len(kept), len(held), sorted({*kept.tolist(), *held.tolist()}) == list(range(10))
    (8, 2, True)
    """
    checks.whole("rows", rows, least=2)
    if not 0 < share < 1:
        raise ValueError(f"the share of rows to validate on must be between 0 and 1, got {share!r}")
    held = min(max(round(share * rows), 1), rows - 1)
    order = np.asarray(jax.random.permutation(key, rows))
    return np.sort(order[held:]), np.sort(order[:held])


def random_parts(rows: int, sizes: Sequence[int], seed: int) -> list[Int[np.ndarray, " part"]]:
    """Row numbers of disjoint random parts with the given sizes.

    Parameters
    ----------
    rows : int
        How many rows there are.
    sizes : sequence of int
        Of the parts.
    seed : int
        Of NumPy's generator.

    Returns
    -------
    list of ndarray
        One for each part.

    Examples
    --------
    >>> train, test = random_parts(10, (7, 3), seed=0)
    >>> sorted([*train.tolist(), *test.tolist()]) == list(range(10))
    True
    """
    for size in sizes:
        checks.whole("sizes", size, least=0)
    if sum(sizes) > rows:
        raise ValueError(f"sizes must add up to at most the {rows} rows, got {list(sizes)}")
    order = np.random.default_rng(seed).permutation(rows)
    return np.split(order[: sum(sizes)], np.cumsum(sizes)[:-1])


def evenly_spread(rows: int, most: int) -> Int[np.ndarray, " chosen"]:
    """Numbers of at most so many rows, evenly spread, with the first and the last.

    Examples
    --------
    >>> evenly_spread(9, 3).tolist(), evenly_spread(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    return np.linspace(0, rows - 1, min(most, rows)).round().astype(int)
