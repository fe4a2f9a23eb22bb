"""How long the steps of each command took, so that the next run can say how long it will take.

The record lies beside the kernels. For commands that are not in it, `durations.json` of this folder has the steps of a
first run on a UR5e, as `python -m benchmarks.waiting --durations` measures them. The steps done so far, the start of
the program among them, tell how much slower this machine is.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from armdyn.cli import BEGIN

RECORD = "durations.json"
MAX_ARMS, MAX_COMMANDS = 20, 200  # that the record names
UNREADABLE = (OSError, ValueError, KeyError, TypeError, StopIteration)
Place = tuple[str, int]  # a step: what is being done, and in which bar of the command


class Duration(NamedTuple):
    """Time of a step, and the part of it in which kernels were compiled [s]."""

    all: float
    compiling: float


class Durations:
    """Steps of the command that runs, and of an earlier run (`weights`)."""

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        self.command, self.arm = (*arguments, "", "")[:2]
        options = {word.partition("=")[0] for word in arguments if word.startswith("--")}
        self.names = " ".join([self.command, *sorted(options)]), self.command  # options may change what it does
        self.steps: dict[Place, Duration] = {}
        self._bar, self._place = 0, ("", 0)
        self._begin, self._compiling = BEGIN, 0.0

    @cached_property
    def weights(self) -> dict[Place, float]:
        """Expected times by step, without those of kernels that an earlier run of this arm has compiled."""
        for file in (record_file(), Path(__file__).with_name(RECORD)):
            with suppress(*UNREADABLE):
                record = _read(file)
                about = next(record[name] for name in self.names if name in record)
                warm = self.arm in about["arms"]
                return {(text, bar): float(took - warm * compiling) for text, bar, took, compiling in about["steps"]}
        return {}

    def enter(self, text: str, *, new_bar: bool = False) -> None:
        """Begin a step: names of files, functions and numbers in its text tell no steps apart."""
        words = [word for word in text.split() if not re.search(r"[\d./_]", word)]
        place = " ".join(words), self._bar + new_bar
        if place == self._place:
            return
        before, now, compiling = self.steps.get(self._place, Duration(0.0, 0.0)), time.monotonic(), _compiling()
        took = Duration(before.all + now - self._begin, before.compiling + compiling - self._compiling)
        self.steps[self._place] = took
        self._place, self._bar = place, place[1]
        self._begin, self._compiling = now, compiling

    def left(self) -> float | None:
        """Return the time left if this run goes on as the earlier one [s], None if that had no such step.

        It is 0 in a step that takes longer than expected: nobody knows how much.
        """
        if self._place not in self.weights:
            return None
        later = list(self.weights)[list(self.weights).index(self._place) + 1 :]
        here = self._pace() * self.weights[self._place] - (time.monotonic() - self._begin)
        return here + self._pace() * sum(self.weights[place] for place in later) if here > 0 else 0.0

    def left_after_bar(self) -> float:
        """Return the part of it behind the bar that is shown now [s]."""
        return self._pace() * sum(took for (_, bar), took in self.weights.items() if bar > self._bar)

    def _pace(self) -> float:
        """Time of the steps that are done over that of the earlier run."""
        done = [place for place in self.steps if place in self.weights and place != self._place]
        before = sum(self.weights[place] for place in done)
        return sum(self.steps[place].all for place in done) / before if before > 0 else 1.0

    def save(self) -> None:
        """Add this run to the record, where that can be written."""
        if not self._bar:
            return
        from armdyn.files import write_whole

        self.enter("ended")
        with suppress(OSError, ValueError):
            file, record, arms = record_file(), {}, []
            with suppress(*UNREADABLE):
                record = _read(file)
                arms = [arm for arm in record[self.names[0]]["arms"] if arm != self.arm]
            steps = [[*place, round(took.all, 3), round(took.compiling, 3)] for place, took in self.steps.items()]
            about = {"arms": [*arms, self.arm][-MAX_ARMS:], "steps": steps}
            record = {key: value for key, value in record.items() if key not in self.names}
            latest = [*record.items(), *((name, about) for name in self.names)][-MAX_COMMANDS:]
            write_whole(file, json.dumps(dict(latest)))


def record_file() -> Path:
    """The record of this user."""
    from armdyn.trace.cache import folder

    return folder() / RECORD


def _read(file: Path) -> dict[str, Any]:
    record = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(record, dict):
        raise TypeError
    return record


def _compiling() -> float:
    """Seconds in which this process compiled kernels."""
    module = sys.modules.get("armdyn.trace.compiled")
    return 0.0 if module is None else module.seconds_compiling


_running: list[Durations] = []


def begin_command(arguments: Sequence[str]) -> Durations:
    """Begin to note the steps of a command, from its words."""
    _running[:] = [Durations(arguments)]
    return _running[0]


def durations() -> Durations:
    """Return those of the command that runs."""
    return _running[0] if _running else begin_command(())
