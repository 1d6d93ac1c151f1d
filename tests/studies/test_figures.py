import numpy as np
import pandas as pd

from goodprior.studies.experiments.uci_regression import NLL
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
