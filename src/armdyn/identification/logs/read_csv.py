"""Tables of text as loggers and spreadsheets write them: separators, comments, decimal commas, columns of words."""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.files import MAX_TEXT_BYTES
from armdyn.identification.logs.column_names import UNITS, plain_unit, understand
from armdyn.identification.logs.guess_columns import numbered


class _Layout(NamedTuple):
    names: list[str]
    mark: str | None  # between cells; None for white space
    skip: int  # lines before the first row
    comma: bool  # whether numbers have decimal commas
    encoding: str


def read_csv(path: Path, joints: tuple[str, ...], wanted: Collection[str]) -> tuple[dict[str, NDArray], list[str]]:
    """Columns by name, and notes on what was repaired.

    Words are rejected in columns that mean something (see `understand`) or are `wanted`, and are nothing elsewhere.
    """
    try:
        layout = _layout(path)
    except OSError as error:
        cause = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise ReadError(cause, path=path) from None
    doubles = sorted(name for name, count in Counter(layout.names).items() if name and count > 1)
    if doubles:
        raise ReadError(f"several columns are named {', '.join(doubles[:5])}", path=path, names=doubles)
    notes: list[str] = []
    try:
        if layout.comma:
            raise ValueError
        with _rows(path, layout) as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a file without rows, which is rejected below
            # NumPy's reader is a hundred times faster than one in Python, but gives up at the first odd cell.
            data = np.loadtxt(stream, delimiter=layout.mark, ndmin=2, comments="#")
        if data.size and data.shape[1] != len(layout.names):
            raise ValueError
    except ValueError:
        used = [name in wanted or understand(name, joints) is not None for name in layout.names]
        data = _slowly(path, layout, used, notes)
    if not data.size:
        raise ReadError("no rows of numbers below the names of the columns", path=path)
    return dict(zip(layout.names, data.T, strict=True)), notes


def _layout(path: Path) -> _Layout:
    """Names, separator and place of the first row: the names stand in the line before it, or are numbers."""
    encoding = _encoding(path)
    before: list[str] = []
    remarks = True  # all that stands before the rows
    with path.open(encoding=encoding, errors="replace") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(MAX_TEXT_BYTES + 1), "")):
            if len(line) > MAX_TEXT_BYTES:
                raise ReadError(f"more than {MAX_TEXT_BYTES:,} characters, not a table", path=path, line=number + 1)
            plain = line.strip().lstrip("#% ")
            if not plain:
                continue
            mark = _mark(plain)
            if _mostly_numbers(plain.split(mark)) and not line.startswith("#"):
                comma = mark != "," and "," in plain and "." not in plain
                cells = len(plain.split(mark))
                if not before or (remarks and len(_cells(before[-1], mark, str(path))) != cells):
                    counted = [_number(cell) for cell in plain.split(mark)] in ([*range(cells)], [*range(1, cells + 1)])
                    return _Layout(numbered(cells), mark, number + counted, comma, encoding)
                return _Layout(_names(before, path), _mark(before[-1]), number, comma, encoding)
            before = [*before[-1:], plain]
            remarks &= line.startswith(("#", "%"))
    if not before:
        raise ReadError("the file is empty", path=path)
    raise ReadError("no rows of numbers below the names of the columns", path=path)


def _names(before: list[str], path: Path) -> list[str]:
    """The cells of the last line before the rows, or, where these are units, those of the line above with them."""
    place = f"{path}, names of the columns"
    lines = [[cell.strip() for cell in _cells(line, _mark(line), place)] for line in before[-2:]]
    units = lines[-1]
    if len(lines) < 2 or len(lines[0]) != len(units) or not all(_unit_or_nothing(cell) for cell in units):
        return units
    return [f"{name} [{unit.strip('[()]')}]" if unit.strip("-") else name for name, unit in zip(*lines, strict=True)]


def _unit_or_nothing(cell: str) -> bool:
    return cell in ("", "-") or plain_unit(cell.strip("[()]")) in UNITS


def _cells(line: str, mark: str | None, place: str) -> list[str]:
    """Split at marks that are not inside quotes."""
    try:
        return line.split() if mark is None else next(csv.reader([line], delimiter=mark), [])
    except csv.Error as error:  # a cell of more than 131,072 characters
        raise ReadError(f"{error}", where=place) from None


def _encoding(path: Path) -> str:
    """UTF-8, UTF-16 or Latin-1 (which any bytes are); pictures and archives are none."""
    with path.open("rb") as stream:
        start = stream.read(1 << 16)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if b"\0" in start:
        raise ReadError("cannot be read as text (it holds zero bytes)", path=path)
    try:
        # The last character may be cut in two.
        start[: start.rfind(b"\n") + 1].decode("utf-8-sig")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _mark(line: str) -> str | None:
    # Semicolons and tabs first: beside them, commas are decimal ones.
    return next((mark for mark in ";\t," if mark in line), None)


def _mostly_numbers(cells: list[str]) -> bool:
    """Whether at least half of the cells that are filled hold numbers."""
    filled = [cell for cell in cells if cell.strip()]
    return sum(_number(cell) is not None for cell in filled) * 2 >= len(filled) > 0


def _number(text: str) -> float | None:
    """A number as tables hold it; Python's float would also take 1_000 and the digits of other scripts."""
    text = text.strip().strip('"')
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text if "." in text else text.replace(",", "."))
    except ValueError:
        return None


@contextmanager
def _rows(path: Path, layout: _Layout) -> Iterator[IO[str]]:
    with path.open(encoding=layout.encoding, errors="replace") as stream:
        for _ in range(layout.skip):
            next(stream)
        yield stream


def _slowly(path: Path, layout: _Layout, used: list[bool], notes: list[str]) -> NDArray:
    """Row by row: empty cells and words in columns that nobody needs are missing values."""
    rows: list[list[float]] = []
    bad: ReadError | None = None
    with _rows(path, layout) as stream:
        for number, line in enumerate(stream, start=layout.skip + 1):
            if not line.strip() or line.startswith("#"):
                continue
            if bad is not None:
                raise bad
            cells = _cells(line.rstrip("\r\n"), layout.mark, f"{path}, line {number}")
            if len(cells) != len(used):
                # A recorder that was switched off leaves half a line, but only at the end.
                bad = ReadError(path=path, line=number, expected=f"{len(used)} values", got=len(cells))
                continue
            rows.append([_cell(cell, path, number, need) for cell, need in zip(cells, used, strict=True)])
    if bad is not None and rows:
        notes.append("the last line is cut off: dropped")
    return np.array(rows, float).reshape(-1, len(used))


def _cell(text: str, path: Path, line: int, used: bool) -> float:
    value = _number(text)
    if value is not None:
        return value
    text = text.strip().strip('"')
    if not text or not used:
        return np.nan
    if re.fullmatch(r"\d\d?:\d\d:\d\d([.,]\d+)?", text):
        hours, minutes, seconds = text.replace(",", ".").split(":")
        return 3600.0 * int(hours) + 60.0 * int(minutes) + float(seconds)
    if re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", text):
        return _seconds(text, path, line)
    raise ReadError(path=path, line=line, expected="a number", got=repr(text[:40]))


def _seconds(text: str, path: Path, line: int) -> float:
    """Return the seconds of a date and time, since 1970."""
    plain = re.sub(r"(Z|[+-]\d\d:?\d\d)$", "", text).replace(" ", "T")
    try:
        return float(np.datetime64(plain, "us").astype(float)) * 1e-6
    except ValueError:
        raise ReadError(path=path, line=line, expected="a number or a date", got=repr(text[:40])) from None
