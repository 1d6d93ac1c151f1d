"""Beliefs as they are written on the command line."""

import re

import pytest

from goodprior.beliefs.text import belief_from_text


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("smooth", "smooth"),
        (" rough ", "rough"),
        ("amplitude=3", {"amplitude": 3.0}),
        ("lengthscale=0.5,kernel=matern12", {"lengthscale": 0.5, "kernel": "matern12"}),
        ("kernel=periodic, period=12", {"kernel": "periodic", "period": 12.0}),
        ("period.seen=year", {"period": {"seen": "year"}}),
        ("season(period=week)", {"kernel": "periodic", "period": "week"}),
        ("lengthscale.body mass=1e2", {"lengthscale": {"body mass": 100.0}}),
        ("lengthscale.a.b=2", {"lengthscale": {"a.b": 2.0}}),
        ("lengthscale.color=red=2", {"lengthscale": {"color=red": 2.0}}),
        (
            "lengthscale.age=40 x/ 2, amplitude=1e+2",
            {"lengthscale": {"age": "40 x/ 2"}, "amplitude": 100.0},
        ),
        ("ignore=id, ignore=sex", {"ignore": ["id", "sex"]}),
        ("smoothness=2.5, column=age", {"smoothness": 2.5, "column": "age"}),
        ("levels.color=similar", {"levels": {"color": "similar"}}),
        ("levels.color=0.5", {"levels": {"color": 0.5}}),
        ("monotone.age=decreasing", {"monotone": {"age": "decreasing"}}),
        ("curves=my curves.csv", {"curves": "my curves.csv"}),
        ("trend+smooth", ["trend", "smooth"]),
        (
            "trend(column=year) + season(period.month=12, decay=5)",
            [
                {"kernel": "linear", "column": "year"},
                {"kernel": "periodic", "period": {"month": 12.0}, "decay": 5.0},
            ],
        ),
    ],
)
def test_a_word_or_a_table(text, understood):
    assert belief_from_text(text) == understood


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("amplitude=big", "'amplitude=big' needs a number"),
        ("amplitude=", "'amplitude=' is not NAME=VALUE"),
        ("amplitude=1,,", "'' is not NAME=VALUE"),
        ("lengthscale=1,amplitude", "'amplitude' is not NAME=VALUE"),
        ("amplitude=1,amplitude=2", "amplitude is given twice"),
        ("lengthscale.age=1,lengthscale.age=2", "age is given twice"),
        ("lengthscale=1,lengthscale.age=2", "then for columns alone"),
        ("lengthscale.age=2,lengthscale=1", "lengthscale is given twice"),
        ("season(period=12", "brackets that do not match"),
        ("bumpy(period=12)", "'bumpy' is none of smooth, rough, trend, season"),
        ("season(kernel=rbf)", "gives a kernel twice"),
        ("amplitude.age=2", "only lengthscale, period, levels, monotone can be given per column"),
        ("levels.color=alike", "needs similar or unrelated or a number"),
        ("monotone.age=up", "needs increasing or decreasing after the ="),
    ],
)
def test_what_cannot_be_understood_is_named(text, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        belief_from_text(text)
