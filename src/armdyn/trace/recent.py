"""Compiled kernels in memory: those used last, bounded by their number and size.

Callers keep references: a kernel that is dropped here lives on while it runs or while a call is bound to it. Its
machine code is freed with the last reference.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class LRUCache:
    """Values by key, with room for `count` of them and for `size` bytes."""

    def __init__(self, count: int, size: int) -> None:
        self.count, self.size = count, size
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._used = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def find(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of a key, made at the first need; values say their size [bytes] as `nbytes`."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
                return value
        value = make()  # may take seconds: other keys are served meanwhile
        with self._lock:
            known = self._values.setdefault(key, value)
            if known is not value:  # another thread was faster
                return known
            self._used += value.nbytes
            dropped = self._excess()
        for old in dropped:
            old.dropped()
        return value

    def _excess(self) -> list[Any]:
        """Take out the values unused for longest until the rest has room; the newest always stays."""
        removed = []
        while len(self._values) > 1 and (len(self._values) > self.count or self._used > self.size):
            _, value = self._values.popitem(last=False)
            self._used -= value.nbytes
            removed.append(value)
        return removed

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            values = list(self._values.values())
            self._values.clear()
            self._used = 0
        for value in values:
            value.dropped()


# A loaded kernel takes about 60 kB and four mappings besides its code; Linux allows a process 65,530 mappings.
KERNEL_OVERHEAD_BYTES = 60_000
kernels = LRUCache(count=1024, size=256 * 2**20)
