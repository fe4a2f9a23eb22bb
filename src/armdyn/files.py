"""Files are written whole or not at all, and read only when they can be what they claim to be."""

from __future__ import annotations

import errno
import os
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from armdyn.errors import ArmdynError, ReadError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# No description of an arm comes near this size; a larger file is a mistake or an attack.
LARGEST_TEXT = 50_000_000
# An archive that would unpack to more than this, and to more than so many times its own size, is a bomb: measured
# signals, which are noisy, shrink to a half or a tenth.
LARGE_ARCHIVE = 100_000_000
DENSEST = 200


def read_text(path: str | os.PathLike[str], largest: int = LARGEST_TEXT) -> str:
    """The text of a UTF-8 file, or a `ReadError` that says why it cannot be read; see `read_bytes`."""
    try:
        return read_bytes(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(
            f"{path}: expected UTF-8 text, got other bytes at position {error.start}; save it as UTF-8"
        ) from None


def read_bytes(path: str | os.PathLike[str], largest: int = LARGEST_TEXT) -> bytes:
    """The contents of a file, or a `ReadError` that says why it cannot be read.

    The size is checked before anything is read, and at most `largest` bytes are read even from a
    pipe or a device that claims to be empty.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > largest:
            raise ReadError(f"{path}: the file has {size / 1e6:.0f} MB, more than the {largest / 1e6:.0f} MB allowed")
        with path.open("rb") as stream:
            data = stream.read(largest + 1)
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{str(path)!r}: not a file name ({error})") from None
    if len(data) > largest:
        raise ReadError(f"{path}: the file has more than the {largest / 1e6:.0f} MB allowed")
    return data


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray]:
    """The arrays of an `.npz` file; runs no code from it, and refuses those that unpack to far more than they are."""
    import numpy as np

    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
        refuse_bomb(path, sum(e.compress_size for e in entries), sum(e.file_size for e in entries))
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except ReadError:
        raise
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror or error})") from None
    except Exception as error:  # zipfile, zlib and NumPy each have their own complaints
        raise ReadError(f"{path}: cannot be read as NumPy arrays ({error})") from None


def refuse_bomb(path: str | os.PathLike[str], packed: int, whole: int) -> None:
    """Raise if a file of `packed` bytes would unpack to so many that it can only be meant to fill the memory."""
    if whole > max(LARGE_ARCHIVE, DENSEST * packed):
        raise ReadError(
            f"{path}: {packed / 1e6:.3g} MB would unpack to {whole / 1e6:.3g} MB, which no measured data do; "
            "save it without compression if it is meant so"
        )


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> Path:
    """Write `data` to `path` through a temporary file beside it and a rename.

    A reader sees the old file or the new one, never half of either, and a failure
    (full disk, Ctrl-C) leaves the old one in place.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ArmdynError(f"cannot write '{path}': there is no folder '{path.parent}'")
    try:
        _replace(path, data.encode() if isinstance(data, str) else data)
    except OSError as error:  # names the temporary file, or none
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), str(path)) from None
    return path


def _replace(path: Path, payload: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(payload)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    """The process's umask (which can only be read by setting it)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
