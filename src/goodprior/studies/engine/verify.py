"""Stored rows held against the same jobs run again."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from goodprior.studies.engine.store import Job, Result

SAME = 1e-4  # relative: floating-point noise


class Check(NamedTuple):
    """One number of a stored row, what it is when the job runs again, and whether they agree.

    `unit` is the standard error of the mean of the row's cell over splits, None for fewer than two.
    """

    job: Job
    metric: str
    stored: float
    again: float
    unit: float | None
    reason: str
    agrees: bool | None  # None: it cannot be told


def pick(
    results: Mapping[str, Result], count: int, seed: int, longest: float | None = None
) -> list[Job]:
    """Return so many random jobs of those that took at most `longest` seconds (None: of all)."""
    short = [r.job for r in results.values() if longest is None or r.seconds <= longest]
    return Random(seed).sample(short, min(count, len(short)))


def compare(
    stored: Result, again: Result, results: Mapping[str, Result], metrics: Sequence[str]
) -> list[Check]:
    """Return a check for each of the metrics that both rows have as a number.

    With the same versions, commit and processor a job gives the same numbers, to floating-point
    noise. Elsewhere chains and training part ways; then a number agrees if it has moved by less
    than the standard error of its cell's mean over splits, so that no conclusion moves with it.
    """
    same = stored.versions == again.versions and all(
        stored.provenance.get(name, "") == again.provenance.get(name) for name in ("commit", "cpu")
    )
    found = []
    for metric in metrics:
        old, new = stored.row.get(metric), again.row.get(metric)
        if not isinstance(old, int | float) or not isinstance(new, int | float):
            continue
        unit = _standard_error(stored, results, metric)
        if abs(new - old) <= SAME * max(abs(old), abs(new)):
            reason, agrees = "the same to floating-point noise", True
        elif same:
            reason, agrees = "not the same, with the same commit, versions and processor", False
        elif unit is None:
            moved = 100 * abs(new - old) / max(abs(old), abs(new))
            reason, agrees = f"moved by {moved:.1f} %, with no other split to judge by", None
        else:
            reason = f"moved by {abs(new - old) / unit:.2f} standard errors of its cell's mean"
            agrees = abs(new - old) <= unit
        found.append(Check(stored.job, metric, old, new, unit, reason, agrees))
    return found


def _standard_error(one: Result, results: Mapping[str, Result], metric: str) -> float | None:
    cell = _cell(one)
    values = [r.row[metric] for r in results.values() if _cell(r) == cell and metric in r.row]
    values = [value for value in values if isinstance(value, int | float)]
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return (variance / len(values)) ** 0.5


def _cell(result: Result) -> dict[str, object]:
    return {k: v for k, v in result.settings.items() if k not in ("split", "seed")}
