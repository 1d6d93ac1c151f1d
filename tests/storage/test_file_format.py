"""Files are replaced whole or not at all."""

import errno
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from goodprior import storage
from goodprior.storage import file_format

OLD, NEW = {"a": np.zeros(3)}, {"a": np.ones(30)}


@pytest.fixture
def old(tmp_path):
    """A file that is there before."""
    storage.write(tmp_path / "it.safetensors", OLD, kind="test")
    return tmp_path / "it.safetensors"


def _assert_untouched(path: Path) -> None:
    assert os.listdir(path.parent) == [path.name]
    assert storage.read(path)["a"].tolist() == [0, 0, 0]


def test_a_file_is_replaced(old):
    storage.write(old, NEW, kind="test")
    assert os.listdir(old.parent) == [old.name]
    assert storage.read(old)["a"].tolist() == [1] * 30


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "the disk is full; free some space"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EACCES, "no permission to write in .*choose another folder"),
        (errno.EROFS, "no permission"),
        (errno.EIO, "cannot be written: Input/output error"),
    ],
)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_keeps_the_old_file(old, monkeypatch, number, message, call):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match=message) as caught:
        storage.write(old, NEW, kind="test")
    assert caught.value.errno == number
    _assert_untouched(old)


def test_a_full_disk_while_bytes_are_written(old, monkeypatch):
    """Half of the bytes get to the disk."""

    class Full:
        def __init__(self, path, mode):
            self.file = open(path, mode)  # noqa: SIM115

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, data):
            self.file.write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(file_format, "open", Full, raising=False)
    with pytest.raises(OSError, match="the disk is full") as caught:
        storage.write(old, NEW, kind="test")
    monkeypatch.undo()
    assert caught.value.errno == errno.ENOSPC
    _assert_untouched(old)


def test_an_interruption_leaves_nothing_behind(old, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        storage.write(old, NEW, kind="test")
    _assert_untouched(old)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(old):
    old.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match="choose another folder"):
            storage.write(old, NEW, kind="test")
    finally:
        old.parent.chmod(0o700)
    _assert_untouched(old)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere; make it first"):
        storage.write(tmp_path / "nowhere" / "it", NEW, kind="test")


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        storage.write(tmp_path, NEW, kind="test")


@pytest.mark.skipif(os.name != "posix", reason="links and permissions of POSIX")
def test_links_and_permissions_are_those_of_any_new_file(old):
    link = old.with_name("link")
    link.symlink_to(old.name)
    before = os.umask(0o027)
    try:
        storage.write(link, NEW, kind="test")
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert storage.read(old)["a"].tolist() == [1] * 30
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


def test_a_name_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("n" * 255)
    storage.write(path, NEW, kind="test")
    assert storage.read(str(path))["a"].tolist() == [1] * 30
