"""Calls that come faster than they can be answered: only the latest counts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """Calls a function with the latest value, one call at a time; values that were overtaken are dropped."""

    def __init__(self, function: Callable[[T], None]) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._waiting: list[T] = []
        self._busy = False

    def __call__(self, value: T) -> None:
        """Answer now, or let the thread that is busy answer."""
        with self._lock:
            self._waiting = [value]
            if self._busy:
                return
            self._busy = True
        try:
            while self._next():
                pass
        except BaseException:
            self._busy = False
            raise

    def _next(self) -> bool:
        with self._lock:
            if not self._waiting:
                self._busy = False
                return False
            value = self._waiting.pop()
        self._function(value)
        return True
