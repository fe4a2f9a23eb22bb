"""Computing a study: in this process, in a pool of processes, or on a Dask cluster, with the same results.

A part is the unit of work. Its numbers depend on the study's file alone, so who computes it, in which order and how
often it was tried makes no difference; this process alone writes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from armdyn.blas import single_threaded
from armdyn.progress import ProgressCallback, reporting
from armdyn.study.spec import Columns, Study
from armdyn.study.store import Store
from armdyn.study.table import StudyError

PARTS_AHEAD = 2  # parts that wait at every worker: enough to keep it busy, few enough to stop at once
# Workers that may die in a row without any part finished: by then it is the study that kills them.
MAX_LOST_WORKERS = 3
# Options of glibc's mallopt, and what they are set to in workers: the largest that are useful or allowed.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT_BYTES, MMAP_BYTES = 2**28, 2**25

Done = tuple[int, Columns]


class StudyProgress(NamedTuple):
    """State of a study that runs."""

    done: int  # cases stored, those of earlier runs included
    total: int
    computed: int  # in this run
    seconds: float  # since its start

    @property
    def rate(self) -> float:
        """Cases per second."""
        return self.computed / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float:
        """Seconds to go."""
        return (self.total - self.done) / self.rate if self.rate > 0 else float("inf")

    def __str__(self) -> str:
        """Cases that are done, and how quickly."""
        return f"{self.done:,} of {self.total:,} cases" + f", {self.rate:,.0f}/s" * (self.rate > 0)


def run_study(
    study: Study,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    workers: int = 1,
    dask: str | None = None,
    progress: ProgressCallback | Callable[[StudyProgress], object] | bool | None = None,
) -> Columns:
    """Compute a study into a folder.

    Parameters
    ----------
    study : Study
        As `read_study` gives it.
    folder : path
        Created if need be.
    resume : bool
        Go on with what is there.
    workers : int
        Processes; 1 computes in this one, 0 means one per core.
    dask : str, optional
        Address of a Dask scheduler to compute on instead, such as `tcp://10.0.0.1:8786`.
    progress : callable or bool, optional
        True: show a bar with the time left. A function is called with (done, total, text) whenever a part is stored;
        one of a single argument with a `StudyProgress`.

    Returns
    -------
    dict of str to ndarray
        All columns, in the order of the cases.
    """
    if workers < 0:
        raise StudyError(where="study", expected="workers >= 0", got=workers)
    with Store.open(folder, study, resume) as store:
        start, before = time.monotonic(), store.done

        def standing() -> StudyProgress:
            return StudyProgress(store.done, study.count, store.done - before, time.monotonic() - start)

        with reporting(progress, "run_study", lambda one: lambda *_: one(standing()), renamed=False) as tell:
            tell(0, study.count - before, f"{standing()}")
            for number, columns in _compute(study, store.missing, workers or os.cpu_count() or 1, dask):
                store.add(number, columns)
                tell(store.done - before, study.count - before, f"{standing()}")
        return store.columns()


def _compute(study: Study, numbers: list[int], workers: int, dask: str | None) -> Iterator[Done]:
    """Parts as they become ready."""
    if dask is not None:
        from armdyn.study.cluster import on_cluster

        return on_cluster(study, numbers, dask)
    if workers == 1 or len(numbers) < 2:
        return ((number, study.compute(study.parts[number])) for number in numbers)
    return _in_pool(study, numbers, min(workers, len(numbers)))


# -- a pool of processes ------------------------------------------------------------------------------------------


def _in_pool(study: Study, numbers: list[int], workers: int) -> Iterator[Done]:
    """Parts from worker processes; one that dies (killed, out of memory) is replaced and its parts done again."""
    from concurrent.futures.process import BrokenProcessPool

    left, losses = dict.fromkeys(numbers), 0
    while left:
        try:
            for number, columns in _pool_parts(study, list(left), workers):
                del left[number]
                losses = 0
                yield number, columns
        except BrokenProcessPool:
            losses += 1
            if losses > MAX_LOST_WORKERS:
                raise StudyError(
                    f"worker processes died {losses} times in a row, out of memory perhaps",
                    where=study.name,
                    remedy="finished cases are kept; continue with resume=True and fewer workers",
                ) from None


def _pool_parts(study: Study, numbers: list[int], workers: int) -> Iterator[Done]:
    import multiprocessing
    from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

    # Spawned, not forked: native code and its threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, context, _begin_worker, (study,))
    try:
        waiting, queue = iter(numbers), set[Future[Done]]()
        while True:
            queue |= {pool.submit(_work, number) for number in islice(waiting, PARTS_AHEAD * workers - len(queue))}
            if not queue:
                pool.shutdown()
                return
            ready, queue = wait(queue, return_when=FIRST_COMPLETED)
            for future in ready:
                yield future.result()
    except BaseException:
        # Python would wait for their parts before it ends; only this process writes, so nothing is torn.
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


_worker_study: list[Study] = []


def _begin_worker(study: Study) -> None:
    """Prepare a worker process: one thread of linear algebra, Ctrl-C left to the parent, no life without it."""
    import multiprocessing
    import signal
    import threading

    single_threaded()
    keep_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker_study[:] = [study]
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _work(number: int) -> Done:
    study = _worker_study[0]
    return number, study.compute(study.parts[number])


@cache
def keep_memory() -> None:
    """Let this process keep freed memory for the next part instead of returning it to the system.

    Asking for it anew costs a sixth of a part's time, and two thirds under Dask, whose nannies have the C library
    return everything at once. Elsewhere than on glibc nothing happens. For processes
    that exist for studies; a caller's own is left as it is.
    """
    import ctypes

    try:
        tune = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    tune(M_TRIM_THRESHOLD, KEPT_BYTES)
    tune(M_MMAP_THRESHOLD, MMAP_BYTES)
