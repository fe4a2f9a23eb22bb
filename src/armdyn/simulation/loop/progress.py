"""How far a run has come, told to a function or shown as a bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from armdyn.errors import ShapeError, quote

Part = Callable[[float], None]


@contextmanager
def report_progress(progress: Any, name: str) -> Iterator[Part]:
    """A function of the part (0 to 1) that is done; `progress` is None, True for a bar, or such a function."""
    if progress is None or progress is False:
        yield lambda part: None
    elif callable(progress):
        yield progress
    elif progress is True:
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        nobody_looks = not (console.is_terminal or console.is_jupyter)
        with Progress(console=console, transient=True, disable=nobody_looks) as bar:
            task = bar.add_task(name, total=1.0)
            yield lambda part: bar.update(task, completed=part)
    else:
        raise ShapeError(where="simulate: progress", expected="True or a function", got=quote(progress))
