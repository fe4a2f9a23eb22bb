"""A strict reader of a TOML table: every key is asked for once, and one that nobody asked for is an error."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from armdyn.arrays import is_whole
from armdyn.errors import ArmdynError, quote
from armdyn.model.named import close_to


class StudyError(ArmdynError):
    """A study's file is not understood, or its results cannot be used."""


class StudyTable:
    """A table of a study's file; `where` begins every complaint."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, Mapping):
            raise StudyError(where=where, expected="a table", got=quote(data))
        self.data, self.where = data, where
        self._asked: list[str] = []

    def keys_of(self, known: tuple[str, ...], what: str) -> tuple[str, ...]:
        """All keys, each of which must be known."""
        for key in self.data:
            if key not in known:
                cause = f"unknown {what} '{key}'{close_to(key, known)}"
                raise StudyError(cause, where=self.where, expected=f"some of {', '.join(known)}", names=(key,))
        return tuple(self.data)

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        if key not in self._asked:
            self._asked.append(key)
        return key in self.data

    def get(self, key: str, default: Any = None) -> Any:
        """The value as it stands; without a default the key must be there."""
        if self.has(key):
            return self.data[key]
        if default is None:
            raise StudyError(where=self.where, expected=f"'{key}'")
        return default

    def done(self) -> None:
        """Complain of keys that were not asked for."""
        self.keys_of(tuple(self._asked), "key")

    # -- typed values -------------------------------------------------------------------------------------

    def checked(self, key: str, expected: str, fits: Callable[[Any], Any], default: Any = None) -> Any:
        """A value that is as expected."""
        value = self.get(key, default)
        if not fits(value):
            raise StudyError(where=f"{self.where}: {key}", expected=expected, got=quote(value))
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """Text that is not empty."""
        return str(self.checked(key, "text", lambda x: isinstance(x, str) and x, default))

    def choice(self, key: str, known: Sequence[str], default: str | None = None) -> str:
        """One of some words."""
        value = self.text(key, default)
        if value not in known:
            hint = close_to(value, tuple(known))
            cause = f"unknown '{value}'{hint}"
            expected = f"one of {', '.join(known)}"
            raise StudyError(cause, where=f"{self.where}: {key}", expected=expected, names=(value,))
        return value

    def number(self, key: str, default: float | None = None, low: float = -math.inf, above: bool = False) -> float:
        """A finite number from `low` on, or above it."""
        bound = "" if low == -math.inf else f" {'>' if above else '>='} {low:g}"
        reach = operator.gt if above else operator.ge
        return float(self.checked(key, f"a number{bound}", lambda x: _is_number(x) and reach(x, low), default))

    def whole(self, key: str, default: int | None = None, low: int = 0) -> int:
        """A whole number from `low` on."""
        return int(self.checked(key, f"a whole number >= {low}", lambda x: is_whole(x, low), default))

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        return bool(self.checked(key, "true or false", lambda x: isinstance(x, bool), default))

    def numbers(self, key: str, size: int | None = None) -> tuple[float, ...]:
        """Finite numbers, at least one, or `size` of them."""
        value = self.checked(key, "a list of numbers", lambda x: _is_list(x) and all(map(_is_number, x)))
        if size is not None:
            self.checked(key, f"{size} numbers", lambda x: len(x) == size)
        return tuple(map(float, value))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of words, at least one, none twice."""
        self.checked(key, "a list of names", lambda x: _is_list(x) and all(isinstance(one, str) and one for one in x))
        return tuple(self.checked(key, "every name once", lambda x: len(set(x)) == len(x)))

    def table(self, key: str) -> StudyTable:
        """A table inside; empty if it is not there."""
        return StudyTable(self.data[key] if self.has(key) else {}, f"{self.where}: {key}")

    def tables(self, key: str) -> list[StudyTable]:
        """The tables of an array, at least one."""
        value = self.checked(key, f"one or more [[{key}]] tables", _is_list)
        return [StudyTable(item, f"{self.where}: {key} {i}") for i, item in enumerate(value, start=1)]


def _is_list(value: Any) -> bool:
    """Whether it is a list with something in it."""
    return isinstance(value, list) and bool(value)


def _is_number(value: Any) -> bool:
    """Whether it is a finite number; whole ones may be too large for that."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
