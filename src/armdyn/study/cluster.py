"""Computing a study on a Dask cluster whose workers may vanish at any moment."""

from __future__ import annotations

import logging
import pickle
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any

from armdyn import __version__
from armdyn.errors import import_extra
from armdyn.study.run import MAX_LOST_WORKERS, PARTS_AHEAD, keep_memory
from armdyn.study.spec import Columns, Study
from armdyn.study.table import StudyError

CONNECT_SECONDS = 20.0
PATIENCE_S = 60.0  # [s] without any worker, or for a finished part to arrive
LOOK_SECONDS = 2.0  # between two looks at the cluster while nothing happens


def on_cluster(study: Study, numbers: Iterable[int], address: str) -> Iterator[tuple[int, Columns]]:
    """Parts of a study from a cluster, whose scheduler gives the parts of lost workers to others.

    Every part is sent with the whole study, some ten kilobytes: nothing lies at a worker that could be lost with it.
    """
    packed, waiting, losses = pickle.dumps(study), iter(numbers), Counter[int]()
    with _cluster(address) as cluster:
        from distributed import CancelledError, KilledWorker

        while True:
            for number in islice(waiting, max(0, PARTS_AHEAD * cluster.threads - len(cluster.running))):
                cluster.submit(packed, number)
            if not cluster.running:
                return
            number, future = cluster.next_done()
            try:
                columns = future.result(timeout=PATIENCE_S)
            except (KilledWorker, CancelledError, TimeoutError) as error:  # lost with its workers, four or more
                losses[number] += 1
                if losses[number] > MAX_LOST_WORKERS:
                    raise _cluster_error(address, error) from None
                cluster.submit(packed, number)
                continue
            yield number, columns


class _Cluster:
    """A client of a scheduler, and the parts that it was given."""

    def __init__(self, client: Any, address: str) -> None:
        self.client, self.address = client, address
        self.running: dict[Any, tuple[int, Any]] = {}  # number and future by key
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._looked = 0.0
        self._threads = 0

    @property
    def threads(self) -> int:
        """Number of parts that are computed at a time, as of late; waits for a first worker."""
        if not self._threads or time.monotonic() - self._looked > LOOK_SECONDS:
            self._look()
        return self._threads

    def _look(self) -> None:
        """Count the workers' threads; where there are no workers for long, it is an error."""
        begin = time.monotonic()
        while True:
            cores = self.client.sync(self.client.scheduler.ncores, callback_timeout=CONNECT_SECONDS)
            self._threads, self._looked = sum(cores.values()), time.monotonic()
            if self._threads:
                return
            if self._looked - begin > PATIENCE_S:
                raise StudyError(
                    "the cluster has no workers",
                    where=f"dask={self.address}",
                    remedy="finished cases are kept; start workers and continue with resume=True",
                )
            time.sleep(min(LOOK_SECONDS, PATIENCE_S))

    def submit(self, packed: bytes, number: int) -> None:
        """Have a part computed."""
        future = self.client.submit(_compute, packed, number, __version__, pure=False)
        self.running[future.key] = number, future
        future.add_done_callback(lambda done: self._done.put(done.key))

    def next_done(self) -> tuple[int, Any]:
        """Number and future of the next part that is finished or lost."""
        while True:
            try:
                return self.running.pop(self._done.get(timeout=LOOK_SECONDS))
            except Empty:
                self._look()


@lru_cache(maxsize=1)
def _unpack(packed: bytes) -> Study:
    return pickle.loads(packed)


def _compute(packed: bytes, number: int, version: str) -> Columns:
    """A part, at a worker."""
    if version != __version__:
        raise StudyError(
            f"a worker has armdyn {__version__}, this program {version}", where="dask", expected="the same"
        )
    keep_memory()
    study = _unpack(packed)
    return study.compute(study.parts[number])


@contextmanager
def _cluster(address: str) -> Iterator[_Cluster]:
    client = _client(address)
    from distributed.client import ClosedClientError

    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # of a lost cluster it writes tracebacks; the sentence says it
    try:
        yield _Cluster(client, address)
    except (OSError, TimeoutError, ClosedClientError) as error:  # the scheduler is gone
        raise _cluster_error(address, error) from None
    finally:
        client.close(timeout=CONNECT_SECONDS)
        log.setLevel(level)


def _cluster_error(address: str, error: BaseException) -> StudyError:
    return StudyError(
        f"the cluster gave up ({type(error).__name__})",
        where=f"dask={address}",
        remedy="finished cases are kept; continue with resume=True",
    )


def _client(address: str) -> Any:
    distributed = import_extra("distributed", "a study on a Dask cluster needs distributed", "dask")
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise StudyError(f"no scheduler answers there ({type(error).__name__})", where=f"dask={address}") from None
