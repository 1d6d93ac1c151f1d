import numpy as np
import pandas as pd

from goodprior import plots
from goodprior.studies.experiments import active_learning
from goodprior.studies.experiments.uci_regression import NLL
from goodprior.studies.paper import table
from goodprior.studies.reports.figures import by_depth


def test_depths_are_compared_on_common_splits():
    """Split 2 is there for one layer only, and would turn the difference round."""
    values = {"fg": {0: 2.6, 1: 2.8, 2: 1.0}, "gpi-g": {0: 2.5, 1: 2.6, 2: 9.0}}
    rows = pd.DataFrame(
        {"dataset": "concrete", "depth": d, "method": m, "split": s, "nll_moment": value}
        for m, each in values.items()
        for s, value in each.items()
        for d in ((1, 2) if s < 2 else (1,))
    )
    (ax,) = by_depth(rows, NLL, [("gpi-g", "fg")]).axes
    shown = [np.asarray(line.get_ydata(), float) for line in ax.get_lines()]
    assert any(np.allclose(y, [-0.15, -0.15]) for y in shown if len(y) == 2)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2"]


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
