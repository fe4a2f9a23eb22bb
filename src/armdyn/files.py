"""Files are written whole or not at all, and read only when they can be what they claim to be."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from armdyn.errors import ArmdynError, ReadError, reads_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

# No description of an arm comes near this size; a larger file is a mistake or an attack.
MAX_TEXT_BYTES = 50_000_000
# An archive that would unpack to more than this, and to more than so many times its own size, is a bomb: measured
# signals, which are noisy, shrink to a half or a tenth.
LARGE_ARCHIVE_BYTES = 100_000_000
MAX_PACKING_RATIO = 200
MAX_NESTED = 64  # elements, tables or objects within each other, of which descriptions have a dozen
# Arrays or columns of one file; a hundred joints have some hundreds, and readers take time by the square of many more.
MAX_COLUMNS = 10_000
# A day of seven joints at 1 kHz is 20 GB of text; more than this is not read into memory.
MAX_TABLE_BYTES = 20_000_000_000
BYTES_BETWEEN_SYNCS = 50_000_000  # that a growing file sends to the disk at once


def read_text(path: str | os.PathLike[str], largest: int = MAX_TEXT_BYTES) -> str:
    """The text of a UTF-8 file, or a `ReadError` that says why it cannot be read; see `read_bytes`."""
    try:
        return read_bytes(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(
            path=path, expected="UTF-8 text", got=f"other bytes at position {error.start}", remedy="save it as UTF-8"
        ) from None


def read_bytes(path: str | os.PathLike[str], largest: int = MAX_TEXT_BYTES) -> bytes:
    """The contents of a file, or a `ReadError` that says why it cannot be read; see `require_file`."""
    path = require_file(path, largest)
    try:
        with path.open("rb") as stream:
            data = stream.read(largest + 1)
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror or error})", path=path) from None
    if len(data) > largest:
        raise ReadError(f"the file has more than the {largest / 1e6:.0f} MB allowed", path=path)
    return data


def require_file(path: str | os.PathLike[str], largest: int = MAX_TABLE_BYTES) -> Path:
    """`path`, if it is a file of at most `largest` bytes; nothing of it is read.

    A pipe that nobody writes to would be waited for without end, and a device may have no end.
    """
    path = Path(path)
    try:
        about = path.stat()
    except FileNotFoundError:
        raise ReadError("no such file", path=path) from None
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror or error})", path=path) from None
    except ValueError as error:
        raise ReadError(f"not a file name ({error})", where=f"{str(path)!r}") from None
    if not stat.S_ISREG(about.st_mode):
        remedy = "" if stat.S_ISDIR(about.st_mode) else ", save it as one first"
        raise ReadError(f"is {_kind(about.st_mode)}", path=path, expected=f"a file{remedy}")
    if about.st_size > largest:
        size = f"{about.st_size / 1e6:.0f} MB, more than the {largest / 1e6:.0f} MB"
        raise ReadError(f"the file has {size} allowed", path=path)
    return path


def fill_template(path: Path, section: str = "", /, **values: object) -> str:
    """The text of a file of armdyn's own, with values for the names that stand in it between @ in capitals.

    A file may hold several texts, each a section that begins behind a line `;; name`.
    """
    return re.sub(r"@([A-Z_]+)@", lambda name: str(values[name[1].lower()]), _sections(path)[section])


@cache
def _sections(path: Path) -> dict[str, str]:
    """The texts of a template by name; what stands before the first name, all where there is none, has none."""
    first, *others = re.split(r"^;; (\w+)\n", path.read_text("utf-8"), flags=re.MULTILINE)
    texts = (text.removesuffix("\n") for text in others[1::2])
    return {"": first, **dict(zip(others[::2], texts, strict=True))}


def require_folder(path: str | os.PathLike[str]) -> Path:
    """`path`, if it is a folder, or one that can be made."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise ArmdynError(f"cannot write to '{path}': it is a file, expected a folder", names=(path,))
    return path


def _kind(mode: int) -> str:
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    return next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device")


def parse_json(text: str | bytes) -> Any:
    """The value that a JSON text holds; a `ReadError` where it holds none, or one nested without end."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(expected=f"JSON ({type(error).__name__})") from None


@reads_file
def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray]:
    """The arrays of an `.npz` file; runs no code from it, and rejects those that unpack to far more than they are."""
    import zipfile

    import numpy as np

    path = require_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
        reject_many(path, len(entries), "arrays")
        reject_bomb(path, sum(e.compress_size for e in entries), sum(e.file_size for e in entries))
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if others := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
            raise ReadError(f"'{others[0]:.80}' in it is no NumPy array", path=path, names=(others[0],))
        return arrays
    except ReadError:
        raise
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror or error})", path=path) from None
    except Exception as error:  # zipfile, zlib and NumPy each have their own complaints
        raise ReadError(f"cannot be read as NumPy arrays ({' '.join(str(error).split())})", path=path) from None


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Any], *, compress: bool = True) -> Path:
    """Write arrays by name as an `.npz` file; see `write_whole`."""
    import numpy as np

    stream = io.BytesIO()
    (np.savez_compressed if compress else np.savez)(stream, **arrays)
    return write_whole(path, stream.getvalue())


def write_figure(path: str | os.PathLike[str], figure: Any, **options: Any) -> Path:
    """Write a matplotlib figure in the format of the path's ending, with options of `savefig`; see `write_whole`."""
    stream = io.BytesIO()
    figure.savefig(stream, format=Path(path).suffix.lower().lstrip("."), **options)
    return write_whole(path, stream.getvalue())


