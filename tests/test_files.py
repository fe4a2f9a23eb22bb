"""Files are written whole or not at all, and read only within reason."""

from __future__ import annotations

import os

import pytest

from armdyn.errors import ArmdynError, ReadError
from armdyn.files import read_bytes, read_text, write_whole


def test_text_and_bytes_come_back(tmp_path):
    assert read_text(write_whole(tmp_path / "a.txt", "Größe\n")) == "Größe\n"
    assert read_bytes(write_whole(tmp_path / "b.bin", b"\x00\xff")) == b"\x00\xff"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "b.bin"]  # no temporary file stays


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_whole(tmp_path / "a.txt", "old")

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ArmdynError, match=r"there is no folder '.*absent'"):
        write_whole(tmp_path / "absent" / "a.txt", "text")


def test_the_size_is_limited(tmp_path):
    path = write_whole(tmp_path / "a.txt", "x" * 100)
    assert len(read_text(path, largest=100)) == 100
    with pytest.raises(ReadError, match="more than the"):
        read_text(path, largest=99)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a device that never ends")
def test_an_endless_device_is_refused():
    with pytest.raises(ReadError, match="more than the"):
        read_bytes("/dev/zero", largest=1000)
