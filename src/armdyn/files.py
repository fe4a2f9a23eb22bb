"""Files are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> Path:
    """Write `data` to `path` through a temporary file beside it and a rename.

    A reader sees the old file or the new one, never half of either, and a failure
    (full disk, Ctrl-C) leaves the old one in place.
    """
    path = Path(path)
    payload = data.encode() if isinstance(data, str) else data
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
    return path


def _umask() -> int:
    """The process's umask (which can only be read by setting it)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
