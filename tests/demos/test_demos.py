import jax
import numpy as np
import pytest

from goodprior.beliefs import Grid
from goodprior.demos import regression_1d as demo


@pytest.mark.slow
def test_the_demo_in_short_shows_the_belief_and_a_prior_that_comes_closer(tmp_path, monkeypatch):
    """With a small network, few points and short chains: what it shows, not how well."""
    monkeypatch.setattr(demo, "POINTS", Grid([-6.0], [6.0], per_input=20))
    data, panels = demo.run(("gpi-g",), draws=2, thinning=200, burn_in=50, quiet=True)
    assert [panel.name for panel in panels] == ["GP", "GPi-G"]
    for panel in panels:
        assert panel.prior_draws.shape == (500, 20)
        assert panel.mean.shape == panel.std.shape == (20,)
        assert np.isfinite(panel.mean).all()
        assert (panel.std >= 0).all()
        assert np.isfinite([v for v in panel.row.values() if isinstance(v, float)]).all()
    exact, matched = panels
    assert exact.distances is None
    assert len(matched.distances) == 0, "in closed form"
    assert matched.row["distance"] < 0.2 * matched.row["distance before"]

    demo.picture(data, panels).savefig(tmp_path / "demo.png")
    content = (tmp_path / "demo.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 20_000


@pytest.mark.slow
def test_draws_of_the_matched_prior_are_like_the_beliefs_and_so_is_the_gap():
    """At full size: standard deviation and crossings within 20 %, the gap's width within half."""
    data, (exact, matched) = demo.run(("gpi-g",), quiet=True)
    x = np.asarray(demo.POINTS.points[:, 0])
    ours, theirs = matched.prior_draws, exact.prior_draws
    assert 0.8 < ours.std() / theirs.std() < 1.2
    assert 0.8 < _crossings(ours) / _crossings(theirs) < 1.2
    for order in (1, 2):  # roughness
        assert 0.8 < _rough(ours, order) / _rough(theirs, order) < 1.2
    rows = np.sort(np.asarray(data.X[:, 0]))
    widest = np.diff(rows).argmax()
    gap = (x > rows[widest]) & (x < rows[widest + 1])
    assert gap.sum() > 10
    assert 0.5 < matched.std[gap].mean() / exact.std[gap].mean() < 1.5


@pytest.mark.slow
def test_tails_of_a_matched_hierarchical_prior_do_not_overflow():
    """Rough functions ask for heavy tails in hidden layers; the distance is finite at all steps."""
    key = jax.random.key(5)
    panel = demo.network_panel(demo.gap_1d(), "gpi-h", "energy", key, (100, 4, 50))
    assert np.isfinite(panel.distances).all()
    assert panel.row["distance"] < 0.3 * panel.row["distance before"]


def _rough(functions, order):
    return np.mean(np.diff(functions, n=order) ** 2)


def _crossings(functions):
    return (np.sign(functions[:, 1:]) != np.sign(functions[:, :-1])).mean()
