"""Tables of numbers in binary files: NPZ, MATLAB (also 7.3) and Parquet, as columns by name."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import DEFAULT_BUFFER_SIZE
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import MissingExtraError, ReadError
from armdyn.files import LARGE_ARCHIVE_BYTES, MAX_NESTED, read_arrays, reject_bomb, reject_many
from armdyn.identification.logs.column_names import UNITS, understand
from armdyn.identification.logs.log import MIN_SAMPLES
from armdyn.identification.logs.parquet_footer import count_values

Table = dict[str, NDArray]
HDF5 = (2, 0)  # what SciPy calls the version of MATLAB 7.3's files
TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")  # kinds of Parquet columns
STRUCTURES = ("struct<", "map<", "binary")  # in the kinds of columns, also of lists, that hold no numbers of joints
NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
MAT_HEAD, MAT_TAG = 128, 8  # bytes of a MATLAB file's head and of an element's
MAT_COMPRESSED = 15  # the kind of an element that is a zlib stream
VALUES = ("data", "values", "signals")  # names of structures' fields that say nothing: the structure's own tells


def read_npz(path: Path, joints: tuple[str, ...]) -> Table:
    """Arrays of a NumPy archive."""
    arrays = mapped_arrays(path)
    return _expand(read_arrays(path) if arrays is None else arrays, joints, path)


def mapped_arrays(path: Path) -> dict[str, NDArray] | None:
    """The arrays of a file that is large and not compressed; None if it is not, or not in order."""
    try:
        if not path.is_file() or path.stat().st_size < LARGE_ARCHIVE_BYTES:
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
        shape, by_columns, dtype = NPY_HEADERS[np.lib.format.read_magic(member)](member)
        heading = member.tell()
    with path.open("rb") as file:
        file.seek(entry.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
    first = entry.header_offset + 30 + name + extra + heading
    if dtype.hasobject or not all(shape):
        raise ValueError("not an array of numbers")
    return np.memmap(path, dtype, "r", first, shape, "F" if by_columns else "C")


def read_mat(path: Path, joints: tuple[str, ...]) -> Table:
    """Arrays of a MATLAB file, those inside structures by their own names."""
    from scipy.io import loadmat
    from scipy.io.matlab import matfile_version

    version = ""
    try:
        if matfile_version(path) == HDF5:
            version = " 7.3"
            return _expand(_by_name(_in_hdf5(path), path), joints, path)
        reject_bomb(path, path.stat().st_size, unpacked_size(path))
        data = loadmat(path, simplify_cells=True)
    except (ReadError, MissingExtraError):
        raise
    except Exception as error:  # SciPy and h5py raise many kinds for damaged files
        raise ReadError(f"cannot be read as a MATLAB{version} file ({error})", path=path) from None
    arrays = {name: x for name, x in data.items() if not name.startswith("__")}
    return columns_of(((name, np.asarray(x)) for name, x in leaves_of(arrays, path)), joints, path)


def columns_of(leaves: Iterator[tuple[str, NDArray]], joints: tuple[str, ...], path: Path) -> Table:
    """Columns of arrays that lie inside structures, by the names that tell something."""
    return _expand(_by_name(leaves, path), joints, path)


def unpacked_size(path: Path) -> int:
    """Bytes of all elements of a version 5 file, compressed ones unpacked and counted block by block.

    The sizes that a file states are not asked: a bomb states what it likes. Of files that are damaged or of another
    kind, those elements count that come before; the reader says what is wrong.
    """
    total = 0
    with suppress(OSError, zlib.error), path.open("rb") as file:
        order = "<" if file.read(MAT_HEAD)[-2:] == b"IM" else ">"
        while len(tag := file.read(MAT_TAG)) == MAT_TAG:
            kind, size = struct.unpack(f"{order}II", tag)
            if kind == MAT_COMPRESSED:
                total += _unpacked_size(file, size)
            else:
                total += size
                file.seek(size, 1)
    return total


def _unpacked_size(file: BinaryIO, size: int) -> int:
    """Bytes that the next `size` bytes of a file unpack to."""
    stream, total = zlib.decompressobj(), 0
    while size > 0 and (block := file.read(min(size, DEFAULT_BUFFER_SIZE))):
        size -= len(block)
        while block and not stream.eof:
            total += len(stream.decompress(block, DEFAULT_BUFFER_SIZE))
            block = stream.unconsumed_tail
    return total


def leaves_of(data: Mapping[str, Any], path: Path, inside: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Values inside structures, and their names with those of the structures before."""
    if depth > MAX_NESTED:
        cause = f"objects are nested more than {MAX_NESTED} deep, in '{inside:.80}'"
        raise ReadError(cause, path=path, names=(inside,))
    for name, value in data.items():
        full = f"{inside}.{name}" if inside else name
        if isinstance(value, Mapping):
            yield from leaves_of(value, path, full, depth + 1)
        else:
            yield full, value


