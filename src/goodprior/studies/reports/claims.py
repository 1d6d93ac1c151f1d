"""The paper's claims: verdicts typed by people, beside effects computed from the rows.

`results/claims.toml` has a table for each claim: what the paper says and where, the pair of methods
and the metric that tell, the verdict with its confidence and reason, and in `seen` the effect that
the verdict was given for. When rows change and the effect with them, the verdict is out of date
until somebody has read it again.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from goodprior.studies.catalogue import study
from goodprior.studies.engine.store import Store
from goodprior.studies.engine.study import DISTANCES, PIXELS, Against, Study
from goodprior.studies.protocols.method_names import LABELS
from goodprior.studies.reports.compare import from_to, paired, t_interval
from goodprior.studies.reports.report import frame, select

VERDICTS = ("holds", "holds in part", "not seen", "undecided", "not tested")


@dataclass(frozen=True)
class Claim:
    """What the paper says, and what was thought of it when the effect was `seen`."""

    claim: str
    section: str
    study: str
    metric: str
    pair: tuple[str, str]
    verdict: str
    confidence: str
    why: str
    seen: str
    by: str = "method"  # or `sampler`: what tells the two of a pair apart
    where: dict[str, Any] = field(default_factory=dict)
    higher_is_better: bool = False
    chains: bool = True  # whether the metric rests on chains, which must have converged
    paper: str = "figure"  # in words, where it prints no numbers

    def concerns(self, settings: Mapping[str, Any]) -> bool:
        """Whether these settings are of the claim's cells."""
        return all(settings.get(k) in np.atleast_1d(v) for k, v in self.where.items())


@dataclass(frozen=True)
class Evidence:
    """An effect in words, the paper's, on what it rests, and how much of the protocol was run."""

    effect: str
    paper: str
    rows: str
    share: str

    @property
    def seen(self) -> str:
        """All that a verdict rests on."""
        return f"{self.effect}; {self.rows}"


def read_claims(results: Path) -> list[Claim]:
    """Return the claims of a results folder, in the order of its file; none without the file."""
    path = results / "claims.toml"
    if not path.exists():
        return []
    typed = tomllib.loads(path.read_text(encoding="utf-8"))["claim"]
    found = [Claim(**{**table, "pair": tuple(table["pair"])}) for table in typed]
    for claim in found:
        if claim.verdict not in VERDICTS:
            raise ValueError(
                f"{path}: verdict of {claim.claim!r} must be one of {', '.join(VERDICTS)}; got "
                f"{claim.verdict!r}"
            )
    return found


def evidence(claim: Claim, results: Path) -> Evidence:
    """Return what the rows say on a claim: the first of its pair minus the second.

    Over cells (data sets, mostly) it is the mean of each cell's mean over common splits, with an
    interval over cells; of one cell, with an interval over splits. Rows that no longer count are
    used only where there are no others, and matching by the way that most pairs have, the paper's
    first. Cells that have not converged are counted and left out, unless none has.
    """
    one = study(claim.study)
    metric = next(
        (a for a in one.against if a.metric == claim.metric),
        Against(claim.metric, "", claim.metric, higher_is_better=claim.higher_is_better),
    )
    for superseded in (False, True):
        preset, rows = _rows(claim.study, results, superseded)
        pairs, way = _pairs(claim, rows, metric)
        if len(pairs):
            break
    share = _share(claim, one, results)
    if pairs.empty:
        return Evidence("", claim.paper, "no rows", share)
    good = pairs[pairs["converged"]] if pairs["converged"].any() else pairs
    one_cell = len(good) == 1
    low, high = good[["low", "high"]].iloc[0] if one_cell else t_interval(good["difference"])
    sign = -1.0 if metric.higher_is_better else 1.0
    effect = f"{_number(good['difference'].mean())} {_interval(low, high)}".strip()
    if not one_cell:
        effect += f", better in {int((sign * good['difference'] < 0).sum())} of {len(good)}"
    known = good["paper"].dropna()
    paper = claim.paper
    if len(known):
        paper = _number(known.mean())
        if not one_cell:
            paper += f", better in {int((sign * known < 0).sum())} of {len(known)}"
    restless = int((~pairs["converged"]).sum())
    words = [
        f"{_plural(len(pairs), 'cell')} of {from_to(pairs['n'])} splits",
        way,
        preset,
        f"{restless} not converged" + (", counted" if restless == len(pairs) else "")
        if restless
        else "",
        "superseded" if superseded else "",
    ]
    return Evidence(effect, paper, ", ".join(filter(None, words)), share)


