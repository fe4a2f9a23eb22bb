"""Memory of large results, used again: fresh pages cost more time than most kernels.

A result from the pool is an ordinary array. When it and all its views are gone, its memory waits for the next result
of about its size; at most `ARMDYN_POOL_MB` (256) wait, 0 switches the pool off, and `trim` gives them back.
"""

from __future__ import annotations

import math
import mmap
import os
import threading
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError

# Results that stay in no cache: calls take those of a quarter of a megabyte and more from the pool, kernels write past
# the caches.
LARGE_RESULT_BYTES = 16 * 2**20
MIN_BYTES = 2**18
# A block may be larger than the array it serves by this factor.
MAX_BLOCK_RATIO = 1.5


class Pool:
    """Blocks of memory that wait for use, at most `cap` bytes of them."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self._free: list[NDArray] = []  # the one given back last at the end
        self._lock = threading.RLock()  # an array may die anywhere, also while the pool works

    @property
    def nbytes(self) -> int:
        """Memory that waits [bytes]."""
        return sum(block.nbytes for block in list(self._free))

    def empty(self, shape: tuple[int, ...]) -> NDArray:
        """An array of any contents, as `numpy.empty` makes it."""
        size = 8 * math.prod(shape)
        if size < MIN_BYTES or not self.cap:
            return np.empty(shape)
        try:
            return np.asarray(_Lease(self, self._take(size), shape))
        except MemoryError:
            self.trim()
            return np.empty(shape)

    def _take(self, size: int) -> NDArray:
        """The tightest block that waits, or a new one."""
        with self._lock:
            fitting = [block for block in self._free if size <= block.nbytes <= MAX_BLOCK_RATIO * size]
            if fitting:
                best = min(fitting, key=lambda block: block.nbytes)
                self._free = [block for block in self._free if block is not best]
                return best
        return np.empty(-(-size // mmap.PAGESIZE) * mmap.PAGESIZE, np.uint8)

    def give_back(self, block: NDArray) -> None:
        """Let a block wait; those that waited longest go if there are too many."""
        with self._lock:
            free = [*self._free, block]
            while free and sum(b.nbytes for b in free) > self.cap:
                free = free[1:]
            self._free = free

    def trim(self) -> int:
        """Give all waiting memory back; returns how much it was [bytes]."""
        with self._lock:
            size, self._free = self.nbytes, []
        return size


class _Lease:
    """The owner of an array's memory, which gives it back at its end."""

    __slots__ = ("__array_interface__", "_block", "_pool")

    def __init__(self, pool: Pool, block: NDArray, shape: tuple[int, ...]) -> None:
        self._pool, self._block = pool, block
        self.__array_interface__: dict[str, Any] = {
            "version": 3, "shape": shape, "typestr": np.dtype(np.float64).str, "data": (block.ctypes.data, False),
        }  # fmt: skip

    def __del__(self) -> None:
        with suppress(Exception):  # at the end of the process nothing may be there any more
            self._pool.give_back(self._block)


@cache
def pool() -> Pool:
    """The pool of this process."""
    text = os.environ.get("ARMDYN_POOL_MB", "256")
    if not text.isdigit():
        raise ArmdynError(where="ARMDYN_POOL_MB", expected="a whole number of megabytes", got=f"{text!r}")
    return Pool(int(text) * 2**20)


def trim() -> int:
    """Release the memory kept for large results; returns how much it was [bytes].

    Fresh results of 16 MB and more come from memory that earlier results left, at most 256 MB of it (set
    `ARMDYN_POOL_MB` to another number before the first call, 0 for none).
    """
    return pool().trim()
