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


class StepTime(NamedTuple):
    """Time of a step, the part of it in which kernels were compiled [s], and the bar of the command that shows it."""

    took: float
    compiling: float
    bar: int


class Durations:
    """Steps of the command that runs, and of an earlier run (`expected`)."""

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        self.command, self.arm = (*arguments, "", "")[:2]
        options = {word.partition("=")[0] for word in arguments if word.startswith("--")}
        self.names = " ".join([self.command, *sorted(options)]), self.command  # options may change what it does
        self.steps: dict[str, StepTime] = {}
        self.bar, self._text, self._bar = 0, "", 0
        self._begin, self._compiling = BEGIN, 0.0

    @cached_property
    def expected(self) -> dict[str, StepTime]:
        """Steps of an earlier run, without the time of kernels if they were compiled for this arm."""
        for file in (record_file(), Path(__file__).with_name(RECORD)):
            with suppress(*UNREADABLE):
                record = _read(file)
                about = next(record[name] for name in self.names if name in record)
                warm = self.arm in about["arms"]
                steps = {text: StepTime(*numbers) for text, *numbers in about["steps"]}
                return {text: step._replace(took=step.took - warm * step.compiling) for text, step in steps.items()}
        return {}

    def enter(self, text: str) -> None:
        """Begin a step: names of files, functions and numbers in its text tell no steps apart."""
        text = " ".join(word for word in text.split() if not re.search(r"[\d./_]", word))
        if text == self._text:
            return
        before, now, compiling = (
            self.steps.get(self._text, StepTime(0.0, 0.0, self._bar)),
            time.monotonic(),
            _compiling(),
        )
        took, compiled = before.took + now - self._begin, before.compiling + compiling - self._compiling
        self.steps[self._text] = StepTime(took, compiled, before.bar)
        self._text, self._bar, self._begin, self._compiling = text, self.bar, now, compiling

    def left(self) -> float | None:
        """Return the time left if this run goes on as the earlier one [s].

        None in the first step, in one that the earlier run lacks, and in one that takes longer now.
        """
        if self._text not in self.expected or not self.steps:  # the machine's pace shows in a step that is done
            return None
        pace, texts = self._pace(), list(self.expected)
        here = pace * self.expected[self._text].took - (time.monotonic() - self._begin)
        later = texts[texts.index(self._text) + 1 :]
        return here + pace * sum(self.expected[text].took for text in later) if here > 0 else None

    def left_after_bar(self) -> float:
        """Return the part of it behind the bar that is shown now [s]."""
        bar = self.expected[self._text].bar if self._text in self.expected else self.bar
        return self._pace() * sum(step.took for step in self.expected.values() if step.bar > bar)

    def _pace(self) -> float:
        """Time of the steps that are done over that of the earlier run."""
        done = [text for text in self.steps if text in self.expected and text != self._text]
        before = sum(self.expected[text].took for text in done)
        return sum(self.steps[text].took for text in done) / before if before > 0 else 1.0

    def save(self) -> None:
        """Add this run to the record, where that can be written."""
        if not self.bar:
            return
        from armdyn.files import write_whole

        self.enter("ended")
        with suppress(OSError, ValueError):
            file, record, arms = record_file(), {}, []
            with suppress(*UNREADABLE):
                record = _read(file)
                arms = [arm for arm in record[self.names[0]]["arms"] if arm != self.arm]
            steps = [[text, round(one.took, 3), round(one.compiling, 3), one.bar] for text, one in self.steps.items()]
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
