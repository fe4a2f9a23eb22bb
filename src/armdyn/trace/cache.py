"""Compiled kernels on disk, in a folder that only the user can enter (it holds code).

An entry is one file: magic, SHA-256 of the rest, a JSON header, machine code. Anything that does not
match (truncated, damaged, foreign owner, other key) is treated as absent and built again. Files are
replaced atomically, so that any number of processes may share the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.files import write_whole
from armdyn.trace.llvm.native import Module
from armdyn.trace.program import Port

MAGIC = b"armdyn kernel 2\n"
SUFFIX = ".kernel"
TRIAL = ".trial"  # of the one that tests this machine, and belongs to no function
# When an entry is added beyond this, the ones unused for longest go.
LIMIT_BYTES = 512 * 2**20


def folder() -> Path:
    """The cache folder: `ARMDYN_CACHE_DIR`, or `armdyn` in the platform's cache folder of the user."""
    chosen = os.environ.get("ARMDYN_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        home = Path.home()
    except RuntimeError:
        cause = "compiled kernels are not kept: this user has no home"
        raise ArmdynError(cause, remedy="choose a folder with ARMDYN_CACHE_DIR") from None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "armdyn" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "armdyn"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "armdyn"


def _private_folder() -> Path | None:
    """The folder, made if need be; None where no private folder can be had (then nothing is cached)."""
    try:
        path = folder()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid"):
            info = path.stat()
            if info.st_uid != os.getuid():
                return None
            if stat.S_IMODE(info.st_mode) & 0o077:
                path.chmod(0o700)
            if stat.S_IMODE(info.st_mode) & 0o022:
                clear()  # whoever could write here may have left code of his own, with a checksum that fits
    except (OSError, ArmdynError):
        return None
    return path


def read(key: str, suffix: str = SUFFIX) -> Module | None:
    """The entry of a key, or None if there is none that can be trusted."""
    path = _private_folder()
    if path is None:
        return None
    file = path / (key + suffix)
    try:
        data = _contents(file)
    except OSError:
        return None
    module = _decode(data, key)
    with suppress(OSError):
        os.utime(file) if module else file.unlink()
    return module


def _contents(file: Path) -> bytes:
    """The bytes of a regular file, else none: a pipe or a device is not waited for, nor read without end."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as stream:
        info = os.fstat(descriptor)
        return stream.read() if stat.S_ISREG(info.st_mode) and info.st_size <= LIMIT_BYTES else b""


def write(key: str, module: Module, suffix: str = SUFFIX) -> None:
    """Keep an entry; a full disk or a read-only folder only means that the next process compiles again."""
    path = _private_folder()
    if path is None:
        return
    with suppress(OSError, ArmdynError):
        write_whole(path / (key + suffix), _encode(module, key))
        _trim()


def _encode(module: Module, key: str) -> bytes:
    header = {
        "key": key,
        "inputs": [asdict(port) for port in module.inputs],
        "outputs": [asdict(port) for port in module.outputs],
        "shared": module.shared,
        "uniform_size": module.uniform_size,
        "cost": module.cost,
    }
    text = json.dumps(header).encode()
    rest = len(text).to_bytes(4, "little") + text + module.code
    return MAGIC + hashlib.sha256(rest).digest() + rest


def _decode(data: bytes, key: str) -> Module | None:
    digest, rest = data[len(MAGIC) : len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    if not data.startswith(MAGIC) or hashlib.sha256(rest).digest() != digest:
        return None
    size = int.from_bytes(rest[:4], "little")
    try:
        return _module(json.loads(rest[4 : 4 + size]), key, rest[4 + size :])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):  # a checksum vouches for no header
        return None


def _module(header: dict[str, Any], key: str, code: bytes) -> Module | None:
    """The entry that a header describes, or None if it is none of this key."""
    inputs, outputs = (tuple(_port(p) for p in header[k]) for k in ("inputs", "outputs"))
    shared, uniform_size, cost = tuple(header["shared"]), header["uniform_size"], header["cost"]
    fits = (
        header["key"] == key
        and outputs
        and all(type(k) is int and 0 <= k < len(inputs) for k in shared)
        and type(uniform_size) is int
        and uniform_size >= 0
        and type(cost) is float
    )
    return Module(code, inputs, outputs, shared, uniform_size, cost) if fits else None


def _port(entry: dict[str, Any]) -> Port:
    """A port, or a `ValueError`."""
    name, shape = entry["name"], tuple(entry["shape"])
    if not isinstance(name, str) or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("not a port")
    return Port(name, shape)


def entries() -> Iterator[os.DirEntry[str]]:
    """The files of the cache."""
    with suppress(OSError, ArmdynError), os.scandir(folder()) as scan:
        yield from (entry for entry in scan if entry.name.endswith((SUFFIX, TRIAL)))


def size() -> tuple[int, int]:
    """Number of entries and their size in bytes."""
    sizes = []
    for entry in entries():
        with suppress(OSError):
            sizes.append(entry.stat().st_size)
    return len(sizes), sum(sizes)


def clear() -> int:
    """Delete all entries; returns how many there were."""
    count = 0
    for entry in list(entries()):
        with suppress(OSError):
            os.unlink(entry.path)
            count += 1
    return count


def _trim() -> None:
    """Delete the entries unused for longest while the folder is too large."""
    files = sorted((entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries())
    excess = sum(size for _, size, _ in files) - LIMIT_BYTES
    for _, size, name in files:
        if excess <= 0:
            return
        with suppress(OSError):
            os.unlink(name)
        excess -= size
