from functools import partial

import numpy as np

from goodprior import demo
from goodprior.beliefs import Grid
from goodprior.networks import MLP


def test_the_demo_in_short_shows_the_belief_and_a_prior_that_comes_closer(tmp_path, monkeypatch):
    """With a small network, few points and short chains: what it shows, not how well."""
    monkeypatch.setattr(demo, "POINTS", Grid([-6.0], [6.0], per_input=20))
    monkeypatch.setattr(demo, "match", partial(demo.match, steps=30))
    monkeypatch.setattr(demo, "MLP", lambda i, hidden, o, **more: MLP(i, (10,), o, **more))
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
    assert len(matched.distances) == 30
    assert matched.row["distance"] < matched.row["distance before"]

    demo.draw(data, panels, tmp_path / "demo.png")
    content = (tmp_path / "demo.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 20_000
