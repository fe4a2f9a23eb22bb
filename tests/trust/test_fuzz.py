"""Damaged logs, runs, cache entries and command lines: each gives a result or an armdyn error, soon.

Files to damage, and damaged ones that once made trouble, are in `corpus/`.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app
from armdyn.errors import ArmdynError, ArmdynWarning
from armdyn.trace import cache

CORPUS = Path(__file__).parent / "corpus"
SLOWEST = 10.0  # seconds of the processor for one file of some kilobytes, the first of which also builds kernels
NUMBERS = (b"nan", b"inf", b"-inf", b"1e308", b"", b"x", b"0x1p3", b"9" * 400, b"\xff", b"1,2", b"\x00")


def damage(data: bytes, rng: random.Random) -> bytes:
    """One to three random changes: bits, bytes, a cut, a stretch moved, a cell replaced."""
    for _ in range(rng.randint(1, 3)):
        if not data:
            return data
        kind, at = rng.randrange(6), rng.randrange(len(data))
        if kind == 0:
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + rng.randbytes(rng.randint(1, 8)) + data[at + rng.randint(0, 8) :]
        elif kind == 2:
            data = data[:at]
        elif kind == 3:
            other = rng.randrange(len(data))
            data = data[:at] + data[other : other + 200] + data[at:]
        elif kind == 4:
            cells = data.split(b",")
            cells[rng.randrange(len(cells))] = rng.choice(NUMBERS)
            data = b",".join(cells)
        else:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            data = b"\n".join(lines)
    return data


def survives(read: Callable[[Path], object], path: Path) -> bool:
    """Whether a file is read; anything but a result, an armdyn error or a warning is a defect."""
    begin, rejection = time.process_time(), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ArmdynWarning)
            read(path)
    except ArmdynError as error:
        rejection = str(error)
    assert time.process_time() - begin < SLOWEST
    assert len(rejection.splitlines()) <= 1, rejection
    return not rejection


def log(path: Path) -> object:
    arm = armdyn.arms.planar2()
    found = armdyn.read_log(path, arm)
    return armdyn.check_log(arm, found)


READERS: dict[str, Callable[[Path], object]] = {
    "log.csv": log,
    "log.npz": log,
    "log.mat": log,
    "log.parquet": log,
    "log.mcap": log,
    "log.db3": log,
    "run.npz": armdyn.SimulationResult.load,
    "arm.toml": armdyn.load,
    "arm.urdf": armdyn.load,
    "dh.csv": armdyn.load,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("cases", [25, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_damaged_file_is_read_or_rejected(tmp_path, name, cases):
    whole = (CORPUS / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole)
    assert survives(READERS[name], path)
    rng = random.Random(name)
    rejected = 0
    for _ in range(cases):
        path.write_bytes(damage(whole, rng))
        rejected += not survives(READERS[name], path)
    assert rejected > cases / 10  # the damage is felt


@pytest.mark.parametrize("path", sorted((CORPUS / "damaged").iterdir()), ids=lambda path: path.name)
def test_what_once_made_trouble_is_rejected(path):
    assert not survives(READERS[path.name.split("-")[0] + path.suffix], path)


def test_a_damaged_cache_entry_is_built_again(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path))
    # Of no other test, so that its kernel is not in memory yet
    body = {"mass": 1.0, "com": np.zeros(3), "inertia": np.eye(3)}
    arm = armdyn.Arm.from_dh([{"kind": "R", "a": length, **body} for length in (0.123456, 0.654321)])
    q = np.random.default_rng(0).normal(size=(4, 2))
    expected = armdyn.kernel(armdyn.gravity_torque, arm)(q).copy()
    entries = list(tmp_path.glob(f"*{cache.SUFFIX}"))
    assert entries
    rng = random.Random(0)
    whole = entries[0].read_bytes()
    for _ in range(100):
        entries[0].write_bytes(damage(whole, rng))
        assert cache.read(entries[0].stem) is None or entries[0].read_bytes() == whole
    np.testing.assert_array_equal(armdyn.kernel(armdyn.gravity_torque, arm)(q), expected)


WORDS = (
    *("puma560", "planar2", "nosuch", "", "--q", "--qd", "0.1 0.2", "1 2 3 4 5 6", "nan", "-1", "--json", "--states"),
    *("--out", "/", "x.csv", "\u00fc", "--position", "0 0 0", "--degrees", "'", "--rate", "1e9", "--help", "%s", "{}"),
)


COMMANDS = (
    *("info", "arms", "fk", "ik", "torque", "linearize", "regressor", "base", "codegen"),
    *("identify", "validate", "payload", "drive-gains", "study", "cache", "nosuch"),
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("lines", [4, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.by_day(6)
def test_any_command_line_ends_with_0_1_or_2(tmp_path, monkeypatch, command, lines):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(command)
    for _ in range(lines):
        line = [command, *rng.choices(WORDS, k=rng.randint(0, 5))]
        result = CliRunner().invoke(app, line)
        failed = isinstance(result.exception, (ArmdynError, OSError))  # `main` says these in one sentence
        assert failed or result.exit_code in (0, 1, 2), (line, result.exception)
