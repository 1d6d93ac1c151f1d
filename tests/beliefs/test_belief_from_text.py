"""Beliefs as they are written on the command line."""

import re

import pytest

from goodprior.beliefs.spec import belief_from_text


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("smooth", "smooth"),
        (" rough ", "rough"),
        ("amplitude=3", {"amplitude": 3.0}),
        ("lengthscale=0.5,kernel=matern12", {"lengthscale": 0.5, "kernel": "matern12"}),
        ("kernel=periodic, period=12", {"kernel": "periodic", "period": 12.0}),
        ("lengthscale.body mass=1e2", {"lengthscale": {"body mass": 100.0}}),
        ("lengthscale.a.b=2", {"lengthscale": {"a.b": 2.0}}),
        ("lengthscale.color=red=2", {"lengthscale": {"color=red": 2.0}}),
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
        ("amplitude.age=2", "only lengthscale can be given per column"),
    ],
)
def test_what_cannot_be_understood_is_named(text, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        belief_from_text(text)
