"""Large archives of arrays are mapped, not read."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ReadError
from armdyn.identification.logs import read_tables
from armdyn.identification.logs.read_tables import mapped_arrays


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    monkeypatch.setattr(read_tables, "LARGE_ARCHIVE_BYTES", 0)


@pytest.fixture
def arrays():
    t = np.arange(200) / 100
    q = np.stack([np.sin(t), np.cos(2 * t)], axis=1)
    return {"t": t, "q": np.asfortranarray(q), "tau": (3 * q).astype(np.float32)}


def test_arrays_are_those_of_the_file(tmp_path, arrays):
    np.savez(tmp_path / "a.npz", **arrays)
    found = mapped_arrays(tmp_path / "a.npz")
    assert found is not None
    for name, array in arrays.items():
        assert isinstance(found[name], np.memmap)
        np.testing.assert_array_equal(found[name], array)
    log = armdyn.read_log(tmp_path / "a.npz", armdyn.arms.planar2())
    np.testing.assert_array_equal(log.q, arrays["q"])


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_log_of_a_mapped_file_is_not_copied(tmp_path, arrays, order):
    tau = np.asarray(arrays["tau"], float, order=order)
    np.savez(tmp_path / "a.npz", t=arrays["t"], q=arrays["q"], tau=tau)
    log = armdyn.read_log(tmp_path / "a.npz", armdyn.arms.planar2())
    np.testing.assert_array_equal(log.tau, tau)
    # Files are mapped for reading alone; copies could be written to.
    assert not log.q.flags.writeable
    assert not log.tau.flags.writeable


def test_joints_in_another_order_are_put_right(tmp_path, arrays):
    arm, q = armdyn.arms.planar2(), arrays["q"]
    columns = {f"q_{name}": q[:, k] for k, name in reversed(list(enumerate(arm.joint_names)))}
    columns |= {f"tau_{name}": 3 * q[:, k] for k, name in reversed(list(enumerate(arm.joint_names)))}
    np.savez(tmp_path / "a.npz", t=arrays["t"], **columns)
    log = armdyn.read_log(tmp_path / "a.npz", arm)
    np.testing.assert_array_equal(log.q, q)
    np.testing.assert_array_equal(log.tau, 3 * q)


def test_what_cannot_be_mapped_is_left_to_the_plain_reader(tmp_path, arrays):
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    assert mapped_arrays(tmp_path / "a.npz") is None
    np.savez(tmp_path / "b.npz", **arrays, words=np.array(["a", None], dtype=object))
    assert mapped_arrays(tmp_path / "b.npz") is None
    np.savez(tmp_path / "c.npz", **arrays)
    (tmp_path / "c.npz").write_bytes((tmp_path / "c.npz").read_bytes()[:2000])
    assert mapped_arrays(tmp_path / "c.npz") is None
    with raises(ReadError, file="c.npz", cause=re.compile("cannot be read")):
        armdyn.read_log(tmp_path / "c.npz", armdyn.arms.planar2())


def test_small_files_are_read(tmp_path, arrays, monkeypatch):
    monkeypatch.setattr(read_tables, "LARGE_ARCHIVE_BYTES", 10**8)
    np.savez(tmp_path / "a.npz", **arrays)
    assert mapped_arrays(tmp_path / "a.npz") is None
