"""A strict reader of a TOML table: every key is asked for once, and one that nobody asked for is an error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

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

    def text(self, key: str, default: str | None = None) -> str:
        """Text that is not empty."""
        value = self.get(key, default)
        if not isinstance(value, str) or not value:
            self.reject(key, "text", value)
        return value

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
        value = self.get(key, default)
        if not _is_number(value) or value < low or (above and value == low):
            bound = "" if low == -math.inf else f" {'>' if above else '>='} {low:g}"
            self.reject(key, f"a number{bound}", value)
        return float(value)

    def whole(self, key: str, default: int | None = None, low: int = 0) -> int:
        """A whole number from `low` on."""
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            self.reject(key, f"a whole number >= {low}", value)
        return int(value)

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            self.reject(key, "true or false", value)
        return value

    def numbers(self, key: str, size: int | None = None) -> tuple[float, ...]:
        """Finite numbers, at least one, or `size` of them."""
        value = self.get(key)
        if not isinstance(value, list) or not value or not all(_is_number(x) for x in value):
            self.reject(key, "a list of numbers", value)
        if size is not None and len(value) != size:
            self.reject(key, f"{size} numbers", value)
        return tuple(float(x) for x in value)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of words, at least one, none twice."""
        value = self.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(x, str) and x for x in value):
            self.reject(key, "a list of names", value)
        if len(set(value)) != len(value):
            self.reject(key, "every name once", value)
        return tuple(value)

    def table(self, key: str) -> StudyTable:
        """A table inside; empty if it is not there."""
        return StudyTable(self.data[key] if self.has(key) else {}, f"{self.where}: {key}")

    def tables(self, key: str) -> list[StudyTable]:
        """The tables of an array, at least one."""
        value = self.get(key)
        if not isinstance(value, list) or not value:
            self.reject(key, f"one or more [[{key}]] tables", value)
        return [StudyTable(item, f"{self.where}: {key} {i}") for i, item in enumerate(value, start=1)]

    def reject(self, key: str, expected: str, value: Any) -> None:
        """Complain of a value."""
        raise StudyError(where=f"{self.where}: {key}", expected=expected, got=quote(value))


def _is_number(value: Any) -> bool:
    """Whether it is a finite number; whole ones may be too large for that."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
