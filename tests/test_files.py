"""Files are written whole or not at all, and read only within reason."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import struct
import subprocess
import sys
import time
import zipfile

import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ReadError
from armdyn.files import parse_json, read_arrays, read_bytes, read_text, write_whole

pytestmark = pytest.mark.smoke
posix = pytest.mark.skipif(os.name != "posix", reason="needs the pipes, devices, links and modes of Unix")


def test_text_and_bytes_come_back(tmp_path):
    assert read_text(write_whole(tmp_path / "a.txt", "Größe\n")) == "Größe\n"
    assert read_bytes(write_whole(tmp_path / "b.bin", b"\x00\xff")) == b"\x00\xff"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "b.bin"]  # no temporary file stays


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_whole(tmp_path / "a.txt", "old")

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with raises(OSError, strerror="disk full", filename=str(path)):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "absent" / "a.txt"
    with raises(ArmdynError, cause=re.compile("there is no folder '.*absent'"), names=(str(path), str(path.parent))):
        write_whole(path, "text")


def test_the_size_is_limited(tmp_path):
    path = write_whole(tmp_path / "a.txt", "x" * 100)
    assert len(read_text(path, largest=100)) == 100
    with raises(ReadError, cause="the file has 0 MB, more than the 0 MB allowed"):
        read_text(path, largest=99)


@posix
def test_pipes_devices_and_folders_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name, kind in (("pipe", "a pipe"), ("link", "a device"), (".", "a folder")):
        with raises(ReadError, cause=f"is {kind}", expected=re.compile("^a file")):
            read_bytes(tmp_path / name)


def test_a_name_with_a_zero_byte_is_one_sentence():
    with raises(ReadError, cause="not a file name (embedded null byte)"):
        read_bytes("a\0b")


def test_json_nested_without_end_is_rejected():
    assert parse_json(b'{"a": [1, 2]}') == {"a": [1, 2]}
    for text in ("{", "[" * 200_000, b"\xff", ""):
        with raises(ReadError, expected=re.compile("^JSON ")):
            parse_json(text)


# -- what is not replaced -----------------------------------------------------------------------------------------


def device(path, number):
    """A device of the kernel's memory: 3 is null, 7 is full."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, number))
        path.write_bytes(b"")
    except (PermissionError, OSError):
        pytest.skip("needs the right to make devices")
    return path


@posix
def test_a_device_is_written_to_and_stays(tmp_path):
    null = device(tmp_path / "null", 3)
    write_whole(null, "text")
    assert stat.S_ISCHR(null.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [null]


@posix
def test_a_full_device_says_so_and_stays(tmp_path):
    full = device(tmp_path / "full", 7)
    with raises(OSError, errno=errno.ENOSPC, filename=str(full)):
        write_whole(full, "text")
    assert stat.S_ISCHR(full.lstat().st_mode)


@posix
def test_a_pipe_gets_the_data_and_stays(tmp_path):
    pipe, data = tmp_path / "pipe", b"x" * 1_000_000  # more than a pipe holds
    os.mkfifo(pipe)
    reader = subprocess.Popen([sys.executable, "-c", f"print(len(open({str(pipe)!r}, 'rb').read()))"], stdout=-1)
    for _ in range(3000):
        with contextlib.suppress(OSError):  # nobody reads yet
            write_whole(pipe, data)
            break
        time.sleep(0.01)
    assert reader.communicate(timeout=30)[0].strip() == b"1000000"
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


@posix
def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with raises(OSError, errno=errno.ENXIO, filename=str(pipe)):
        write_whole(pipe, "text")
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


def test_a_read_only_file_is_not_overwritten(tmp_path):
    path = write_whole(tmp_path / "a.txt", "precious")
    path.chmod(0o444)
    with raises(PermissionError, strerror="the file is read-only", filename=str(path)):
        write_whole(path, "new")
    assert path.read_text() == "precious"


@posix
def test_a_file_keeps_its_mode_and_a_link_its_place(tmp_path):
    path = write_whole(tmp_path / "a.txt", "old")
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@posix
def test_a_folder_is_not_replaced(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with raises(OSError, errno=errno.EISDIR, filename=str(folder)):
        write_whole(folder, "text")


def zipped(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("members", "parts"),
    [
        ([(f"a{k}.npy", b"") for k in range(10_001)], {"cause": "10001 arrays, more than the 10000 allowed"}),
        ([("t", b"no array")], {"cause": "'t' in it is no NumPy array", "names": ("t",)}),
        (
            [("t.npy", b"\x93NUMPY\x02\0" + struct.pack("<I", 20_000) + b"(" * 20_000)],
            {"cause": re.compile("cannot be read as NumPy arrays")},
        ),
    ],
)
def test_hostile_archives_end_in_one_sentence(tmp_path, members, parts):
    with raises(ReadError, **parts) as error:
        read_arrays(zipped(tmp_path / "a.npz", members))
    assert "\n" not in str(error.value)


def test_tables_of_very_many_columns_are_rejected(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({f"q{k}": [0.0] for k in range(10_001)}), tmp_path / "a.parquet")
    with raises(ReadError, cause="10001 columns, more than the 10000 allowed"):
        armdyn.read_log(tmp_path / "a.parquet", armdyn.arms.planar2())