@cache
def _rows(name: str, results: Path, superseded: bool) -> tuple[str, pd.DataFrame]:
    one = study(name)
    chosen = select(one, Store(results / name, one.reuses), superseded=superseded)
    rows = frame(chosen.mine)
    return chosen.preset, rows if "split" in rows else rows.assign(split=0)


def _pairs(claim: Claim, rows: pd.DataFrame, metric: Against) -> tuple[pd.DataFrame, str]:
    """The pair's cells by the way of matching that has most, and that way in words."""
    best, way = pd.DataFrame(), ""
    if not {claim.by, metric.metric} <= set(rows):
        return best, way
    rows = rows[[claim.concerns(dict(row)) for _, row in rows.iterrows()]]
    if not claim.chains:
        rows = rows.drop(columns=["rhat_max", "ess_min", "burn_in"], errors="ignore")
    distance = rows.get("distance", pd.Series(None, rows.index, dtype=object))
    units = rows.get("pixels", pd.Series(None, rows.index, dtype=object)).fillna("standardised")
    for name in DISTANCES:
        for pixels in PIXELS:
            mine = (distance == name) & (units == pixels)
            some = rows[distance.isna() | mine]
            table = paired(some, metric, [claim.pair], claim.by) if len(some) else best
            if len(table) and table["n"].sum() > (best["n"].sum() if len(best) else 0):
                images = f", {pixels} pixels" if "network" in rows else ""
                best, way = table, f"{_critic(name)}{images}" if mine.any() else ""
    return best, way


def _share(claim: Claim, one: Study, results: Path) -> str:
    """How many of the paper's jobs for the pair have been run, by its own distance."""
    wanted = {
        job.hash
        for job in one.jobs(one.presets["paper"])
        if job.settings.get(claim.by) in claim.pair and claim.concerns(job.settings)
    }
    return f"{len(wanted & _current(claim.study, results))} of {len(wanted)}"


@cache
def _current(name: str, results: Path) -> set[str]:
    one = study(name)
    return set(select(one, Store(results / name, one.reuses)).results)


def _critic(distance: str) -> str:
    return "critic" if distance == "wasserstein" else f"{distance} distance"


def _number(value: float) -> str:
    return f"{value:+.3g}"


def _interval(low: float, high: float) -> str:
    return "" if np.isnan(low) else f"[{_number(low)}, {_number(high)}]"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def table(results: Path) -> pd.DataFrame:
    """Return the claims table of the page: a row per claim."""
    found = []
    for claim in read_claims(results):
        known = evidence(claim, results)
        first, second = (LABELS.get(name, name) for name in claim.pair)
        stale = "" if known.seen == claim.seen else " (**rows have changed since**)"
        found.append(
            {
                "claim": f"{claim.claim} ({claim.section})",
                "verdict": f"**{claim.verdict}**{stale}",
                "difference": f"{claim.metric}, {first} minus {second}",
                "ours, with 95 % interval": known.effect,
                "the paper's": known.paper,
                "on": known.rows,
                "paper's jobs run": known.share,
                "confidence": f"{claim.confidence}: {claim.why}",
                "study": f"[{claim.study}]({claim.study}.md)",
            }
        )
    return pd.DataFrame(found)
