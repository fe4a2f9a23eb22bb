"""What a study is, and its file: one TOML document, read strictly."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armdyn import __version__
from armdyn.errors import reads_file
from armdyn.files import read_bytes, read_text
from armdyn.frozen import PartOf
from armdyn.model.arm import Arm
from armdyn.model.named import named_arm
from armdyn.model.toml_format import parse_toml
from armdyn.study.table import StudyError, StudyTable

if TYPE_CHECKING:
    from armdyn.study.summary import Summary

Columns = dict[str, NDArray]

# Kind of a study -> module with `read(document, head) -> Study`.
KINDS = {name: f"armdyn.study.{name}" for name in ("rollouts", "design", "fleet")}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
MAX_FILE_BYTES = 2**30
MAX_PARTS = 200  # of a study: what a kill costs is then less than a hundredth of the whole for two workers


@dataclass(frozen=True)
class Head:
    """Entries that all studies' files have in common."""

    name: str
    seed: int
    file: Path
    digest: str  # of the document, armdyn's version included
    part: int  # cases a part, 0: as many as suit the study

    folder = PartOf[Path]("file.parent", "Folder in which the file's relative paths begin.")

    def arm(self, word: str) -> Arm:
        """An arm named in the file."""
        return named_arm(word, folder=self.folder)

    def file_digest(self, name: str) -> str:
        """Return the digest of a file named in the file."""
        return hashlib.sha256(read_bytes(self.folder / name, MAX_FILE_BYTES)).hexdigest()


@dataclass(frozen=True, eq=False)
class Study(ABC):
    """Numbered cases, each computed by itself from what the file says and nothing else.

    Attributes
    ----------
    metrics : mapping of str to str
        Columns that judge a case -> "low" or "high": which is better; "" for those that are only told.
    groups : tuple of str
        Columns of words by which cases are told apart.
    parameters : tuple of str
        Columns of what was varied.
    """

    lanes: ClassVar[int] = 1  # cases that are best computed together
    head: Head
    count: int
    metrics: Mapping[str, str]
    groups: tuple[str, ...]
    parameters: tuple[str, ...]
    bounds: Mapping[str, float]  # what a metric must reach for success
    extra: tuple[str, ...]  # digests of all else that decides the results

    name = PartOf[str]("head.name", "Name of the study.")

    @property
    def kind(self) -> str:
        """One of KINDS."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def fingerprint(self) -> str:
        """Changes whenever results may."""
        return hashlib.sha256("\n".join((self.head.digest, *self.extra)).encode()).hexdigest()

    @cached_property
    def parts(self) -> list[range]:
        """Cases in the pieces in which they are computed and stored; these do not depend on who computes them."""
        size = self.head.part or -(-self.count // MAX_PARTS)
        size = -(-size // self.lanes) * self.lanes
        return [range(first, min(first + size, self.count)) for first in range(0, self.count, size)]

    @abstractmethod
    def compute(self, cases: range) -> Columns:
        """All columns of some cases, the first being `case`."""

    @abstractmethod
    def case(self, number: int) -> Any:
        """One case in full, as something that `armdyn.report` shows."""

    def row(self, number: int) -> dict[str, Any]:
        """The columns of one case, computed as in the study."""
        self.require_case(number)
        part = next(part for part in self.parts if number in part)
        first = part.start + (number - part.start) // self.lanes * self.lanes
        columns = self.compute(range(first, min(first + self.lanes, part.stop)))
        return {name: column[number - first].item() for name, column in columns.items()}

    @abstractmethod
    def summary(self, columns: Columns) -> Summary:
        """Summarise all cases together."""

    def command(self, number: int) -> str:
        """Return the command that shows one case in full."""
        from armdyn.report.options import case_command

        return case_command(self.head.file, number)

    def require_case(self, number: int) -> None:
        """Complain of a number that no case has."""
        if not 0 <= number < self.count:
            cause = f"there is no case {number}"
            raise StudyError(cause, where=f"study '{self.name}'", expected=f"0 to {self.count - 1}")

    def successes(self, columns: Columns) -> NDArray:
        """Return which cases stay within all bounds."""
        good = np.ones(len(next(iter(columns.values()))), bool)
        for name, bound in self.bounds.items():
            good &= columns[name] >= bound if self.metrics[name] == "high" else columns[name] <= bound
        return good


@reads_file
def read_study(path: str | os.PathLike[str]) -> Study:
    """The study that a TOML file describes.

    Parameters
    ----------
    path : path
        Path of the file; docs/studies.md lists its keys.
    """
    path = Path(path)
    data = parse_toml(read_text(path), str(path))
    document = StudyTable(data, path.name)
    kind = document.choice("kind", tuple(KINDS), "rollouts")
    try:
        plain = json.dumps(data, sort_keys=True, default=str)
    except RecursionError:
        raise StudyError("nested too deeply to be a study", where=path.name) from None
    digest = hashlib.sha256(f"{__version__} {plain}".encode()).hexdigest()
    name = plain_name(document.text("name", path.stem), path.name)
    head = Head(name, document.whole("seed", 0), path, digest, document.whole("part", 0))
    study = importlib.import_module(KINDS[kind]).read(document, head)
    document.done()
    return study


def plain_name(name: str, where: str) -> str:
    """A name that can stand for a folder, and for no other place than where it is put."""
    if not NAME.fullmatch(name):
        expected = "letters, digits, '.', '_' and '-' (letters from a to z or A to Z), not beginning with a sign"
        raise StudyError(where=f"{where}: name", expected=expected, got=f"{name!r:.60}")
    return name


def read_bounds(document: StudyTable, metrics: Mapping[str, str]) -> dict[str, float]:
    """The table [success]: metrics and what they must reach."""
    table = document.table("success")
    return {name: table.number(name) for name in table.keys_of(tuple(metrics), "metric")}
