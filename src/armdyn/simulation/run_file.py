"""The log of a long run, written while it goes on: whenever it ends, little is left to write."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armdyn.files import Growing, growing_file
from armdyn.simulation.readings import Readings


class RunFile:
    """A `.csv` or `.npz` log that grows by parts of a run; a run of a single part needs none.

    Parameters
    ----------
    path : path
        Path of the finished file.
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
            self._file = growing_file(self.path)
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
        self._entries, at = {}, 0
        for name in like:
            entry = self._entries[name] = zipfile.ZipInfo(f"{name}.npy")
            entry.header_offset, entry.CRC = at, 0
            at = self._start(name) + HEAD_BYTES + self._bytes(name, most)

    def _start(self, name: str) -> int:
        """Return where an array's head begins, behind that of its entry."""
        entry = self._entries[name]
        return entry.header_offset + len(entry.FileHeader(zip64=True))

    def _bytes(self, name: str, rows: int) -> int:
        return rows * 8 * int(np.prod(self.shapes[name]))

    def add(self, arrays: dict[str, NDArray]) -> None:
        """The next rows of all arrays."""
        for name, array in arrays.items():
            data = memoryview(np.ascontiguousarray(array, float).view(np.uint8).data).cast("B")
            self.file.write_at(self._start(name) + HEAD_BYTES + self._bytes(name, self.rows), data)
        self.rows += len(next(iter(arrays.values())))

    def finish(self) -> None:
        """Write the heads, and the table of contents behind all."""
        end = 0
        for name, entry in self._entries.items():
            start, size = self._start(name), HEAD_BYTES + self._bytes(name, self.rows)
            self.file.write_at(start, _array_head((self.rows, *self.shapes[name])))
            self.file.stream.flush()
            entry.CRC = zlib.crc32(np.memmap(self.file.name, np.uint8, "r", start, size).data)  # 2 GB a second
            entry.file_size = entry.compress_size = size
            self.file.write_at(entry.header_offset, entry.FileHeader(zip64=True))
            end = start + size
        self.file.stream.seek(end)
        with zipfile.ZipFile(self.file.stream, "w") as contents:  # `end` is where its own writing begins
            contents.filelist += self._entries.values()
            contents.start_dir = end  # type: ignore[attr-defined]
            contents._didModify = True  # type: ignore[attr-defined]
        self.file.stream.truncate()


def _array_head(shape: tuple[int, ...]) -> bytes:
    """The first bytes of a `.npy` of doubles."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue()


HEAD_BYTES = len(_array_head((0, 0)))  # NumPy leaves room for longer shapes
