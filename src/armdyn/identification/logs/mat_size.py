"""What a MATLAB file would take in memory, counted before it is read."""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

HEADER, TAG = 128, 8  # bytes of a file's head and of an element's
COMPRESSED = 15  # the kind of an element that is a zlib stream
BLOCK = 2**20


def unpacked_size(path: Path) -> int:
    """Bytes of all elements of a version 5 file, compressed ones unpacked and counted block by block.

    The sizes that a file states are not asked: a bomb states what it likes. Of files that are damaged or of another
    kind, those elements count that come before; the reader says what is wrong.
    """
    total = 0
    with suppress(OSError, zlib.error), path.open("rb") as file:
        order = "<" if file.read(HEADER)[-2:] == b"IM" else ">"
        while len(tag := file.read(TAG)) == TAG:
            kind, size = struct.unpack(f"{order}II", tag)
            if kind == COMPRESSED:
                total += _unpacked_size(file, size)
            else:
                total += size
                file.seek(size, 1)
    return total


def _unpacked_size(file: BinaryIO, size: int) -> int:
    """Bytes that the next `size` bytes of a file unpack to."""
    stream, total = zlib.decompressobj(), 0
    while size > 0 and (block := file.read(min(size, BLOCK))):
        size -= len(block)
        while block and not stream.eof:
            total += len(stream.decompress(block, BLOCK))
            block = stream.unconsumed_tail
    return total
