"""Matching: tuning a prior until its functions are like the belief's.

`match` composes a prior, a belief, points and a distance; distances share one contract.
"""

from goodprior.matching.critic import Wasserstein
from goodprior.matching.distances import Distance, Energy, energy_distance, squared_mmd
from goodprior.matching.match import History, Match, compare, match

__all__ = [
    "Distance",
    "Energy",
    "History",
    "Match",
    "Wasserstein",
    "compare",
    "energy_distance",
    "match",
    "squared_mmd",
]
