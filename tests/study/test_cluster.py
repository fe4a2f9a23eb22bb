"""A Dask cluster whose workers are killed at any moment: the same bytes, or one sentence."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.raising import raises

from armdyn.study import cluster as cluster_module
from armdyn.study.run import run_study
from armdyn.study.table import StudyError

distributed = pytest.importorskip("distributed", reason="clusters need the extra 'dask'")


def local(workers: int, **options) -> distributed.LocalCluster:
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", **options
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "parts").iterdir())}


@pytest.fixture
def expected(study, tmp_path):
    run_study(study(), tmp_path / "expected")
    return contents(tmp_path / "expected")


class Fleet:
    """Worker processes without nannies, which give up where a worker dies while it is being started."""

    def __init__(self, address: str, count: int) -> None:
        self.address, self.killed = address, 0
        self.workers = [self._started() for _ in range(count)]

    def _started(self) -> subprocess.Popen[bytes]:
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, *options]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill_one(self, rng: random.Random) -> None:
        """Kill a worker, whatever it is doing, and start another."""
        k = rng.randrange(len(self.workers))
        self.workers[k].kill()
        self.workers[k].wait()
        self.workers[k] = self._started()
        self.killed += 1

    @contextlib.contextmanager
    def dying(self, rng: random.Random, within: float, kills: int) -> Iterator[None]:
        """Kill workers, each within some seconds of the last."""
        stop = threading.Event()

        def go() -> None:
            while self.killed < kills and not stop.wait(rng.uniform(0, within)):
                self.kill_one(rng)

        thread = threading.Thread(target=go)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.by_day(1)
def test_workers_killed_at_random_moments_change_no_byte(study, tmp_path, expected, kills):
    """Also at the very beginning, when the study is sent to them."""
    rng, runs = random.Random(kills), 0
    with local(0) as cluster, Fleet(cluster.scheduler_address, 2) as fleet:
        while fleet.killed < kills:
            runs += 1
            with fleet.dying(rng, 6.0 if runs % 2 else 0.5, kills):
                run_study(study(), tmp_path / f"run{runs}", dask=cluster.scheduler_address)
            assert contents(tmp_path / f"run{runs}") == expected


@pytest.mark.slow
def test_all_workers_killed_at_the_first_part(study, tmp_path, expected):
    def kill_all(at) -> None:
        if at.computed and not killed:
            killed.extend(worker.pid for worker in cluster.workers.values())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    killed: list[int] = []
    with local(2) as cluster:
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address, progress=kill_all)
    assert len(killed) == 2
    assert contents(tmp_path / "out") == expected


def test_a_cluster_without_workers_is_one_sentence(study, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "PATIENCE_S", 0.2)
    with (
        local(0) as cluster,
        raises(StudyError, cause="the cluster has no workers", remedy=re.compile("^finished cases are kept")),
    ):
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address)


def test_workers_that_come_late_are_waited_for(study, tmp_path, expected):
    with local(0) as cluster:
        timer = threading.Timer(0.5, cluster.scale, [1])
        timer.start()
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address)
        timer.join()
    assert contents(tmp_path / "out") == expected


@pytest.mark.slow
def test_a_part_that_kills_its_workers_ends_the_study(study, tmp_path, monkeypatch):
    def fatal(*_) -> None:
        os._exit(1)

    monkeypatch.setattr(cluster_module, "_compute", fatal)
    monkeypatch.setattr(cluster_module, "MAX_LOST_WORKERS", 0)
    with (
        local(1) as cluster,
        raises(
            StudyError, cause=re.compile(r"gave up \(KilledWorker\)"), remedy=re.compile("^finished cases are kept")
        ),
    ):
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address)


def test_a_scheduler_that_does_not_answer(study, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.3)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with raises(StudyError, cause=re.compile("no scheduler answers there")):
            run_study(study(), tmp_path / "out", resume=True, dask=address)


def test_a_lost_scheduler_is_one_sentence_and_what_is_finished_stays(study, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)
    cluster = local(1, processes=False, protocol="tcp")

    def lose(at) -> None:
        if at.computed:
            cluster.close()

    begin = time.monotonic()
    with raises(
        StudyError,
        cause=re.compile(r"the cluster gave up \(\w+\)"),
        remedy=re.compile("^finished cases are kept; continue"),
    ):
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address, progress=lose)
    assert time.monotonic() - begin < 60
    assert contents(tmp_path / "out")
