"""The verdicts in `results/` rest on rows that are there."""

import re
from pathlib import Path

import pytest

from goodprior.studies.catalogue import MODULES, study
from goodprior.studies.reports import claims

RESULTS = Path(__file__).parents[2] / "results"
CLAIMS = claims.read_claims(RESULTS)


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.claim[:40] for claim in CLAIMS])
def test_the_rows_of_a_verdict_have_not_moved(claim):
    found = claims.evidence(claim, RESULTS)
    assert found.seen == claim.seen, "read the verdict in results/claims.toml again, then its seen"
    if claim.verdict in ("holds", "not seen"):
        assert "not converged, counted" not in found.seen, "unconverged chains decide nothing"
        assert "superseded" not in found.seen, "superseded rows decide nothing"
        ends = re.search(r"\[(.+), (.+)\]", found.effect)
        assert ends, "one difference decides nothing"
        assert float(ends[1]) * float(ends[2]) > 0, "an interval with zero in it decides nothing"
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
