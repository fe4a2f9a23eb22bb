"""Logs that would take for ever, or all memory, or are not quite numbers: one sentence, soon."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import ReadError
from armdyn.files import MAX_TEXT_BYTES

ROWS = "".join(f"{k / 100},{np.sin(k / 9):.6f},{np.cos(k / 7):.6f},{k % 5},{k % 3}\n" for k in range(100))
HEAD = "t,q1,q2,tau1,tau2\n"
posix = pytest.mark.skipif(os.name != "posix", reason="needs the pipes and devices of Unix")
KINDS = ("csv", "txt", "npz", "mat", "parquet", "mcap", "db3")


@pytest.fixture(scope="module")
def arm():
    return armdyn.arms.planar2()


def rejected(path: Path, arm: armdyn.Arm, message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        armdyn.read_log(path, arm)
    assert len(str(caught.value).splitlines()) == 1


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_a_pipe_is_not_waited_for_and_a_device_not_read(tmp_path, arm, kind):
    os.mkfifo(tmp_path / f"pipe.{kind}")
    rejected(tmp_path / f"pipe.{kind}", arm, "is a pipe; expected a file")
    (tmp_path / f"zeros.{kind}").symlink_to("/dev/zero")
    rejected(tmp_path / f"zeros.{kind}", arm, "is a device; expected a file")


@posix
def test_a_pipe_inside_a_bag(tmp_path, arm):
    os.mkfifo(tmp_path / "part.db3")
    rejected(tmp_path, arm, "is a pipe; expected a file")


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"npz"}))
def test_a_file_larger_than_memory_is_not_read(tmp_path, arm, kind):
    path = tmp_path / f"log.{kind}"
    path.write_text(HEAD + ROWS)
    os.truncate(path, 10**12)  # sparse: takes no room
    rejected(path, arm, "has 1000000 MB, more than the 20000 MB allowed")


def test_columns_are_read_in_linear_time(tmp_path, arm):
    """Thirty thousand columns: a second; searching the names for every name takes nine."""

    def seconds(count: int) -> float:
        names = ",".join(f"c{k}" for k in range(count))
        (tmp_path / "wide.csv").write_text(names + "\n" + (",".join("1" * count) + "\n") * 3)
        begin = time.process_time()
        rejected(tmp_path / "wide.csv", arm, "no columns of joint positions")
        return time.process_time() - begin

    seconds(100)  # imports
    few = min(seconds(3_000) for _ in range(3))
    assert min(seconds(30_000) for _ in range(2)) < 40 * few  # ten times as many, or a hundred if quadratic


def test_a_name_or_cell_of_200_kB(tmp_path, arm):
    path = tmp_path / "long.csv"
    path.write_text("t,q1,q2,tau1," + "x" * 200_000 + "\n" + ROWS)
    rejected(path, arm, r"names of the columns: field larger than field limit \(131072\)")
    path.write_text(HEAD + ROWS + "1," + "x" * 200_000 + ",1,1,1\n")
    rejected(path, arm, r"line 102: field larger than field limit \(131072\)")


def test_a_line_without_end(tmp_path, arm):
    path = tmp_path / "line.csv"
    path.write_text("x" * (MAX_TEXT_BYTES + 1))
    rejected(path, arm, f"line 1: more than {MAX_TEXT_BYTES:,} characters")


@pytest.mark.parametrize("text", ["1_000", "1_0.5", "\u0661", "\uff11", "0x10", "1d3", "1e", "--1", "1.2.3"])
def test_what_is_no_number_in_a_table_is_not_taken_for_one(tmp_path, arm, text):
    path = tmp_path / "log.csv"
    path.write_text(HEAD + ROWS + f"1.0,{text},0,0,0\n", encoding="utf-8")
    rejected(path, arm, "line 102: expected a number, got")


# -- files that unpack to far more than they are ------------------------------------------------------------------


def test_many_empty_arrays_of_matlab_7_3_count_together(tmp_path, arm):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "log.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        for k in range(4):  # each below the size from which on one is suspected
            file.create_dataset(f"t{k}", shape=(5_000_000,), dtype="f8", chunks=(1000,), compression="gzip")
    data = path.read_bytes()
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + data[128:])
    rejected(path, arm, "would unpack to 120 MB")


def test_lists_in_parquet_count_by_their_values(tmp_path, arm):
    arrow, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
    rows = arrow.array([[0.0] * 200_000] * 100)
    parquet.write_table(arrow.table({"t": arrow.array(np.arange(100.0)), "q": rows}), tmp_path / "log.parquet")
    assert (tmp_path / "log.parquet").stat().st_size < 2e5
    rejected(tmp_path / "log.parquet", arm, "would unpack to 160 MB")


def test_texts_in_parquet_are_not_read(tmp_path, arm):
    arrow, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
    words = arrow.DictionaryArray.from_arrays(np.zeros(4000, "i4"), ["x" * 1_000_000])  # 4 GB once unpacked
    numbers = {name: arrow.array(np.arange(4000) / 1000) for name in ("t", "q1", "q2", "tau1", "tau2")}
    path = tmp_path / "log.parquet"
    parquet.write_table(arrow.table(numbers | {"mode": words}), path)
    begin = time.process_time()
    assert len(armdyn.read_log(path, arm)) == 4000
    assert time.process_time() - begin < 5


def states(count: int = 60) -> list[tuple]:
    return [("/joint_states", k / 100, ["joint1", "joint2"], *[[k / 50, 0.1]] * 3) for k in range(count)]


def test_compressed_bags_are_read(tmp_path, arm, write_states):
    for compression in ("MESSAGE", "FILE"):
        assert len(armdyn.read_log(write_states(tmp_path / compression, states(), compression=compression), arm)) == 60
    log = armdyn.read_log(write_states(tmp_path / "chunks", states(), "mcap", compression="STORAGE"), arm)
    assert len(log) == 60


def bomb(size: int = 300_000_000) -> bytes:
    """A zstd frame of some kilobytes that unpacks to `size` zeros, and says so of itself."""
    from rosbags.rosbag2 import storage_mcap

    compressor, block = storage_mcap.zstd.ZstdCompressor(), bytes(10_000_000)
    return b"".join(compressor.compress(block) for _ in range(size // len(block))) + compressor.flush()


def test_a_bomb_in_a_chunk_of_mcap(tmp_path, arm, write_states, monkeypatch):
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import storage_mcap

    data = bomb()
    assert len(data) < 50_000
    zstd = storage_mcap.zstd
    fake = type("zstd", (), {"compress": staticmethod(lambda _: data), "decompress": zstd.decompress})
    with monkeypatch.context() as patch:
        patch.setattr(storage_mcap, "zstd", fake)
        folder = write_states(tmp_path / "bag", states(), "mcap", compression="STORAGE")
    for path in (folder, *folder.glob("*.mcap")):
        rejected(path, arm, f"{path}: compressed data: .* would unpack to 10[01] MB, which no measured data do")


@pytest.mark.parametrize("mode", ["MESSAGE", "FILE"])
def test_a_bomb_as_a_message_or_as_a_whole_file(tmp_path, arm, write_states, mode):
    import sqlite3

    folder = write_states(tmp_path / "bag", states(), compression=mode)
    data = bomb()
    if mode == "FILE":
        (packed,) = folder.glob("*.zst*")
        packed.write_bytes(data)
    else:
        (database,) = folder.glob("*.db3")
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE messages SET data = ? WHERE id = 7", (data,))
    rejected(folder, arm, "would unpack to 10[01] MB, which no measured data do")
