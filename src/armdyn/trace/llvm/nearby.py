"""Room for a module's sections side by side.

LLVM maps code, constants and data of a module one after the other, wherever the system finds a gap, and ends the
process where two of them come to lie more than 2 GB apart. Gaps that far apart are found in processes with much memory,
or with many threads. `contiguous_mapping` closes those that are too small for the whole module until it is loaded.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

# Gaps within this distance of each other serve as they are [bytes]; addresses in code reach twice as far.
NEAR = 1 << 30
# Sizes of what gaps are filled with, the smallest is a page [bytes].
FILLINGS = (1 << 20, 1 << 16, 1 << 12)
# Gaps filled at the most, far fewer than the 65,530 mappings that Linux allows.
MAX_FILLED = 20_000
NO_RESERVE = 0x4000


@contextmanager
def contiguous_mapping(size: int) -> Iterator[None]:
    """Let what is mapped inside, `size` bytes in all, lie together; does nothing but on Linux."""
    if not sys.platform.startswith("linux"):
        yield
        return
    whole = 4 * mmap.PAGESIZE * (2 + size // mmap.PAGESIZE)  # rounded up in every section
    room, page = _map(whole), _map(mmap.PAGESIZE)
    held = [(page, mmap.PAGESIZE)]
    try:
        if room and page and abs(page - room) > NEAR:
            held += _fill_gaps(room)
    finally:
        _unmap(room, whole)
    if len(held) == 1:
        _unmap(*held.pop())
    try:
        yield
    finally:
        for place in held:
            _unmap(*place)


def _fill_gaps(room: int) -> list[tuple[int, int]]:
    """Fill the gaps on the far side of a room, which are too small for it; the system takes those first."""
    held: list[tuple[int, int]] = []
    for size in FILLINGS:
        while len(held) < MAX_FILLED:
            place = _map(size)
            held.append((place, size))
            if not place or place < room:
                break
    return held


@cache
def _system() -> Any:
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def _map(size: int) -> int:
    """Addresses without memory behind them; 0 where there are none."""
    place = _system().mmap(None, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE, -1, 0)
    return 0 if place in (None, ctypes.c_void_p(-1).value) else int(place)


def _unmap(place: int, size: int) -> None:
    if place:
        with suppress(OSError):
            _system().munmap(place, size)
