"""Long work in the background: progress, cancelling, and errors as one sentence."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any

from armdyn.errors import ArmdynError


class Cancelled(Exception):
    """Raised inside a job that was told to stop."""


class Job:
    """One piece of work at a time, in a thread.

    The work is called with `report(fraction, text)`, which also ends it (by `Cancelled`) once it is cancelled.
    """

    def __init__(
        self,
        on_progress: Callable[[float, str], None] = lambda fraction, text: None,
        on_end: Callable[[], None] = lambda: None,
        on_error: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._on_progress, self._on_end, self._on_error = on_progress, on_end, on_error
        self._cancel = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether work is under way."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, work: Callable[[Callable[[float, str], None]], Any]) -> bool:
        """Begin; False if something is under way already."""
        with self._lock:
            if self.running:
                return False
            self._cancel.clear()
            self._thread = threading.Thread(target=self._run, args=(work,), daemon=True, name="armdyn-job")
            self._thread.start()
            return True

    def cancel(self) -> None:
        """Tell the work to stop at its next report."""
        self._cancel.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def report(self, fraction: float, text: str) -> None:
        """Progress between 0 and 1, and a word on it."""
        if self._cancel.is_set():
            raise Cancelled
        self._on_progress(min(max(fraction, 0.0), 1.0), text)

    def _run(self, work: Callable[[Callable[[float, str], None]], Any]) -> None:
        try:
            work(self.report)
        except (Cancelled, KeyboardInterrupt):
            pass
        except Exception as error:
            self._on_error(sentence(error))
        finally:
            self._on_end()


def sentence(error: BaseException) -> str:
    """An error as the page shows it. One that nobody meant is printed in full on the terminal as well."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    text = " ".join(str(error).split())
    if isinstance(error, ArmdynError):
        return text
    traceback.print_exception(error)
    return f"Something went wrong that should not ({type(error).__name__}: {text:.200}); please report it."
