"""Arrays of large `.npz` files as they lie on disk: only what is looked at is read into memory."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LARGE = 100_000_000  # bytes, from which on a file is mapped

HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def mapped_arrays(path: Path) -> dict[str, NDArray] | None:
    """The arrays of a file that is large and not compressed; None if it is not, or not in order."""
    try:
        if not path.is_file() or path.stat().st_size < LARGE:
            return None
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                return None
            return {entry.filename.removesuffix(".npy"): _map(path, archive, entry) for entry in entries}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None  # the plain reader says what is wrong


def _map(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray:
    with archive.open(entry) as member:
        shape, by_columns, dtype = HEADERS[np.lib.format.read_magic(member)](member)
        heading = member.tell()
    with path.open("rb") as file:
        file.seek(entry.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
    first = entry.header_offset + 30 + name + extra + heading
    if dtype.hasobject or not all(shape):
        raise ValueError("not an array of numbers")
    return np.memmap(path, dtype, "r", first, shape, "F" if by_columns else "C")
