"""Many searches from different starts at the same time, the best of which counts."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from numpy.typing import NDArray

Stop = Callable[[], bool]
TICK = 0.1  # between looks at the clock [s]


class Candidate(NamedTuple):
    """What a search found: its score (small is good, infinite if unusable), the number of its start, x."""

    score: float
    start: int
    x: NDArray


class Standing(NamedTuple):
    """How far the searches are."""

    elapsed: float  # [s]
    best: float  # score; infinite before there is one
    starts: int  # that are through
    current: float = float("inf")  # score of a search under way, where it tells; constraints may not hold yet


class Outcome(NamedTuple):
    """The best candidate of all, if any; and how the searches ended."""

    best: Candidate | None
    starts: int
    interrupted: bool


def multi_start(
    search: Callable[[int, Stop], Candidate],
    *,
    starts: int | None,
    deadline: float,
    workers: int | None = None,
    progress: Callable[[Standing], None] | None = None,
) -> Outcome:
    """Run `search(k, stop)` for k = 0, 1, ... in threads until `starts` are through or the deadline passes.

    A search that is told to stop returns what it has. Ctrl-C stops all and returns the best so far. The
    outcome depends on the number of starts alone, not on which thread was faster.
    """
    race = _Race(search, starts)
    threads = [
        threading.Thread(target=race.run, daemon=True, name=f"armdyn-start-{k}")
        for k in range(workers or min(os.cpu_count() or 1, starts or 8))
    ]
    begin = time.monotonic()
    interrupted = False
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
            threads[-1].join(TICK) if threads[-1].is_alive() else time.sleep(TICK / 10)
            if progress:
                best = race.best.score if race.best else float("inf")
                progress(Standing(time.monotonic() - begin, best, race.through))
    except KeyboardInterrupt:
        interrupted = True
    finally:
        race.stop.set()
        for thread in threads:
            thread.join()
    if race.error:
        raise race.error
    return Outcome(race.best, race.through, interrupted)


@dataclass
class _Race:
    """What the threads share."""

    search: Callable[[int, Stop], Candidate]
    starts: int | None
    best: Candidate | None = None
    through: int = 0
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.numbers = itertools.count()

    def run(self) -> None:
        """Search from one start after another."""
        try:
            while not self.stop.is_set():
                with self.lock:
                    k = next(self.numbers)
                if self.starts is not None and k >= self.starts:
                    return
                found = self.search(k, self.stop.is_set)
                with self.lock:
                    self.through += not self.stop.is_set()
                    if self.best is None or found[:2] < self.best[:2]:
                        self.best = found
        except BaseException as error:  # given to the caller's thread
            self.error = error
            self.stop.set()
