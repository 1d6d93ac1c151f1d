"""The verdicts in `results/` rest on rows that are there; notes tell numbers that rows have."""

import re
from pathlib import Path

import numpy as np
import pytest

from goodprior.studies import paper
from goodprior.studies.catalogue import MODULES, study
from goodprior.studies.engine.store import Store
from goodprior.studies.reports import claims
from goodprior.studies.reports.report import frame

RESULTS = Path(__file__).parents[2] / "results"
PROTOCOL = {"0.02", "0.01"}  # of a step, a rate, and a bound in words
CLAIMS = claims.read_claims(RESULTS)


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.claim[:40] for claim in CLAIMS])
def test_the_rows_of_a_verdict_have_not_moved(claim):
    found = claims.evidence(claim, RESULTS)
    assert found.seen == claim.seen, "read the verdict in results/claims.toml again, then its seen"
    if claim.verdict in ("holds", "not seen"):
        assert "not converged, counted" not in found.seen, "unconverged chains decide nothing"
        assert "superseded" not in found.seen, "superseded rows decide nothing"
    if found.effect == "":
        assert claim.verdict in ("not tested", "undecided")


def test_every_claim_is_about_methods_of_its_study():
    for claim in CLAIMS:
        one = study(claim.study)
        jobs = [job.settings for job in one.jobs(one.presets["paper"])]
        known = {str(settings.get(claim.by)) for settings in jobs}
        assert set(claim.pair) <= known, claim
        assert any(claim.concerns(settings) for settings in jobs), claim


def test_every_study_has_a_claim_or_shows_only_how_matching_goes():
    told = {claim.study for claim in CLAIMS}
    rest = {"banana", "convergence", "convergence-images", "empirical-bayes-images", "map-images"}
    assert set(MODULES) - told == rest


def _numbers(value):
    """All numbers in a row, in its lists as well."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for entry in value for number in _numbers(entry)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def _known(name):
    """The numbers of a study's rows, their means over splits, and the paper's."""
    one = study(name)
    results = Store(RESULTS / name, one.reuses).results()
    numbers = [n for r in results.values() for n in _numbers([dict(r.settings), dict(r.row)])]
    rows = frame(results)
    if "split" in rows:
        cells = [c for c in ("dataset", "network", "depth", "method", "distance") if c in rows]
        means = rows.groupby(cells, dropna=False).mean(numeric_only=True)
        numbers += means.to_numpy().ravel().tolist()
    for against in one.against:
        if against.table:
            numbers += paper.table(against.table)[["mean", "spread"]].to_numpy().ravel().tolist()
    return np.array(numbers, float)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*/notes.md")), ids=lambda p: p.parent.name)
def test_numbers_in_the_notes_are_in_the_rows(path):
    """Numbers with a decimal point, but for percentages, steps and rates of the protocol."""
    known, text = _known(path.parent.name), path.read_text()
    for word in re.findall(r"(?<![\d.])\d+\.\d+(?![\d.]| %)", text):
        digits = len(word.partition(".")[2])
        close = np.abs(known - float(word)) <= 0.5001 * 10.0**-digits
        assert close.any() or word in PROTOCOL, f"{word} in {path} is not in its rows"