def _in_hdf5(path: Path) -> list[tuple[str, NDArray]]:
    """Arrays of a file of MATLAB 7.3, which is HDF5."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError(f"{path}: files of MATLAB 7.3 need h5py (or save with '-v7')", "logs") from None
    datasets: list[tuple[str, NDArray]] = []
    packed, whole = 0, 0

    def take(name: str, x: Any) -> None:
        # What starts with '#' are MATLAB's own books, of tables and objects.
        if isinstance(x, h5py.Dataset) and not name.startswith("#") and x.dtype.kind in "fiu":
            nonlocal packed, whole
            packed, whole = packed + x.id.get_storage_size(), whole + x.nbytes
            reject_bomb(path, min(packed, path.stat().st_size), whole)
            datasets.append((name.replace("/", "."), np.asarray(x)))

    with h5py.File(path, "r") as file:
        file.visititems(take)
    return datasets


def _by_name(leaves: Iterator[tuple[str, NDArray]] | list[tuple[str, NDArray]], path: Path) -> Table:
    """Arrays by the last part of their names that tells something; two different ones of a name are rejected."""
    table: Table = {}
    full_names: dict[str, str] = {}
    for full, x in leaves:
        words = [word for word in full.split(".") if word.lower() not in VALUES]
        name = words[-1] if words else full
        if name in table and not np.array_equal(table[name], x):
            cause = f"{full_names[name]} and {full} are both named {name}"
            raise ReadError(cause, path=path, remedy="save one run per file")
        table[name], full_names[name] = x, full
    return table


def read_parquet(path: Path, joints: tuple[str, ...]) -> Table:
    """Columns of a Parquet file: numbers, times, or lists of numbers."""
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtraError("Parquet logs need pyarrow", "logs") from None
    try:
        # Equal values are only counted in it: there may be far more than bytes, in lists more than rows.
        reject_bomb(path, path.stat().st_size, count_values(path) * np.dtype(float).itemsize)
        schema = parquet.read_schema(path)
        reject_many(path, len(schema.names), "columns")
        texts = [field.name for field in schema if str(field.type) in TEXTS]  # say nothing, and may be of any length
        table = parquet.read_table(path, columns=[name for name in schema.names if name not in texts])
        columns = {name: _numbers(table[name], name, path) for name in table.column_names}
    except ReadError:
        raise
    except Exception as error:  # pyarrow's errors derive from several
        raise ReadError(f"cannot be read as Parquet ({' '.join(str(error).split())})", path=path) from None
    return _expand(columns | dict.fromkeys(texts, np.empty(0)), joints, path)


def _numbers(column: Any, name: str, path: Path) -> NDArray:
    """A column of numbers, of lists of them (one per joint), of times [s], or the one list of words that all hold."""
    kind = str(column.type)
    if any(word in kind for word in STRUCTURES):
        return np.empty(0)
    if kind.startswith(("timestamp", "duration")):
        return column.cast(f"{kind.split('[')[0]}[ns]").cast("int64").to_numpy() * 1e-9
    if "list" in kind:
        rows = column.to_pylist()
        if len({None if row is None else len(row) for row in rows}) != 1 or rows[0] is None:
            raise ReadError(f"lists in column '{name}' have different lengths", path=path, names=(name,))
        if "string" in kind:
            return np.array(rows[0]) if all(row == rows[0] for row in rows) else np.empty(0)
        return np.array(rows, float)
    if kind.startswith(("int", "uint", "float", "double", "half")):
        return np.asarray(column.to_numpy(), float)
    return np.empty(0)


def _expand(arrays: Mapping[str, NDArray], joints: tuple[str, ...], path: Path) -> Table:
    """Matrices as one column per joint, named with its number or its name; whichever axis is the longest is time."""
    numbers = {name: np.squeeze(x) for name, x in arrays.items() if x.dtype.kind in "fiuM" and x.ndim in (1, 2)}
    lengths = [max(x.shape) for x in numbers.values() if x.ndim and x.size]
    if not lengths:
        raise ReadError(f"no arrays of numbers in it, but {', '.join(list(arrays)[:8]) or 'nothing'}", path=path)
    N = max(set(lengths), key=lengths.count)
    labels = _labels(arrays, joints)
    table: Table = {}
    for name, x in numbers.items():
        if x.ndim == 0 or N not in x.shape:
            if x.ndim and max(x.shape) >= MIN_SAMPLES and understand(name, joints):
                raise ReadError(f"{name} has shape {x.shape}, others have {N} samples", path=path)
            continue
        x = x.astype("datetime64[ns]").astype(np.int64) * 1e-9 if x.dtype.kind == "M" else np.asarray(x, float)
        x = x if x.shape[0] == N else x.T
        if x.ndim == 1:
            table[name] = x
            continue
        head, _, unit = name.rpartition("_")
        plain, tail = (head, f"_{unit}") if head and unit.lower() in UNITS else (name, "")
        ends = labels if len(labels) == x.shape[1] else [str(k + 1) for k in range(x.shape[1])]
        table |= {f"{plain}_{end}{tail}": column for end, column in zip(ends, x.T, strict=True)}
    return table


def _labels(arrays: Mapping[str, NDArray], joints: tuple[str, ...]) -> list[str]:
    """Names of the joints in the order of the columns, where the file holds the arm's."""
    for words in arrays.values():
        if words.dtype.kind in "UO" and words.ndim == 1 and set(joints) <= {str(word).strip() for word in words}:
            return [str(word).strip() for word in words]
    return []
