import numpy as np
import pytest

from goodprior.data import Dataset, data_folder, load
from goodprior.data.registry import CLASSIFICATION, MORE_REGRESSION, REGRESSION


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a small file of each kind."""
    rng = np.random.default_rng(0)
    (tmp_path / "uci").mkdir()
    masks = np.arange(10) % 5 == np.arange(5)[:, None]
    np.savez(
        tmp_path / "uci/wine.npz", X=rng.normal(size=(10, 2)), y=np.arange(10.0), test_mask=masks
    )
    np.savez(tmp_path / "banana.npz", X=rng.normal(size=(10, 2)), y=np.arange(10) % 2)
    monkeypatch.setenv("GOODPRIOR_DATA", str(tmp_path))
    return tmp_path


def test_a_named_set_is_read_from_the_folder(folder):
    wine = load("wine")
    assert data_folder() == folder
    assert (wine.name, wine.X.shape, wine.y.tolist()) == ("wine", (10, 2), list(range(10)))
    assert wine.test_masks is not None
    assert load("banana").test_masks is None


def test_a_published_split_parts_the_rows(folder):
    X_train, y_train, X_test, y_test = load("wine").split(3)
    assert y_test.tolist() == [3.0, 8.0]
    assert y_train.tolist() == [0.0, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 9.0]
    whole = load("wine").X
    np.testing.assert_array_equal(X_test, whole[[3, 8]])
    np.testing.assert_array_equal(X_train, np.delete(whole, [3, 8], axis=0))


@pytest.mark.parametrize("k", [-1, 5])
def test_only_published_splits_are_given(folder, k):
    with pytest.raises(ValueError, match=f"wine has splits 0 to 4, got {k}"):
        load("wine").split(k)


def test_a_set_without_splits_says_so():
    with pytest.raises(ValueError, match="moons has no published splits"):
        Dataset("moons", np.zeros((2, 1)), np.zeros(2)).split(0)


def test_what_cannot_be_found_is_explained(folder, monkeypatch):
    with pytest.raises(ValueError, match="unknown data set 'moons'; known are airfoil, autompg"):
        load("moons")
    with pytest.raises(FileNotFoundError, match=r"boston is looked for at .*boston.npz"):
        load("boston")
    monkeypatch.delenv("GOODPRIOR_DATA")
    assert data_folder() is None
    with pytest.raises(FileNotFoundError, match=r"GOODPRIOR_DATA .* uci/boston\.npz, .* arrays X"):
        load("boston")


def test_scikit_learns_own_sets_need_no_folder(monkeypatch):
    monkeypatch.delenv("GOODPRIOR_DATA", raising=False)
    iris = load("iris")
    assert iris.X.shape == (150, 4)
    assert sorted(set(iris.y)) == [0, 1, 2]


def test_pickled_files_are_not_opened(folder):
    np.savez(folder / "banana.npz", X=np.array([{}], dtype=object), y=np.zeros(1))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load("banana")


@pytest.mark.skipif(data_folder() is None, reason="GOODPRIOR_DATA is not set")
@pytest.mark.parametrize("name", [*REGRESSION, *MORE_REGRESSION, *CLASSIFICATION, "banana"])
def test_real_files_fit_together(name):
    try:
        data = load(name)
    except FileNotFoundError:
        pytest.skip(f"{name} is not in the folder")
    assert len(data.X) == len(data.y)
    assert np.isfinite(data.X).all()
    if name in (*REGRESSION, *MORE_REGRESSION):
        X_train, y_train, X_test, y_test = data.split(0)
        assert len(X_train) == len(y_train) > len(X_test) == len(y_test) > 0
        assert len(X_train) + len(X_test) == len(data.X)
    else:
        assert sorted(set(data.y.tolist())) == list(range(data.y.max() + 1))
