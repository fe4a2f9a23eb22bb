"""Many searches from different starts at the same time, the best of which counts."""

from __future__ import annotations

import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TICK_S = 0.1  # between looks at the clock, and patience with a search after Ctrl-C [s]
NOTE_INTERVAL_S = 0.5  # between looks at a search under way, which cost as much as a step or two [s]


class SearchCandidate(NamedTuple):
    """Result of a search: its score (small is good, infinite if unusable), the number of its start, x."""

    score: float
    start: int
    x: NDArray


class SearchProgress(NamedTuple):
    """State of the searches."""

    elapsed: float  # [s]
    best: float  # score; infinite before there is one
    starts: int  # that are through
    current: float  # score of a search under way; constraints may not hold yet

    def __str__(self) -> str:
        """The scores that are known."""
        scores = {"best": self.best, "now": self.current}
        return f"searching {', '.join(f'{name} {x:.2f}' for name, x in scores.items() if math.isfinite(x))}".strip()


class SearchOutcome(NamedTuple):
    """The best candidate of all, if any; and how the searches ended."""

    best: SearchCandidate | None
    starts: int
    interrupted: bool


@dataclass
class SharedBest:
    """Data that searches in threads share: the best candidate so far, and whether to stop."""

    best: SearchCandidate | None = None
    current: float = float("inf")
    noted: float = 0.0  # when [s]
    through: int = 0
    error: BaseException | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)
    hurry: threading.Event = field(default_factory=threading.Event)

    def interrupted(self) -> bool:
        """Whether somebody waits: nothing shall be brought to its end."""
        return self.hurry.is_set() and self.best is not None

    def stopped(self) -> bool:
        """Whether searches shall end."""
        return self.over.is_set()

    def note(self, x: NDArray, score: Callable[[NDArray], float]) -> None:
        """Record the state of a search; its score is worked out now and then."""
        if time.monotonic() >= self.noted + NOTE_INTERVAL_S:
            self.current, self.noted = score(x), time.monotonic()

    def offer(self, candidate: SearchCandidate) -> None:
        """A candidate, which counts if it is the best; of equals that of the first start, of unusable ones the last."""
        with self.lock:
            if self.best is None or candidate[:2] < self.best[:2] or np.isinf(self.best.score):
                self.best = candidate

    def standing(self, elapsed: float) -> SearchProgress:
        """Return the state of the searches."""
        best = self.best
        return SearchProgress(elapsed, best.score if best else float("inf"), self.through, self.current)

    def run(self, search: Search, numbers: Iterator[int]) -> None:
        """Search from one start after another."""
        try:
            while not self.stopped():
                with self.lock:
                    k = next(numbers, None)
                if k is None:
                    return
                search(k, self)
                with self.lock:
                    self.through += not self.stopped()
        except BaseException as error:  # given to the caller's thread
            self.error = error
            self.over.set()


Search = Callable[[int, SharedBest], None]


def multi_start(
    search: Search,
    *,
    starts: int | None,
    deadline: float,
    workers: int | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
) -> SearchOutcome:
    """Run `search(k, race)` for k = 0, 1, ... in threads until `starts` are through or the deadline passes.

    A search offers what it finds to the race, and ends when the race is stopped. Ctrl-C stops all and returns the
    best so far. The outcome depends on the number of starts alone, not on which thread was faster.
    """
    race = SharedBest()
    numbers = iter(range(starts)) if starts else itertools.count()
    threads = [
        threading.Thread(target=race.run, args=(search, numbers), daemon=True, name=f"armdyn-start-{k}")
        for k in range(workers or min(os.cpu_count() or 1, starts or 8))
    ]
    begin = time.monotonic()
    interrupted = False
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
            threads[-1].join(TICK_S) if threads[-1].is_alive() else time.sleep(TICK_S / 10)
            if progress:
                progress(race.standing(time.monotonic() - begin))
    except KeyboardInterrupt:
        interrupted = True
        race.hurry.set()
    finally:
        race.over.set()
        # Who has pressed Ctrl-C does not wait for the last check of a motion that is not the best.
        patience = TICK_S if interrupted and race.best is not None else None
        for thread in threads:
            thread.join(patience)
    if race.error:
        raise race.error
    return SearchOutcome(race.best, race.through, interrupted)
