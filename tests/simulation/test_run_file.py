"""Logs that grow: the `.npz` is one that NumPy and zip tools accept."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from armdyn.files import Growing
from armdyn.simulation.readings import Readings
from armdyn.simulation.run_file import RunFile


def some_readings(rows: int, rng: np.random.Generator) -> Readings:
    q, qd, tau = rng.normal(size=(3, rows, 2))
    return Readings(np.arange(float(rows)), q, qd, tau, np.ones(rows, int))


@pytest.mark.parametrize("sizes", [(3, 5), (100, 1, 64, 7)])
def test_arrays_that_grow_are_those_of_the_whole(sizes, tmp_path):
    rng = np.random.default_rng(0)
    parts = [some_readings(rows, rng) for rows in sizes]
    path = tmp_path / "run.npz"
    file = RunFile(path, most=10_000)
    for part in parts:
        file.add(part)
        assert not path.exists()
    assert file.finish()
    assert zipfile.ZipFile(path).testzip() is None  # checks sums too
    with np.load(path) as arrays:
        for name in ("t", "q", "qd", "tau"):
            np.testing.assert_array_equal(arrays[name], np.concatenate([getattr(part, name) for part in parts]))
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.npz"]


def test_what_is_discarded_leaves_nothing(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "run.csv").write_text("before")
    file = RunFile(tmp_path / "run.csv", most=100)
    for _ in range(3):
        file.add(some_readings(4, rng))
    file.discard()
    assert (tmp_path / "run.csv").read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.csv"]


def test_a_process_that_ends_leaves_nothing(tmp_path):
    file = Growing(tmp_path / "run.csv")
    file.write(b"half")
    Growing.discard_all()
    assert not list(tmp_path.iterdir())
    file.stream.close()
    Growing.unfinished.discard(file.name)
