"""Equations that were made once: kept in memory, or, where they are too many, in a temporary file."""

from __future__ import annotations

import tempfile
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

HELD = 20_000_000  # numbers that are kept in memory
STORED = 500_000_000  # numbers that are kept in a file; more are made anew


class Part(NamedTuple):
    """Equations of all joints at the samples kept of a piece; `Y` has base columns, then joint terms."""

    Y: NDArray  # (n, N, base + terms)
    tau: NDArray  # (n, N)


class _Place(NamedTuple):
    """Where in the file a part lies."""

    start: int
    shape: tuple[int, ...]  # of [Y, tau]


class Parts:
    """Parts by number, out of `numbers` numbers that are to come in all."""

    def __init__(self, numbers: int) -> None:
        self._held: dict[int, Part] = {}
        self._places: dict[int, _Place] = {}
        self._in_memory = numbers <= HELD
        self._file: IO[bytes] | None = None
        if HELD < numbers <= STORED:
            try:
                self._file = tempfile.TemporaryFile(prefix="armdyn-rows-")  # noqa: SIM115 - lives as long as this does
            except OSError:
                self._file = None  # no place for temporary files

    def get(self, k: int) -> Part | None:
        """A part that was kept, or None; those from a file are fresh arrays."""
        if k in self._places and self._file is not None:
            place = self._places[k]
            self._file.seek(place.start)
            joined = np.fromfile(self._file, count=int(np.prod(place.shape))).reshape(place.shape)
            return Part(joined[..., :-1], joined[..., -1])
        return self._held.get(k)

    def put(self, k: int, part: Part) -> None:
        """Keep a part, if there is room."""
        if self._in_memory:
            self._held[k] = part
        elif self._file is not None:
            joined = np.concatenate([part.Y, part.tau[..., None]], axis=2)
            try:
                place = _Place(self._file.seek(0, 2), joined.shape)
                joined.tofile(self._file)
            except OSError:
                return  # the disk is full: such parts are made anew
            self._places[k] = place
