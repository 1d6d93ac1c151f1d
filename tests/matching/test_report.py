"""What a report says of priors that are like the belief, and of those that are not."""

import time

import jax
import numpy as np
import pytest

from goodprior.beliefs import About, Box, Factor, SumOfTerms, Term
from goodprior.matching import report_match
from goodprior.matching.report import POINTS, Along, Column, MatchReport
from goodprior.priors import closed_form_prior

KEY = jax.random.key(0)
POINTS_SET = Box([-2.0, -2.0], [2.0, 2.0], 50)
LINES = [np.zeros((POINTS, 2)) for _ in range(2)]
for i, line in enumerate(LINES):
    line[:, i] = np.linspace(-2, 2, POINTS)


def belief_of(first, second, amplitude=1.0):
    factors = (Factor(0, About(first)), Factor(1, About(second)))
    return SumOfTerms((Term(About(amplitude), factors),))


def report_on(said, carried, how="closed form"):
    prior, before = (closed_form_prior("gpi-g", b, key=KEY) for b in (carried, belief_of(1.0, 1.0)))
    return report_match(
        prior,
        said,
        POINTS_SET,
        lines=LINES,
        names=["age", "dose"],
        outputs=1,
        unmatched=before,
        how=how,
        key=KEY,
    )


def test_a_prior_that_is_like_the_belief_needs_no_warning():
    report = report_on(belief_of(0.3, 10.0), belief_of(0.3, 10.0))
    assert report.warnings == ()
    assert report.share < 0.1
    age, dose = report.columns
    for column in (age, dose):
        np.testing.assert_allclose(column.prior, column.belief, rtol=0.15)
    assert age.belief.roughness == pytest.approx(1 / 0.3, rel=0.1)  # of an RBF: amplitude / l
    assert age.belief.crossings > 3 * dose.belief.crossings
    assert "in closed form: none of the distance before is left" in str(report)


def test_a_warning_names_the_column_and_the_remedy():
    report = report_on(belief_of(0.3, 10.0), belief_of(0.3, 1.0), how="steps")
    (text,) = report.warnings
    assert text.startswith("along dose the prior has roughness")
    assert "state a belief and leave hidden, activation and network out" in text


def test_an_amplitude_that_is_lost_is_named():
    report = report_on(belief_of(1.0, 1.0, amplitude=2.0), belief_of(1.0, 1.0))
    (text,) = report.warnings
    assert "spread 0." in text
    assert "(and along 1 more)" in text


def test_a_distance_is_warned_about_where_no_column_is_to_blame():
    alike = Along(1.0, 2.0, 3.0)
    column = Column("age", alike, alike, False)
    (text,) = MatchReport("steps", (column,), 0.2, 0.5, 1.0).warnings
    assert text.startswith("the prior's functions are 20% of the distance")


def test_columns_along_which_nothing_changes_are_not_measured_by_their_roundings():
    flat = Column("dose", Along(1.0, 1e-4, 1.0), Along(1.0, 1.9e-4, 5.0), True)
    assert flat.warning() is None
    rough = flat._replace(prior=Along(1.0, 1.0, 5.0))
    assert "roughness 1 where the belief's is 0.0001" in rough.warning()


def test_a_second_report_takes_a_moment():
    report_on(belief_of(0.3, 10.0), belief_of(0.3, 10.0))
    started = time.perf_counter()
    report_on(belief_of(0.4, 9.0), belief_of(0.4, 9.0))
    assert time.perf_counter() - started < 3  # 0.2 s on an idle machine
