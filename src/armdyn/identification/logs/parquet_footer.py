"""What the footer of a Parquet file says of its size, read without pyarrow, which ends the process at some footers.

Its descriptions of row groups and columns throw errors of C++ that no Python code can catch; its readers of tables do
not. The footer is in Thrift's compact form: https://github.com/apache/thrift/blob/master/doc/specs
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from armdyn.errors import ReadError
from armdyn.files import MAX_NESTED

MARK = b"PAR1"
TAIL = struct.Struct("<I4s")  # the footer's length and the mark, at the end of the file
TRUE, FALSE, BYTE, SHORT, INT, LONG, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
ROW_GROUPS, COLUMNS, ABOUT, VALUES = 4, 1, 3, 5  # numbers of fields: of the footer, a row group, a column, its data


def count_values(path: Path) -> int:
    """Values of all columns together. Equal ones take no room in the file, so this says how large they are unpacked."""
    try:
        groups = _Thrift(_footer(path)).value(STRUCT)[ROW_GROUPS]
        counts = [column[ABOUT][VALUES] for group in groups for column in group[COLUMNS]]
        if not all(isinstance(n, int) and n >= 0 for n in counts):
            raise ValueError
    except (IndexError, KeyError, TypeError, ValueError, struct.error):
        raise ReadError("cannot be read as Parquet (its footer is damaged)", path=path) from None
    return sum(counts)


def _footer(path: Path) -> bytes:
    with path.open("rb") as file:
        end = max(file.seek(0, 2) - TAIL.size, 0)
        file.seek(end)
        length, mark = TAIL.unpack(file.read())
        if mark != MARK or length > end - len(MARK):
            raise ValueError
        file.seek(end - length)
        return file.read(length)


class _Thrift:
    """Values of Thrift's compact form, one after the other; structures by the numbers of their fields."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.depth = data, 0, 0

    def value(self, kind: int) -> Any:
        if kind in (BYTE, TRUE, FALSE):  # the last two in lists: a byte each
            return self._byte()
        if kind in (SHORT, INT, LONG):
            whole = self._whole()
            return whole >> 1 ^ -(whole & 1)
        if kind in (DOUBLE, BINARY):
            return self._skip(8 if kind == DOUBLE else self._whole())
        self.depth += 1
        if self.depth > MAX_NESTED or kind not in (LIST, SET, MAP, STRUCT):
            raise ValueError
        result = self._struct() if kind == STRUCT else self._map() if kind == MAP else self._list()
        self.depth -= 1
        return result

    def _struct(self) -> dict[int, Any]:
        members: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self.value(SHORT)
            members[number] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind)
        return members

    def _list(self) -> list[Any]:
        head = self._byte()
        length = head >> 4 if head >> 4 < 15 else self._whole()
        return [self.value(head & 15) for _ in range(length)]  # each takes a byte at least

    def _map(self) -> list[tuple[Any, Any]]:
        length = self._whole()
        kinds = self._byte() if length else 0
        return [(self.value(kinds >> 4), self.value(kinds & 15)) for _ in range(length)]

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _whole(self) -> int:
        whole = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            whole |= (byte & 127) << shift
            if byte < 128:
                return whole
        raise ValueError

    def _skip(self, length: int) -> None:
        self.at += length
        if self.at > len(self.data):
            raise IndexError
