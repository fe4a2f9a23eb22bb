"""Ctrl-C ends every command in time, also where native code does not let go, or swallows it.

Python runs its handler of a signal between two instructions of the main thread, and a compiler or solver may keep that
thread for many seconds. A second thread is told of the signal by the system, waits a moment for the command to end
by itself, and then ends the process. Files are written whole or not at all, so that nothing half-done is left.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType

from armdyn.cli import INTERRUPTED
from armdyn.files import Growing

PATIENCE_S = 0.5  # s after Ctrl-C until the process is ended; a busy machine takes as long again
SAVING_S = 8.0  # s for commands that keep what they have found until then; on a quiet machine they take less than one


@dataclass
class Watch:
    """Message, and time to wait, when Ctrl-C comes (`pressed`); `settled` once the command has noticed it.

    A command that `saves` is not interrupted by the first Ctrl-C: it looks for itself whether that was pressed, ends
    its search and writes its files, which a second Ctrl-C would stop.
    """

    message: str = "interrupted"
    patience: float = PATIENCE_S
    pressed: bool = False
    saves: bool = False
    settled: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> Callable[[], None]:
        """Let a thread follow what the system tells of signals; what ends it. On Windows a pipe is not told of them."""
        if sys.platform == "win32":
            return lambda: None
        ours, theirs = os.pipe()
        os.set_blocking(theirs, False)
        before = signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
        threading.Thread(target=self.follow, args=(ours,), daemon=True).start()

        def deafen() -> None:
            signal.set_wakeup_fd(before)
            os.close(theirs)

        return deafen

    def follow(self, line: int) -> None:
        """Wait for the signal's number on the line, a pipe, then for the command to notice."""
        while (number := os.read(line, 1)) and number[0] != signal.SIGINT:
            pass
        if number and not self.settled.wait(self.patience):
            self.end()
        while number and os.read(line, 1):  # further signals need a reader until the command has ended
            pass
        os.close(line)

    def press(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-C as Python sees it."""
        first, self.pressed = not self.pressed, True
        if first and self.patience == SAVING_S:
            with suppress(OSError):  # not through a stream, which may be in use
                os.write(2, b"\r\x1b[2K" * os.isatty(2) + b"armdyn: interrupted; keeping what was found\n")
        if not (first and self.saves):
            signal.default_int_handler(number, frame)

    def end(self) -> None:
        """Say what there is to say, and end the process."""
        # The cursor back, which a progress bar hides.
        print("\x1b[?25h" * sys.stderr.isatty() + f"armdyn: {self.message}", file=sys.stderr)
        leave()


def leave() -> None:
    """End the process: all is written, and searches in threads, or taking the interpreter down, need not end first."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads any more
            stream.flush()
    Growing.discard_all()
    os._exit(INTERRUPTED)


_watches: list[Watch] = []


def watch() -> Watch:
    """Return the watch of the command that runs; one that nobody asks, where there is none."""
    return _watches[-1] if _watches else Watch()


def _press_again(lost: sys.UnraisableHookArgs) -> None:
    """Ctrl-C in the moment in which Python removes an object is lost, with a traceback: it comes again instead."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Timer(0.01, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(lost)


@contextmanager
def watching() -> Iterator[None]:
    """Watch over the command inside; in the main thread alone, to which signals belong."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    monitor = Watch()
    _watches.append(monitor)
    deafen = monitor.listen()
    hook, sys.unraisablehook = sys.unraisablehook, _press_again
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # nobody asked to ignore Ctrl-C
        signal.signal(signal.SIGINT, monitor.press)
    try:
        yield
    except Exception:
        if monitor.pressed:  # libraries turn Ctrl-C into errors of their own
            monitor.end()
        raise
    finally:
        signal.signal(signal.SIGINT, handler)
        sys.unraisablehook = hook
        monitor.settled.set()
        _watches.remove(monitor)
        deafen()
