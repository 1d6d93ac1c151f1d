import numpy as np
import pytest

from goodprior.data.registry import Dataset
from goodprior.studies.protocols import tables


@pytest.fixture
def tiny_data(monkeypatch):
    """Data sets of 60 rows and two inputs in place of the files."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    target = X[:, 0] + 0.1 * rng.normal(size=60)
    masks = np.arange(60)[None] % 3 == 0

    def load(name):
        if name in tables.REGRESSION:
            return Dataset(name, X, target, masks)
        classes = tables.CLASSES.get(name, 2)
        return Dataset(name, X, np.arange(60) % classes if classes > 2 else target > 0)

    monkeypatch.setattr("goodprior.data.load", load)
    monkeypatch.setattr(tables, "SIZES", dict.fromkeys(tables.SIZES, (40, 20)))
