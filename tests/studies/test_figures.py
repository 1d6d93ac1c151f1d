import numpy as np
import pandas as pd
import pytest

from goodprior import plots
from goodprior.studies.experiments import active_learning
from goodprior.studies.experiments.uci_regression import NLL
from goodprior.studies.paper import table
from goodprior.studies.reports.figures import by_depth


@pytest.mark.parametrize("outsider", ["ensemble", "gpi-nf"])
@pytest.mark.parametrize(("score", "edge"), [(2.5, None), (9.0, 0.97), (-9.0, 0.03)])
def test_methods_far_off_do_not_set_the_range_of_depths(outsider, score, edge):
    scores = {"fg": 2.6, "gpi-g": 2.4, outsider: score}
    rows = [
        {"dataset": "concrete", "depth": depth, "method": method, "split": 0, "nll_moment": score}
        for depth in (1, 2)
        for method, score in scores.items()
    ]
    (ax,) = by_depth(pd.DataFrame(rows), NLL).axes
    low, high = ax.get_ylim()
    assert -1 < low < 2.4
    assert 2.6 < high < 5
    at_edges = [
        y
        for line in ax.get_lines()
        if line.get_marker() in "^v" and line.get_fillstyle() == "full"
        for y in line.get_ydata()
    ]
    assert at_edges == ([edge, edge] if edge else [])


def test_active_learning_shows_the_papers_last_step():
    course = {"training_rows": [100, 110], "rmse_course": [3.5, 3.0], "rmse": 3.0, "rounds": 10}
    rows = [
        {"dataset": "boston", "method": m, "split": 0, **course} for m in active_learning.METHODS
    ]
    (ax,) = active_learning.figures(pd.DataFrame(rows))["progress"].axes
    hollow = [line for line in ax.get_lines() if line.get_fillstyle() == "none"]
    paper = table("active_learning_rmse")
    expected = paper[paper["dataset"] == "boston"].set_index("method")["mean"]
    for method in ("FG", "FH", "GPi-G", "GPi-H"):
        (mark,) = (line for line in hollow if line.get_marker() == plots.MARKS[method])
        assert mark.get_ydata()[0] == expected[method]
    assert {float(np.ravel(line.get_xdata())[0]) for line in hollow} == {110.0}
    short = pd.DataFrame(rows).assign(rounds=3)  # the quick preset ends where the paper has nothing
    (ax,) = active_learning.figures(short)["progress"].axes
    assert not [line for line in ax.get_lines() if line.get_fillstyle() == "none"]