def reject_many(path: str | os.PathLike[str], count: int, what: str) -> None:
    """Raise if a file has more arrays or columns than the log of any robot."""
    if count > MAX_COLUMNS:
        cause = f"{count} {what}, more than the {MAX_COLUMNS} allowed"
        raise ReadError(cause, path=path, remedy="keep those of the robot")


def reject_bomb(path: str | os.PathLike[str], packed: int, whole: int) -> None:
    """Raise if a file of `packed` bytes would unpack to so many that it can only be meant to fill the memory."""
    if whole > max(LARGE_ARCHIVE_BYTES, MAX_PACKING_RATIO * packed):
        cause = f"{packed / 1e6:.3g} MB would unpack to {whole / 1e6:.3g} MB, which no measured data do"
        raise ReadError(cause, path=path, remedy="save it without compression if it is meant so")


def write_whole(path: str | os.PathLike[str], data: str | bytes | Iterable[str]) -> Path:
    """Write `data`, or its pieces as they come, to `path` through a temporary file beside it and a rename.

    A reader sees the old file or the new one, never half of either, and a failure
    (full disk, Ctrl-C) leaves the old one in place. A link stays, and the file it leads to is replaced. Devices and
    pipes are written to, never replaced; files that may not be written stay as they are.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ArmdynError(f"cannot write '{path}': there is no folder '{path.parent}'", names=(path, path.parent))
    whole = [data] if isinstance(data, str | bytes) else data
    payload = (piece.encode() if isinstance(piece, str) else piece for piece in whole)
    try:
        mode = path.stat().st_mode if path.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            _send(path, payload)
        else:
            _replace(Path(os.path.realpath(path)), payload, mode)
    except OSError as error:  # names the temporary file, or none
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), str(path)) from None
    return path


def _send(path: Path, payload: Iterable[bytes]) -> None:
    """Write to a device or to a pipe that somebody reads; waiting for a reader might take for ever."""
    handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "wb") as stream:
        if hasattr(os, "set_blocking"):  # on Windows from Python 3.12 on, and not needed there
            os.set_blocking(stream.fileno(), True)
        stream.writelines(payload)


def _replace(path: Path, payload: Iterable[bytes], mode: int | None) -> None:
    file = Growing(path, mode)
    try:
        for piece in payload:
            file.write(piece)
        file.finish()
    except BaseException:
        file.discard()
        raise


class Growing:
    """A file that grows beside `path` and takes its place, or that of what it links to, once it is whole."""

    unfinished: ClassVar[set[str]] = set()  # names of files that nobody will want if the process ends now

    def __init__(self, path: Path, mode: int | None = None) -> None:
        import tempfile  # slow to load, and not needed to read

        # Asked of the mode too, for root may write anything.
        if mode is not None and not (mode & 0o222 and os.access(path, os.W_OK)):
            raise PermissionError(errno.EACCES, "the file is read-only")
        self.path, self.mode, self._unsafe = path, mode, 0
        handle, self.name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        self.unfinished.add(self.name)
        self.stream = os.fdopen(handle, "wb")

    def write(self, data: bytes | memoryview) -> None:
        """Add to what is there; now and then it is sent to the disk, so that little is left for the end."""
        self.stream.write(data)
        self._unsafe += len(data)
        if self._unsafe > BYTES_BETWEEN_SYNCS:
            self._sync()

    def write_at(self, place: int, data: bytes | memoryview) -> None:
        """Write at a place of the file, counted in bytes."""
        self.stream.seek(place)
        self.write(data)

    def _sync(self) -> None:
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self._unsafe = 0

    def finish(self) -> None:
        """Put it in its place."""
        self._sync()
        self.stream.close()
        os.chmod(self.name, 0o666 & ~_umask() if self.mode is None else stat.S_IMODE(self.mode))
        os.replace(self.name, self.path)
        self.unfinished.discard(self.name)

    def discard(self) -> None:
        """Remove it, unless it is in its place."""
        if self.name in self.unfinished:
            with suppress(OSError):  # the disk may be full
                self.stream.close()
            os.unlink(self.name)
            self.unfinished.discard(self.name)

    @classmethod
    def discard_all(cls) -> None:
        """Remove all that is not finished: the process ends."""
        for name in tuple(cls.unfinished):
            with suppress(OSError):
                os.unlink(name)


def growing_file(path: str | os.PathLike[str]) -> Growing | None:
    """A file that will take the place of `path`; None for devices and pipes, which cannot be replaced."""
    path = Path(path)
    mode = path.stat().st_mode if path.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        return None
    return Growing(Path(os.path.realpath(path)), mode)


def _umask() -> int:
    """The process's umask (which can only be read by setting it)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
