"""The priors of the published critic and of the short one: `results/short_critic.csv`."""

from pathlib import Path

import pandas as pd
import pytest
from benchmarks import short_critic

RESULTS = Path(__file__).parents[2] / short_critic.RESULTS


@pytest.fixture(scope="module")
def table():
    rows = pd.read_csv(RESULTS, dtype={"schedule": str})
    return short_critic.summary(rows).set_index(["schedule", "measure"])


@pytest.mark.parametrize("measure", short_critic.MEASURES)
def test_the_short_critic_gives_the_published_prior_within_monte_carlo_error(table, measure):
    found = table.loc[("20", measure)]
    assert found["sets"] == len(short_critic.SETS)
    assert found["low"] < 0 < found["high"]
