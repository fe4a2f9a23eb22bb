"""Ctrl-C ends every command in time, also where native code does not let go, or swallows it.

Python runs its handler of a signal between two instructions of the main thread, and a compiler or solver may keep that
thread for many seconds. A second thread is told of the signal by the system, waits a moment for the command to end
by itself, and then ends the process. Files are written whole or not at all, so that nothing half-done is left.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

INTERRUPTED = 130
PATIENCE = 1.0  # s after Ctrl-C until the process is ended
SAVING = 8.0  # s for commands that keep what they have found until then; on a quiet machine they take less than one


@dataclass
class Watch:
    """What to say, and how long to wait, when Ctrl-C comes; `settled` once the command has noticed it."""

    said: str = "interrupted"
    patience: float = PATIENCE
    settled: threading.Event = field(default_factory=threading.Event)

    def follow(self, line: int) -> None:
        """Wait for the signal's number on the line, a pipe, then for the command to notice."""
        while (told := os.read(line, 1)) and told[0] != signal.SIGINT:
            pass
        os.close(line)
        if told and not self.settled.wait(self.patience):
            # The cursor back, which a progress bar hides.
            print("\x1b[?25h" * sys.stderr.isatty() + f"armdyn: {self.said}", file=sys.stderr, flush=True)
            os._exit(INTERRUPTED)


_watches: list[Watch] = []


def watch() -> Watch:
    """That of the command that runs; one that nobody asks, where there is none."""
    return _watches[-1] if _watches else Watch()


@contextmanager
def watching() -> Iterator[None]:
    """Watch over the command inside; in the main thread alone, to which signals belong, and not on Windows."""
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    own = Watch()
    _watches.append(own)
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    before = signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    threading.Thread(target=own.follow, args=(ours,), daemon=True).start()
    try:
        yield
    finally:
        own.settled.set()
        _watches.remove(own)
        signal.set_wakeup_fd(before)
        os.close(theirs)  # which ends the thread
