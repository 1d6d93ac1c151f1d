"""Image sets read from small made-up files of every known form."""

import gzip
import io
import struct
import tarfile

import numpy as np
import pytest

from goodprior.data import data_folder, load
from goodprior.data.images import BATCHES
from goodprior.data.registry import IMAGES, file_of

RNG = np.random.default_rng(0)


def _bytes(*shape):
    return RNG.integers(0, 256, shape, dtype=np.uint8)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GOODPRIOR_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def digits():
    return {
        "x_train": _bytes(5, 28, 28),
        "y_train": np.arange(5, dtype=np.uint8),
        "x_test": _bytes(3, 28, 28),
        "y_test": np.arange(3, dtype=np.uint8),
    }


@pytest.fixture
def batches():
    """CIFAR-10's own format, two images a batch: label, then red, green and blue planes."""
    images, labels = _bytes(12, 32, 32, 3), RNG.integers(0, 10, 12, dtype=np.uint8)
    planes = images.transpose(0, 3, 1, 2).reshape(12, -1)
    records = np.concatenate([labels[:, None], planes], axis=1)
    files = {name: records[2 * k : 2 * k + 2].tobytes() for k, name in enumerate(BATCHES)}
    return images, labels, files


def _idx(array):
    header = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.tobytes()


def _write_idx(folder, digits, pack=None):
    (folder / "mnist").mkdir()
    for part, prefix in (("train", "train"), ("test", "t10k")):
        for letter, name in (("x", "images-idx3"), ("y", "labels-idx1")):
            data = _idx(digits[f"{letter}_{part}"])
            path = folder / "mnist" / f"{prefix}-{name}-ubyte"
            if pack is None:
                path.write_bytes(data)
            else:
                path.with_name(path.name + ".gz").write_bytes(pack(data))


def _write_tar(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


@pytest.mark.parametrize("form", ["npz", "idx", "gzip"])
def test_mnist_is_padded_and_split_as_published(folder, digits, form):
    if form == "npz":
        np.savez(folder / "mnist.npz", **digits)
    else:
        _write_idx(folder, digits, gzip.compress if form == "gzip" else None)
    X, y, X_test, y_test = load("mnist").split(0)
    assert X.shape == (5, 32, 32, 1)
    assert X.dtype == np.uint8
    np.testing.assert_array_equal(X[:, 2:30, 2:30, 0], digits["x_train"])
    np.testing.assert_array_equal(X_test[:, 2:30, 2:30, 0], digits["x_test"])
    assert X[:, :2].max() == X[:, 30:].max() == X[:, :, :2].max() == X[:, :, 30:].max() == 0
    assert (y.tolist(), y_test.tolist()) == (list(range(5)), list(range(3)))


@pytest.mark.parametrize("form", ["folder", "tar"])
def test_cifar_batches_become_pictures(folder, batches, form):
    images, labels, files = batches
    if form == "tar":
        _write_tar(folder / "cifar-10-binary.tar.gz", files)
    else:
        (folder / "cifar-10-batches-bin").mkdir()
        for name, data in files.items():
            (folder / "cifar-10-batches-bin" / name).write_bytes(data)
    X, y, X_test, y_test = load("cifar10").split(0)
    np.testing.assert_array_equal(X, images[:10])
    np.testing.assert_array_equal(X_test, images[10:])
    np.testing.assert_array_equal([*y, *y_test], labels)


def test_the_whole_of_cifar_goes_before_a_part_of_it(folder, batches):
    _write_tar(folder / "cifar-10-binary.tar.gz", batches[2])
    np.savez(folder / "cifar10_20k.npz", x_test=_bytes(1, 32, 32, 3), y_test=np.uint8([0]))
    assert len(load("cifar10").X) == 12


def test_notmnist_is_for_testing_only(folder, digits):
    np.savez(folder / "notmnist.npz", x_test=digits["x_test"], y_test=digits["y_test"])
    letters = load("notmnist")
    assert letters.X.shape == (3, 32, 32, 1)
    with pytest.raises(ValueError, match="notmnist has no published splits"):
        letters.split(0)


def test_pickled_batches_are_not_opened(folder):
    (folder / "cifar-10-batches-py").mkdir()
    with pytest.raises(
        FileNotFoundError, match=r"put the binary version, cifar-10-binary\.tar\.gz"
    ):
        load("cifar10")
    np.savez(folder / "cifar10_20k.npz", x_test=np.array([{}], dtype=object), y_test=np.zeros(1))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load("cifar10")


def test_what_is_not_there_is_named(folder, digits, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"mnist is looked for at .*mnist or .*mnist\.npz"):
        file_of("mnist")
    _write_idx(folder, digits)
    (folder / "mnist" / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(FileNotFoundError, match=r"neither .*t10k-labels-idx1-ubyte nor .*\.gz"):
        load("mnist")
    monkeypatch.delenv("GOODPRIOR_DATA")
    with pytest.raises(FileNotFoundError, match=r"a folder that holds notmnist\.npz, original"):
        load("notmnist")


@pytest.mark.parametrize("keep", [2, 10, -1])
def test_a_torn_idx_file_is_an_error(folder, digits, keep):
    _write_idx(folder, digits)
    path = folder / "mnist" / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match="ends too early"):
        load("mnist")


def test_files_of_another_kind_are_errors(folder, digits, batches):
    _write_idx(folder, digits)
    path = folder / "mnist" / "train-images-idx3-ubyte"
    path.write_bytes(_idx(digits["y_train"]))
    with pytest.raises(ValueError, match="not an idx file of bytes with the axes"):
        load("mnist")
    files = batches[2]
    _write_tar(folder / "cifar-10-binary.tar.gz", {**files, BATCHES[0]: files[BATCHES[0]][:-1]})
    with pytest.raises(ValueError, match=r"data_batch_1\.bin .* records of 3073 bytes"):
        load("cifar10")
    _write_tar(folder / "cifar-10-binary.tar.gz", {})
    with pytest.raises(ValueError, match=r"has no file .*data_batch_1\.bin"):
        load("cifar10")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"y_test": np.arange(2, dtype=np.uint8)}, "a label for each"),
        ({"x_test": np.zeros((3, 28, 28))}, "must hold bytes"),
        ({"x_test": np.zeros((3, 20, 20), np.uint8)}, "28 by 28 or 32 by 32"),
        ({"y_test": np.uint8([0, 1, 10])}, "labels from 0 to 9, found 10"),
    ],
)
def test_arrays_that_are_no_images_are_errors(folder, digits, wrong, words):
    np.savez(folder / "mnist.npz", **{**digits, **wrong})
    with pytest.raises(ValueError, match=words):
        load("mnist")


def test_an_archive_without_images_says_what_it_should_hold(folder):
    np.savez(folder / "notmnist.npz", X=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="x_test and y_test"):
        load("notmnist")


@pytest.mark.skipif(data_folder() is None, reason="GOODPRIOR_DATA is not set")
@pytest.mark.parametrize("name", IMAGES)
def test_real_images_are_whole(name):
    try:
        data = load(name)
    except FileNotFoundError:
        pytest.skip(f"{name} is not in the folder")
    assert data.X.shape == (len(data.y), 32, 32, 3 if name == "cifar10" else 1)
    assert sorted(set(data.y.tolist())) == list(range(10))
