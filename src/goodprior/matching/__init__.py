"""Matching: tuning a prior until its functions are like the belief's.

`match` composes a prior, a belief, points, a distance and a schedule; distances share one contract.
"""

from goodprior.matching.compare import Comparison, compare
from goodprior.matching.critic import Wasserstein
from goodprior.matching.distances import (
    MMD,
    Distance,
    Energy,
    Sliced,
    energy_distance,
    squared_mmd,
)
from goodprior.matching.kl import KL, KLStein
from goodprior.matching.match import History, Match, match
from goodprior.matching.report import MatchReport, report_match
from goodprior.matching.schedule import MatchSchedule
from goodprior.matching.stein import stein_score

__all__ = [
    "KL",
    "MMD",
    "Comparison",
    "Distance",
    "Energy",
    "History",
    "KLStein",
    "Match",
    "MatchReport",
    "MatchSchedule",
    "Sliced",
    "Wasserstein",
    "compare",
    "energy_distance",
    "match",
    "report_match",
    "squared_mmd",
    "stein_score",
]
