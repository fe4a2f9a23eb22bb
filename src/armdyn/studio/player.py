"""Plays a motion in real time on the state, from a thread of its own."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from armdyn.frozen import PartOf
from armdyn.studio.motion import PlayedMotion
from armdyn.studio.state import ArmState

FRAME_S = 1 / 30  # [s]


class Player:
    """A cursor on a motion. `advance` does the work; `play` calls it from a thread until `pause` or `close`."""

    def __init__(self, state: ArmState) -> None:
        self.state = state
        self.time = 0.0  # [s] within the motion
        self.speed = 1.0
        self._playing = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def playing(self) -> bool:
        """Whether the motion runs."""
        return self._playing.is_set()

    motion = PartOf[PlayedMotion | None]("state.now.motion", "Motion that can be played.")

    def load(self, motion: PlayedMotion, **fields: Any) -> None:
        """Take another motion, and show its start; other fields of the state may change with it."""
        self.pause()
        self.time = 0.0
        self.state.change(motion=motion, moment=motion.at(0.0), **fields)

    def seek(self, t: float) -> None:
        """Show the motion at a time [s]."""
        if self.motion is not None:
            self.time = float(np.clip(t, 0.0, self.motion.duration))
            self.state.show(self.motion.at(self.time))

    def advance(self, dt: float) -> None:
        """Let `dt` seconds of wall time pass; from the end it goes on at the start."""
        if self.motion is not None:
            t = self.time + dt * self.speed
            self.seek(t if t <= self.motion.duration else 0.0)

    def play(self) -> None:
        """Run the motion."""
        if self.motion is None or self._closed.is_set():
            return
        self._playing.set()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, daemon=True, name="armdyn-player")
            self._thread.start()

    def pause(self) -> None:
        """Hold the motion where it is."""
        self._playing.clear()

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        self._playing.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _run(self) -> None:
        before = time.monotonic()
        while self._playing.wait() and not self._closed.is_set():
            now = time.monotonic()
            try:
                self.advance(min(now - before, 4 * FRAME_S))  # after a pause or a stall the motion does not jump
            except Exception:
                self.pause()  # so that it can be played again
                raise
            before = now
            time.sleep(FRAME_S)
