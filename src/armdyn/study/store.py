"""A study's folder: parts of the results as Parquet, and a manifest that says which parts are whole.

    NAME/manifest.jsonl          first line: the study; then one line per part: number, rows, SHA-256
    NAME/parts/part-000012.parquet

A part is written whole (temporary file, fsync, rename) before its line is added to the manifest, and a part without
its line does not count. Whatever moment a computation is killed at, what the manifest lists is there, and the rest is
computed again: nothing lost, nothing twice. A line torn by a kill or a full disk is dropped.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import __version__
from armdyn.errors import ReadError, import_extra
from armdyn.files import MAX_TABLE_BYTES, parse_json, read_bytes, read_text, write_whole
from armdyn.study.spec import Columns, Study
from armdyn.study.table import StudyError

FORMAT = "armdyn study 1"
PARQUET = "studies are stored as Parquet, which needs pyarrow", "study"  # why, and the extra that has it
MANIFEST = "manifest.jsonl"
TORN = ".*.tmp"  # what `write_whole` leaves if it is killed
# What a folder without a manifest may hold: the beginnings of a study that was killed or met a full disk, and pages.
STORE_FILES = re.compile(r"parts|\.lock|\..*\.tmp|case-\d+\.html")


class Store:
    """The folder of a study that is being computed or was."""

    def __init__(self, folder: Path, study: Study) -> None:
        self.folder, self.study = folder, study
        self._sums: dict[int, str] = {}  # checksums of the parts that are whole

    # -- opening ------------------------------------------------------------------------------------------

    @classmethod
    @contextmanager
    def open(cls, folder: str | os.PathLike[str], study: Study, resume: bool) -> Iterator[Store]:
        """A folder to write to: new, or an earlier one of the same study to go on with."""
        store = cls(Path(folder), study)
        with ExitStack() as stack:
            try:
                store._make_folder(resume)
                stack.enter_context(_lock(store.folder))
                store._begin()
            except OSError as error:
                raise StudyError(f"cannot be used for results ({error.strerror or error})", where=folder) from None
            yield store

    def _make_folder(self, resume: bool) -> None:
        """The folder, if need be, unless something is there that this study would spoil."""
        if (self.folder / MANIFEST).exists():
            if not resume:
                remedy = "continue with resume=True, or choose another folder"
                raise StudyError("holds results already", where=self.folder, remedy=remedy)
        elif self.folder.is_dir() and not all(STORE_FILES.fullmatch(path.name) for path in self.folder.iterdir()):
            cause = "the folder is not empty and holds no study"
            raise StudyError(cause, where=self.folder, remedy="choose another one")
        (self.folder / "parts").mkdir(parents=True, exist_ok=True)

    def _begin(self) -> None:
        """Take up what is there, without what a kill left half-written."""
        if (self.folder / MANIFEST).exists():
            self._take_up()
        for torn in (*self.folder.glob(TORN), *self.folder.glob(f"parts/{TORN}")):
            torn.unlink()
        self._write_manifest()

    @classmethod
    def of(cls, folder: str | os.PathLike[str], study: Study) -> Store:
        """A folder to read from."""
        store = cls(Path(folder), study)
        store._take_up()
        return store

    def _take_up(self) -> None:
        """Read the manifest; parts that are not as it says do not count."""
        head, *lines = read_text(self.folder / MANIFEST).splitlines() or [""]
        about = _parse(head)
        if about.get("format") != FORMAT:
            raise StudyError("not the manifest of a study", where=self.folder / MANIFEST)
        if about.get("fingerprint") != self.study.fingerprint:
            cause = f"was computed from another file, arm or version of armdyn (version {about.get('version')})"
            raise StudyError(cause, where=self.folder, remedy="undo the change, or choose another folder")
        for line in lines:
            entry = _parse(line)
            number, checksum = entry.get("part"), entry.get("sha256")
            if isinstance(number, int) and 0 <= number < len(self.study.parts) and self._is_whole(number, checksum):
                self._sums[number] = str(checksum)

    def _is_whole(self, number: int, checksum: Any) -> bool:
        try:
            return hashlib.sha256(read_bytes(self._path(number), MAX_TABLE_BYTES)).hexdigest() == checksum
        except ReadError:
            return False

    def _write_manifest(self) -> None:
        about: dict[str, Any] = {
            "format": FORMAT,
            "name": self.study.name,
            "kind": self.study.kind,
            "version": __version__,
        }
        about |= {"fingerprint": self.study.fingerprint, "cases": self.study.count, "parts": len(self.study.parts)}
        lines = [json.dumps(about), *(self._line(number) for number in sorted(self._sums))]
        write_whole(self.folder / MANIFEST, "".join(line + "\n" for line in lines))

    def _line(self, number: int) -> str:
        rows = len(self.study.parts[number])
        return json.dumps({"part": number, "cases": rows, "sha256": self._sums[number]})

    # -- parts --------------------------------------------------------------------------------------------

    @property
    def missing(self) -> list[int]:
        """Numbers of the parts still to compute."""
        return [number for number in range(len(self.study.parts)) if number not in self._sums]

    @property
    def done(self) -> int:
        """Cases that are stored."""
        return sum(len(self.study.parts[number]) for number in self._sums)

    def add(self, number: int, columns: Columns) -> None:
        """Keep a part: whole, and then listed."""
        data = _encode(columns)
        try:
            write_whole(self._path(number), data)
            self._sums[number] = hashlib.sha256(data).hexdigest()
            with (self.folder / MANIFEST).open("a") as stream:
                stream.write(self._line(number) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            self._sums.pop(number, None)
            cause = f"part {number} cannot be written ({error.strerror or error})"
            remedy = f"{self.done:,} of {self.study.count:,} cases are kept; continue with resume=True"
            raise StudyError(cause, where=self.folder, remedy=remedy) from None

    def columns(self) -> Columns:
        """All columns of all stored parts, in the order of the cases."""
        tables = [_decode(self._path(number).read_bytes()) for number in sorted(self._sums)]
        if not tables:
            raise StudyError("no part is finished yet", where=self.folder)
        return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}

    def _path(self, number: int) -> Path:
        return self.folder / "parts" / f"part-{number:06d}.parquet"


def _parse(line: str) -> dict[str, Any]:
    """A line of the manifest; empty for one that was torn."""
    try:
        record = parse_json(line)
    except ReadError:
        return {}
    return record if isinstance(record, dict) else {}


def _encode(columns: Columns) -> bytes:
    arrow = import_extra("pyarrow", *PARQUET)
    table = arrow.table({name: arrow.array(column) for name, column in columns.items()})
    stream = io.BytesIO()
    import_extra("pyarrow.parquet", *PARQUET).write_table(table, stream)
    return stream.getvalue()


def _decode(data: bytes) -> Columns:
    table = import_extra("pyarrow.parquet", *PARQUET).read_table(io.BytesIO(data))
    return {name: table[name].to_numpy() for name in table.column_names}


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Keep a second computation out; the system lifts the lock when a process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    with (folder / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StudyError("another process is computing this study", where=folder) from None
        yield
