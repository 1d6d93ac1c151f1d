"""Tables as people have them, from file to report, beside scikit-learn on the same rows."""

from pathlib import Path

import pytest
from benchmarks import everyday


@pytest.mark.slow
@pytest.mark.parametrize("name", everyday.TARGETS)
def test_from_file_to_report_and_no_worse_than_scikit_learn(name: str, tmp_path: Path):
    found, words = everyday.ours(name, tmp_path)
    best = min(everyday.peers(name).values())
    assert found["loss"] <= 1.05 * best
    assert 0.90 <= found.get("coverage", 0.95) <= 0.99
    assert "<img" in (tmp_path / "report.html").read_text()
    assert "Traceback" not in words
