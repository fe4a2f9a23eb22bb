"""The log of a long run, written while it goes on: whenever it ends, little is left to write."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armdyn.files import Growing, growing
from armdyn.simulation.readings import Readings

HEAD_BYTES = 128  # of an array in an `.npz`: what it is
CRC_POLYNOMIAL = 0xEDB88320


class RunFile:
    """A `.csv` or `.npz` log that grows by parts of a run; a run of a single part needs none.

    Parameters
    ----------
    path : path
        Where it will be when it is finished.
    most : int
        Rows that it will have at most.
    """

    def __init__(self, path: str | os.PathLike[str], most: int) -> None:
        self.path, self.most = Path(path), most
        self._first: Readings | None = None
        self._file: Growing | None = None
        self._arrays: Arrays | None = None

    def add(self, part: Readings) -> None:
        """Write what comes next."""
        if self._first is None:
            self._first = part
            return
        if self._file is None:
            self._file = growing(self.path)
            if self._file is None:
                return
            if self.path.suffix.lower() == ".npz":
                self._arrays = Arrays(self._file, self.most, self._first.rows._asdict())
            self._write(self._first, heading=True)
        self._write(part, heading=False)

    def _write(self, part: Readings, heading: bool) -> None:
        if self._file is None:
            return
        if self._arrays is not None:
            self._arrays.add(part.rows._asdict())
            return
        for text in part.lines(heading):
            self._file.write(text.encode())

    def finish(self) -> bool:
        """Put it in its place; False if there is none, for the run was short or its file is a device."""
        if self._file is None:
            return False
        if self._arrays is not None:
            self._arrays.finish()
        self._file.finish()
        return True

    def discard(self) -> None:
        """Forget it."""
        if self._file is not None:
            self._file.discard()


class Arrays:
    """An `.npz` whose arrays grow side by side, each with room for `most` rows; what is not filled takes no space."""

    def __init__(self, file: Growing, most: int, like: dict[str, NDArray]) -> None:
        self.file, self.rows, self.shapes = file, 0, {name: array.shape[1:] for name, array in like.items()}
        self._crc = dict.fromkeys(like, 0)
        self._place, at = {}, 0
        for name, shape in self.shapes.items():
            self._place[name] = at
            at += len(self._entry(name, 0, 0).FileHeader(zip64=True)) + HEAD_BYTES + most * self._row_bytes(shape)

    def add(self, arrays: dict[str, NDArray]) -> None:
        """The next rows of all arrays."""
        for name, array in arrays.items():
            data = memoryview(np.ascontiguousarray(array, float).view(np.uint8).data).cast("B")
            start = self._place[name] + len(self._entry(name, 0, 0).FileHeader(zip64=True)) + HEAD_BYTES
            self.file.write_at(start + self.rows * self._row_bytes(self.shapes[name]), data)
            self._crc[name] = zlib.crc32(data, self._crc[name])
        self.rows += len(next(iter(arrays.values())))

    def finish(self) -> None:
        """Write the heads, and the table of contents behind all."""
        entries, end = [], 0
        for name, shape in self.shapes.items():
            head, size = _array_head((self.rows, *shape)), self.rows * self._row_bytes(shape)
            entry = self._entry(name, joined_crc(zlib.crc32(head), self._crc[name], size), HEAD_BYTES + size)
            first = entry.FileHeader(zip64=True) + head
            self.file.write_at(entry.header_offset, first)
            entries.append(entry)
            end = entry.header_offset + len(first) + size
        self.file.stream.seek(end)
        with zipfile.ZipFile(self.file.stream, "w") as contents:  # `end` is where its own writing begins
            contents.filelist += entries
            contents.start_dir = end  # type: ignore[attr-defined]
            contents._didModify = True  # type: ignore[attr-defined]
        self.file.stream.truncate()

    def _entry(self, name: str, crc: int, size: int) -> zipfile.ZipInfo:
        entry = zipfile.ZipInfo(f"{name}.npy")
        entry.header_offset, entry.CRC, entry.file_size, entry.compress_size = self._place.get(name, 0), crc, size, size
        return entry

    @staticmethod
    def _row_bytes(shape: tuple[int, ...]) -> int:
        return 8 * int(np.prod(shape))


def _array_head(shape: tuple[int, ...]) -> bytes:
    """The first bytes of a `.npy` of doubles."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    head = stream.getvalue()
    assert len(head) == HEAD_BYTES  # NumPy leaves room for longer shapes
    return head


def joined_crc(first: int, second: int, size: int) -> int:
    """The CRC-32 of two pieces one after the other from those of each, the second of `size` bytes."""
    return _product(_power(8 * size), first) ^ second


def _product(a: int, b: int) -> int:
    """Of two polynomials modulo that of CRC-32; the highest bit is the constant."""
    product = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            product ^= b
        b = b >> 1 ^ (CRC_POLYNOMIAL if b & 1 else 0)
    return product


def _power(exponent: int) -> int:
    """x to the power of `exponent` modulo the polynomial."""
    power, square = 1 << 31, 1 << 30
    while exponent:
        if exponent & 1:
            power = _product(power, square)
        square, exponent = _product(square, square), exponent >> 1
    return power
