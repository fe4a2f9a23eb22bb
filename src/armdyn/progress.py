"""How far long work has come: one callback for all of it, or a bar with the time left."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from armdyn.errors import ShapeError, quote

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress


class ProgressCallback(Protocol):
    """Callback of long work."""

    def __call__(self, done: float, total: float, text: str, /) -> object:
        """Take how much is done, of how much, and what is being done."""


def silent(done: float, total: float, text: str) -> None:
    """Show nothing."""


@contextmanager
def reporting(
    progress: Any, where: str, fewer: Callable[[Any], ProgressCallback] | None = None, *, renamed: bool = True
) -> Iterator[ProgressCallback]:
    """A callback for the work inside: the caller's, a bar for True, or one that does nothing.

    Of a function that takes fewer than three arguments `fewer` makes a callback, if there is any, with a warning where
    these were the arguments of earlier versions (`renamed`).
    """
    if progress is None or progress is False:
        yield silent
    elif progress is True:
        with make_bar() as bar:
            yield add_task(bar, where)
    elif not callable(progress):
        raise ShapeError(where=f"{where}: progress", expected="True or a function", got=quote(progress))
    elif fewer is None or _takes_three(progress):
        yield progress
    else:
        if renamed:
            text = f"{where}: progress is called with (done, total, text) now"
            warnings.warn(text, DeprecationWarning, stacklevel=4)
        yield fewer(progress)


def with_share(function: Callable[[float], object]) -> ProgressCallback:
    """Make a callback of one that takes the share done."""
    return lambda done, total, text: function(done / total)


def with_text(function: Callable[[str], object]) -> ProgressCallback:
    """Make a callback of one that takes what is being done."""
    return lambda done, total, text: function(text)


def with_share_and_text(function: Callable[[float, str], object]) -> ProgressCallback:
    """Make a callback of one that takes the share done and what is being done."""
    return lambda done, total, text: function(done / total, text)


def _takes_three(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind(0.0, 1.0, "")
    except TypeError:
        return False
    except ValueError:  # of native code, which has no signature
        pass
    return True


def make_bar(console: Console | None = None) -> RichProgress:
    """A bar on stderr, on terminals and in notebooks alone, with the time that has passed and the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = console or Console(stderr=True)
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}{task.description}"))
    return Progress(*columns, console=console, transient=True, disable=not (console.is_terminal or console.is_jupyter))


def add_task(bar: RichProgress, text: str, earlier: EarlierRun | None = None) -> ProgressCallback:
    """A line on a bar, as a callback; `earlier` is a run whose steps took as long as these are expected to."""
    left = TimeLeft(earlier)
    task = bar.add_task(text, total=None, left=left)

    def show(done: float, total: float, text: str) -> None:
        left.update(done / total if total else 0.0, text)
        bar.update(task, completed=done, total=total or None, description=text)

    return show


class EarlierRun(Protocol):
    """An earlier run of the same program, step by step."""

    def left(self) -> float | None:
        """Return the time left if this run goes on as that one did [s], None in a step that it lacks or did sooner."""

    def left_after_bar(self) -> float:
        """Return the part of it behind the bar that is shown now [s]."""


class TimeLeft:
    """Time that work will still take: measured by the shares done of a step, or that of an earlier run.

    Where neither is known, all of it goes on as before. The text is that of the moment, and empty while work takes
    longer than expected.
    """

    def __init__(self, earlier: EarlierRun | None = None) -> None:
        self._earlier, self._begin = earlier, time.monotonic()
        self._text, self._first = "", (self._begin, 0.0)
        self._end: float | None = None
        self._measured = False

    def update(self, share: float, text: str = "") -> None:
        """Note how much is done."""
        now = time.monotonic()
        if text != self._text:
            self._text, self._first = text, (now, share)
        before, at_first = self._first
        self._measured = share > at_first
        if not self._measured:
            before, at_first = self._begin, 0.0
        self._end = now + (now - before) * (1 - share) / (share - at_first) if share > at_first else None

    def seconds(self) -> float | None:
        """Return the time left [s], None where nothing is known of it."""
        before = None if self._measured or self._earlier is None else self._earlier.left()
        if before is not None or self._end is None:
            return before
        return self._end - time.monotonic() + (0.0 if self._earlier is None else self._earlier.left_after_bar())

    def __str__(self) -> str:
        left = self.seconds()
        if left is None or left <= 0:
            return ""
        if left < 1:
            return "less than a second left, "
        return f"{left:.0f} s left, " if left < 120 else f"{left / 60:.0f} min left, "
