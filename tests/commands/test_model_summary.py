"""A fitted model in a few lines."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from goodprior import MAP, BNNRegressor
from goodprior.commands.model_summary import posterior_form, relevance_lines
from goodprior.data.table.encode import Columns


def test_of_a_wide_table_the_columns_that_matter_most_are_named():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 60)), columns=[f"x{i}" for i in range(60)])
    y = 3 * table["x7"] + rng.normal(0, 0.1, 60)
    model = BNNRegressor(hidden=(5,), method=MAP(epochs=100), random_state=0).fit(table, y)
    file = SimpleNamespace(model=model, columns=Columns.fit(table, target=[]))
    lines = relevance_lines(file, table)
    assert len(lines) == 21
    assert " in x7: " in lines[0]
    assert lines[-1] == "and less with the other 40 columns"


def test_one_draw_is_not_draws():
    posterior = SimpleNamespace(chains=4, draws_per_chain=1)
    model = SimpleNamespace(posterior_=posterior, method_name="mclmc")
    assert posterior_form(model) == "4 chains of 1 draw"
