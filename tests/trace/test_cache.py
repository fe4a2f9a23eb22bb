"""The kernel cache on disk: what is trusted, what is not, and what a warm start costs."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.raising import raises

from armdyn.errors import ArmdynError
from armdyn.trace import cache
from armdyn.trace.llvm.native import Module
from armdyn.trace.program import Port

MODULE = Module(b"\x7fELF code", (Port("q", (3,)),), (Port("M", (3, 3)),), (0,), 12, 21.5)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_an_entry_is_read_back_whole(folder: Path) -> None:
    assert cache.read("a" * 64) is None
    cache.write("a" * 64, MODULE)
    back = cache.read("a" * 64)
    assert back is not None
    assert (back.code, back.shared, back.uniform_size, back.cost) == (MODULE.code, (0,), 12, 21.5)
    assert [(p.name, p.shape) for p in (*back.inputs, *back.outputs)] == [("q", (3,)), ("M", (3, 3))]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
        lambda data: b"something else" * 20,
        lambda data: data + b"more",
    ],
)
def test_a_damaged_entry_is_never_loaded_and_goes_away(folder: Path, spoil: Callable[[bytes], bytes]) -> None:
    cache.write("b" * 64, MODULE)
    file = folder / ("b" * 64 + cache.SUFFIX)
    file.write_bytes(spoil(file.read_bytes()))
    assert cache.read("b" * 64) is None
    assert not file.exists()


def forged(header: object, code: bytes = MODULE.code) -> bytes:
    """An entry with a right checksum over any header."""
    text = json.dumps(header).encode()
    rest = len(text).to_bytes(4, "little") + text + code
    return cache.MAGIC + hashlib.sha256(rest).digest() + rest


HEADER = {
    "key": "b" * 64, "inputs": [{"name": "q", "shape": [3]}], "outputs": [{"name": "M", "shape": [3, 3]}],
    "shared": [0], "uniform_size": 12, "cost": 21.5,
}  # fmt: skip
BAD = [
    *({key: value for key, value in HEADER.items() if key != lacking} for lacking in HEADER),
    *(HEADER | {key: value} for key in HEADER for value in (None, "x", -1, [-1], [{}], [[0]], {"name": 1})),
    HEADER | {"inputs": [{"name": "q", "shape": [3.5]}]},
    HEADER | {"inputs": [{"name": 7, "shape": [3]}]},
    HEADER | {"shared": [1]},
    HEADER | {"outputs": []},
    HEADER | {"cost": True},
    [], "text", 3, None,
]  # fmt: skip


@pytest.mark.parametrize("header", BAD, ids=lambda header: json.dumps(header)[:80])
def test_a_bad_header_under_a_right_checksum_is_absent(folder: Path, header: object) -> None:
    folder.mkdir(mode=0o700)
    file = folder / ("b" * 64 + cache.SUFFIX)
    file.write_bytes(forged(HEADER))
    assert cache.read("b" * 64) is not None  # the forgery itself works
    file.write_bytes(forged(header))
    assert cache.read("b" * 64) is None
    assert not file.exists()


@pytest.mark.parametrize("rest", [b"", b"\xff\xff\xff\xff", b"\x05\x00\x00\x00" + b"[" * 200_000])
def test_no_header_at_all_is_absent(folder: Path, rest: bytes) -> None:
    folder.mkdir(mode=0o700)
    (folder / ("b" * 64 + cache.SUFFIX)).write_bytes(cache.MAGIC + hashlib.sha256(rest).digest() + rest)
    assert cache.read("b" * 64) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a device"])
def test_an_entry_that_is_no_file_is_not_waited_for(folder: Path, kind: str) -> None:
    folder.mkdir(mode=0o700)
    file = folder / ("b" * 64 + cache.SUFFIX)
    {"pipe": os.mkfifo, "folder": os.mkdir, "link to a device": lambda f: f.symlink_to("/dev/zero")}[kind](file)
    assert cache.read("b" * 64) is None
    cache.write("b" * 64, MODULE)
    assert (cache.read("b" * 64) is not None) == (kind != "folder")


def test_an_entry_under_another_name_is_not_trusted(folder: Path) -> None:
    cache.write("c" * 64, MODULE)
    (folder / ("c" * 64 + cache.SUFFIX)).rename(folder / ("d" * 64 + cache.SUFFIX))
    assert cache.read("d" * 64) is None


@pytest.mark.skipif(os.name != "posix", reason="needs file permissions")
def test_the_folder_is_private(folder: Path) -> None:
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    cache.write("e" * 64, MODULE)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="needs file permissions")
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
def test_what_others_could_have_written_is_not_loaded(folder: Path, mode: int) -> None:
    cache.write("e" * 64, MODULE)
    folder.chmod(mode)
    assert cache.read("e" * 64) is None
    assert cache.size() == (0, 0)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    cache.write("e" * 64, MODULE)
    folder.chmod(0o755)  # seen by others, but not written
    assert cache.read("e" * 64) is not None


def test_an_impossible_folder_only_means_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "file" / "cache"))
    cache.write("f" * 64, MODULE)
    assert cache.read("f" * 64) is None
    assert cache.size() == (0, 0)


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("ARMDYN_CACHE_DIR", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    cache.write("f" * 64, MODULE)
    assert cache.read("f" * 64) is None
    assert cache.size() == (0, 0)
    with raises(
        ArmdynError,
        cause="compiled kernels are not kept: this user has no home",
        remedy="choose a folder with ARMDYN_CACHE_DIR",
    ):
        cache.folder()


def test_size_clear_and_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in range(4):
        cache.write(str(k) * 64, MODULE)
        os.utime(folder / (str(k) * 64 + cache.SUFFIX), (k, k))
    count, size = cache.size()
    assert count == 4
    assert size > 4 * len(MODULE.code)
    monkeypatch.setattr(cache, "LIMIT_BYTES", int(size * 0.8))
    cache.write("9" * 64, MODULE)  # the two unused for longest go
    assert cache.read("0" * 64) is None
    assert cache.read("3" * 64) is not None
    assert cache.clear() == cache.size()[0] + 3
    assert cache.size() == (0, 0)


PROGRAM = """
import sys, numpy as np, armdyn
arm = armdyn.arms.planar2()
tau = armdyn.inverse_dynamics(arm, np.ones((5, 2)), np.ones(2), np.ones(2))
print(tau[0].tolist(), "casadi" in sys.modules)
"""


def run(folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"ARMDYN_CACHE_DIR": str(folder)}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdout=pipe, stderr=pipe, text=True)


def test_a_warm_process_never_imports_casadi(folder: Path) -> None:
    cold, error = run(folder).communicate(timeout=120)
    assert cold.endswith("True\n"), error
    warm, error = run(folder).communicate(timeout=120)
    assert warm == cold.replace("True", "False"), error
