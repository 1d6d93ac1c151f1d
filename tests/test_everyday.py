"""Tables as people have them, from file to report, beside scikit-learn on the same rows."""

from pathlib import Path

import pandas as pd
import pytest
from benchmarks import everyday


@pytest.mark.slow
@pytest.mark.parametrize("name", everyday.TARGETS)
def test_from_file_to_report_and_no_worse_than_scikit_learn(name: str, tmp_path: Path):
    found, words = everyday.ours(name, tmp_path)
    best = min(everyday.peers(name).values())
    assert found["loss"] <= 1.05 * best
    rows = len(pd.read_csv(everyday.FOLDER / f"{name}-new.csv.gz"))
    chance = 2.5 * (0.95 * 0.05 / rows) ** 0.5  # standard errors of a share of so many rows
    assert 0.92 - chance <= found.get("coverage", 0.95) <= 0.98 + chance
    assert "<img" in (tmp_path / "report.html").read_text()
    assert "Traceback" not in words
